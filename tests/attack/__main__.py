"""Start a server, attack it, and print what came of it as a table."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from sdtps.web.server.accounts import account_line
from tests.attack import connections, files, requests, signing
from tests.attack.target import Target
from tests.harness import Running, running_app

Attack = Callable[[Target], str | None]
OPEN: tuple[Attack, ...] = (
    requests.foreign_origin,
    requests.rebinding,
    requests.simple_posts,
    requests.nested_json,
    requests.many_parts,
    requests.forged_log,
    requests.without_words,
    connections.half_sent,
    connections.half_headers,
    connections.listeners,
    connections.broken_uploads,
    requests.huge_figures,
    requests.one_visitor_for_all,
    files.slow_pictures,
    files.large_pictures,
    files.hostile_checkpoints,
)
PASSWORD = "correct horse"


def run(attack: Attack, target: Target) -> tuple[str, bool]:
    """One attack as a line of the table."""
    start = time.monotonic()
    try:
        wrong = attack(target)
    except (httpx.HTTPError, OSError, RuntimeError, KeyError, ValueError) as error:
        wrong = f"{type(error).__name__}: {error}"[:160]
    what = (attack.__doc__ or "").strip().rstrip(".")
    seconds = time.monotonic() - start
    return f"| {what} | {'held' if wrong is None else f'**{wrong}**'} | {seconds:.1f} |", wrong is None


def cookies(target: Target) -> str | None:
    """Cookies that other sites, other schemes or later readers could use."""
    return signing.loose_cookies(
        httpx.post(f"{target.url}/login", data={"username": "ada", "password": PASSWORD}, timeout=30)
    )


def as_target(server: Running) -> Target:
    """What an attacker on the same machine sees of a server."""
    return Target(server.url, server.process.pid, server.cache.parent, server.log)


def main() -> int:
    """The table; 1 when anything did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", default="", help="only attacks with this in their name")
    options = parser.parse_args()
    print("| what a stranger does | what happens | seconds |\n|---|---|---|", flush=True)
    held = []

    def against(server: Running, *attacks: Attack) -> None:
        for attack in (a for a in attacks if options.only in a.__name__):
            line, good = run(attack, as_target(server))
            print(line, flush=True)
            held.append(good)

    with running_app("--device", "cpu", "--allow-upload-weights", "--log-format", "json") as server:
        against(server, *OPEN)
    with tempfile.TemporaryDirectory() as folder:
        accounts = Path(folder) / "accounts"
        accounts.write_text(account_line("ada", PASSWORD))
        with running_app("--device", "cpu", "--auth", str(accounts)) as server:
            against(server, cookies, signing.forwarded_addresses)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
