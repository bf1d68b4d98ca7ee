"""What stands round the application: a layer sees requests of HTTP, everything else passes it by."""

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send


class HttpLayer(ABC):
    """Base of the layers.

    Args:
        app: the next application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Only requests are looked at: the beginning and the end of a server are none of a layer's business."""
        await (self.answer if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or answer it."""
