"""The end of a start, without a question to ourselves.

Gradio ends `launch` by asking its own server over HTTP to start the queue. Whoever crowds the port in that moment, or a
proxy in the environment, keeps the question out, and the whole process ends. Here it is done from inside.
"""

import asyncio
from types import SimpleNamespace
from typing import Any

from starlette.types import Receive, Scope, Send


class Beginning:
    """Stands inside of the gate and knows the loop that serves.

    Args:
        app: Gradio's.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on; the first call comes before anybody can connect."""
        if scope["type"] == "lifespan":
            self._loop = asyncio.get_running_loop()
        await self.app(scope, receive, send)

    def answer(self, *_: object, **__: object) -> SimpleNamespace:
        """What Gradio expects of its question, from another thread than the loop's."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._run(), self._loop).result()
        return SimpleNamespace(is_success=True)

    async def _run(self) -> None:
        page = self.app.get_blocks()
        page.run_startup_events()
        await page.run_extra_startup_events()
        self.app.startup_events_triggered = True
