"""Gradio's queue, shared fairly: visitors take turns, none fills it alone, and answers that nobody fetches go."""

import time
from collections import Counter
from typing import Any

import gradio as gr

from sdtps.web.server.gate.identity import visitor_of

SESSION_SHARE, ADDRESS_SHARE = 8, 24  # events of one session and of one address that may wait
UNREAD_SECONDS = 300.0  # in which somebody must begin to listen
UNREAD, UNREAD_SHARE = 256, 64  # sessions with answers that nobody fetched, of all and of one address
EVERY = 5.0
FULL = (False, "Queue is full.", "queue_full")


class FairQueue:
    """Stands before the queue of a page.

    Args:
        page: whose queue it is; `queue()` has been called.
    """

    def __init__(self, page: gr.Blocks) -> None:
        self.queue: Any = page._queue
        self._addresses: dict[str, str] = {}  # of sessions with events
        self._unread: dict[str, float] = {}  # since when a session has messages
        self._served: dict[tuple[str, ...], float] = {}
        self._swept = 0.0
        self._push, self._next = self.queue.push, self.queue.get_events
        self.queue.push, self.queue.get_events = self.push, self.get_events

    def waiting(self) -> list[Any]:
        """All events that wait for their turn."""
        return [event for part in self.queue.event_queue_per_concurrency_id.values() for event in part.queue]

    async def push(self, body: Any, request: Any, username: Any) -> Any:
        """Let an event in, unless its visitor has its share."""
        who = visitor_of(request.scope)
        session = body.session_hash or ""
        waiting = self.waiting()
        own = sum(event.session_hash == session for event in waiting) if session else 0
        near = sum(visitor_of(event.request.scope).address == who.address for event in waiting)
        if who.address and (own >= SESSION_SHARE or near >= ADDRESS_SHARE):
            return FULL
        self.sweep()
        pushed = await self._push(body=body, request=request, username=username)
        if body.session_hash:
            self._addresses[body.session_hash] = who.address
        return pushed

    def get_events(self) -> Any:
        """The next events: the first of whoever was served longest ago."""
        for part in self.queue.event_queue_per_concurrency_id.values():
            if len(part.queue) > 1:
                part.queue.sort(key=self._turn)  # stable: each visitor's own events stay in order
        found = self._next()
        if found is not None:
            for event in found[0]:
                for name in self._names(event):
                    self._served[name] = time.monotonic()
        return found

    def sweep(self) -> None:
        """Forget answers that nobody came for, the oldest first."""
        now = time.monotonic()
        if now - self._swept < EVERY:
            return
        self._swept = now
        messages = self.queue.pending_messages_per_session
        full = {s for s in list(messages) if messages[s].qsize() and not self._runs(s)}
        self._unread = {s: self._unread.get(s, now) for s in full}
        late = [s for s, since in self._unread.items() if now - since > UNREAD_SECONDS]
        by_age = sorted(self._unread, key=self._unread.__getitem__)
        shares = Counter(self._addresses.get(s, "") for s in by_age)
        excess = len(by_age) - UNREAD
        for session in by_age:
            address = self._addresses.get(session, "")
            if shares[address] > UNREAD_SHARE or excess > 0:
                late.append(session)
                shares[address] -= 1
                excess -= 1
        for session in late:
            self._drop(session)
        self._addresses = {s: a for s, a in self._addresses.items() if s in messages}
        self._served = {name: at for name, at in self._served.items() if now - at < UNREAD_SECONDS}

    def _drop(self, session: str) -> None:
        self._unread.pop(session, None)
        self.queue.pending_messages_per_session.pop(session, None)
        for event in self.queue.pending_event_ids_session.pop(session, ()):
            self.queue.event_ids_to_events.pop(event, None)

    def _runs(self, session: str) -> bool:
        """Whether an event of a session waits or is under way."""
        active = [event for job in self.queue.active_jobs if job is not None for event in job]
        return any(event.session_hash == session for event in (*active, *self.waiting()))

    def _turn(self, event: Any) -> list[float]:
        return [self._served.get(name, 0.0) for name in self._names(event)]

    @staticmethod
    def _names(event: Any) -> tuple[tuple[str, ...], ...]:
        """Addresses take turns, and the sessions of each."""
        address = visitor_of(event.request.scope).address
        return (address,), (address, event.session_hash)
