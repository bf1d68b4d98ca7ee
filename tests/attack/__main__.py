"""Start a server, attack it, and print what came of it as a table."""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from sdtps.web.server.accounts import account_line
from tests.attack import connections, files, requests, signing
from tests.attack.target import Target
from tests.harness import APP, Running, running_app

Attack = Callable[[Target], str | None]
OPEN: tuple[Attack, ...] = (
    requests.foreign_origin,
    requests.rebinding,
    requests.simple_posts,
    requests.nested_json,
    requests.costly_cookies,
    requests.failing_calls,
    requests.many_parts,
    requests.forged_log,
    requests.without_words,
    connections.crumbs,
    connections.half_sent,
    connections.half_headers,
    connections.slow_readers,
    connections.broken_uploads,
    requests.huge_figures,
    requests.one_visitor_for_all,
    requests.unread_answers,
    files.slow_pictures,
    files.striped_pictures,
    files.large_pictures,
    files.large_bundles,
    files.repeated_checkpoint,
    files.growing_checkpoint,
    files.vast_checkpoint,
    files.overflowing_checkpoint,
    files.self_holding_checkpoint,
)
NARROW: tuple[Attack, ...] = (connections.listeners,)
DESCRIPTORS = 1024
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


def leaving(target: Target) -> str | None:
    """Somebody leaves over plain HTTP, and another uses the cookie again."""
    return signing.left_token(target, {"username": "ada", "password": PASSWORD})


@contextmanager
def with_accounts(app: Path) -> Iterator[Running]:
    """A server that asks for name and password."""
    with tempfile.TemporaryDirectory() as folder:
        accounts = Path(folder) / "accounts"
        accounts.write_text(account_line("ada", PASSWORD))
        with running_app("--device", "cpu", "--auth", str(accounts), app=app) as server:
            yield server


def main() -> int:
    """The table; 1 when anything did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="only attacks with one of these in their name")
    parser.add_argument("--app", type=Path, default=APP, help="the app.py of another state of this program")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # the servers must not stay
    served = ("--device", "cpu", "--allow-upload-weights", "--log-format", "json")
    groups = (
        (lambda: running_app(*served, app=options.app), OPEN),
        (lambda: running_app("--device", "cpu", app=options.app, descriptors=DESCRIPTORS), NARROW),
        (lambda: with_accounts(options.app), (cookies, leaving, signing.forwarded_addresses)),
    )
    print("| what a stranger does | what happens | seconds |\n|---|---|---|", flush=True)
    held = []
    for start, attacks in groups:
        chosen = [a for a in attacks if any(part in a.__name__ for part in options.only.split(","))]
        if not chosen:
            continue
        with start() as server:
            for attack in chosen:
                line, good = run(attack, Target.of(server))
                print(line, flush=True)
                held.append(good)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
