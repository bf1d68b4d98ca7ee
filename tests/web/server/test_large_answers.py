"""The page is made in turn: a crowd that asks for it waits for itself."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send

from sdtps.web.server.gate import large_answers
from sdtps.web.server.gate.identity import IN_SCOPE
from sdtps.web.server.gate.large_answers import LargeAnswers
from sdtps.web.session.visitor import Visitor
from tests.harness import finished


class Maker:
    """Makes pages while it is let; knows for whom."""

    def __init__(self) -> None:
        self.making: list[str] = []
        self.most = 0
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.making.append(scope[IN_SCOPE].address)
        self.most = max(self.most, len(self.making))
        if scope["path"] == "/":
            await self.go_on.wait()
        self.making.remove(scope[IN_SCOPE].address)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"page"})


def asked(layer: LargeAnswers, address: str, path: str = "/", unread: asyncio.Event | None = None) -> Any:
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], IN_SCOPE: Visitor(address, "")}
    status: list[int] = []

    async def send(event: Any) -> None:
        if unread is not None:
            await unread.wait()
        status.append(event.get("status", 0))

    async def ask() -> int:
        await layer(scope, None, send)  # type: ignore[arg-type]
        return status[0]

    return asyncio.create_task(ask())


def test_each_address_has_one_page_made_and_nobody_waits_for_readers(monkeypatch) -> None:
    monkeypatch.setattr(large_answers, "WAITING", 5)

    async def crowd() -> None:
        maker = Maker()
        layer = LargeAnswers(maker)
        never = asyncio.Event()
        greedy = [asked(layer, "greedy", unread=never) for _ in range(5)]
        polite = asked(layer, "polite")
        assert await asked(layer, "greedy") == 503, "too many wait"
        assert await asked(layer, "greedy", "/health") == 200, "small answers have no turns"
        while len(maker.making) < 2:
            await asyncio.sleep(0)
        assert sorted(maker.making) == ["greedy", "polite"]
        maker.go_on.set()
        assert await polite == 200
        assert await asked(layer, "polite") == 200, "though five of the others are not read"
        while maker.making or layer._waiting:
            await asyncio.sleep(0)
        assert maker.most <= 1 + large_answers.AT_ONCE  # the small one among them
        assert not layer._lines, "who has nothing under way is forgotten"
        for task in greedy:
            task.cancel()

    finished(crowd())
