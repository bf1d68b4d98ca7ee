"""Who may sign in: a file of names and scrypt hashes, made by `python -m sdtps password NAME`."""

import asyncio
import base64
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException

from sdtps.support.errors import InputError
from sdtps.web.session.visitor import visitor

KIND = "scrypt"
COST, BLOCK, PARALLEL = 2**15, 8, 1  # 32 MB and about a tenth of a second per try
MEMORY = 2**27
SALT_BYTES = 16
MAX_PASSWORD = 1024
MAX_NAME, MAX_NAMES = 256, 10_000
TRIES_PER_MINUTE, MINUTE = 10, 60.0  # for one name


@dataclass(frozen=True)
class Hashed:
    """A password that can be recognised and not read: `scrypt$cost$block$parallel$salt$digest`."""

    cost: int
    block: int
    parallel: int
    salt: bytes
    digest: bytes

    @classmethod
    def make(cls, password: str) -> "Hashed":
        """Hash a password with a new salt."""
        salt = secrets.token_bytes(SALT_BYTES)
        return cls(COST, BLOCK, PARALLEL, salt, _scrypt(password, salt, COST, BLOCK, PARALLEL))

    @classmethod
    def parse(cls, text: str) -> "Hashed":
        """Read what `str()` wrote."""
        kind, cost, block, parallel, salt, digest = text.split("$")
        if kind != KIND:
            raise ValueError(f"unknown kind {kind!r}")
        salt_bytes, digest_bytes = (base64.b64decode(part, validate=True) for part in (salt, digest))
        return cls(int(cost), int(block), int(parallel), salt_bytes, digest_bytes)

    def __str__(self) -> str:
        salt, digest = (base64.b64encode(part).decode() for part in (self.salt, self.digest))
        return f"{KIND}${self.cost}${self.block}${self.parallel}${salt}${digest}"

    def matches(self, password: str) -> bool:
        """Compare in constant time."""
        found = _scrypt(password, self.salt, self.cost, self.block, self.parallel)
        return hmac.compare_digest(found, self.digest)


NOBODY = Hashed(COST, BLOCK, PARALLEL, bytes(SALT_BYTES), bytes(64))  # matches nothing, and takes as long


def account_line(name: str, password: str) -> str:
    """A line for the file."""
    if not name.strip() or name != name.strip() or any(c in name for c in ":#\n"):
        raise ValueError("A name must not be empty, begin or end with a space, or hold ':' or '#'; choose another.")
    if not 8 <= len(password) <= MAX_PASSWORD:
        raise ValueError("A password has 8 to 1024 characters; choose another.")
    return f"{name}:{Hashed.make(password)}"


def read_accounts(path: str | Path) -> dict[str, Hashed]:
    """Names and hashes of a file; `#` begins a comment."""
    accounts = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, hashed = line.strip().partition(":")
        try:
            accounts[name] = Hashed.parse(hashed)
        except ValueError:
            text = "Line {number} of the accounts is not NAME:HASH; make one with: python -m sdtps password NAME"
            raise InputError("accounts.line", text, number=number) from None
    if not accounts:
        raise InputError(
            "accounts.none", "The file of accounts names nobody; add a line with: python -m sdtps password NAME"
        )
    return accounts


def signing_in(
    accounts: dict[str, Hashed], clock: Callable[[], float] = time.monotonic
) -> Callable[[str, str], Awaitable[bool]]:
    """What Gradio asks: whether a name and a password belong together. Unknown names take as long as known ones.

    A name that was tried too often rests for a while, whatever addresses the tries came from; addresses from which its
    owner has signed in before are let through, so that nobody is locked out by strangers.
    """
    tries: OrderedDict[str, deque[float]] = OrderedDict()
    trusted: set[tuple[str, str]] = set()

    async def check(name: str, password: str) -> bool:
        name, now, place = name[:MAX_NAME], clock(), (name[:MAX_NAME], visitor().address)
        failed = tries.setdefault(name, deque())
        tries.move_to_end(name)
        while failed and now - failed[0] > MINUTE:
            failed.popleft()
        while len(tries) > MAX_NAMES:
            tries.popitem(last=False)
        if len(failed) >= TRIES_PER_MINUTE and place not in trusted:
            raise HTTPException(429, "Too many tries for this name.")
        failed.append(now)
        known = accounts.get(name, NOBODY)
        right = len(password) <= MAX_PASSWORD and await asyncio.to_thread(known.matches, password)
        if not right or name not in accounts:
            return False
        failed.clear()
        trusted.add(place)
        return True

    return check


def _scrypt(password: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=cost, r=block, p=parallel, maxmem=MEMORY)
