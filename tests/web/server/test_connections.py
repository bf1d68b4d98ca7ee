"""Below requests: deadlines of connections, shares of addresses and of the queue, the folder of temporary files."""

import asyncio
import contextlib
import itertools
import json
import os
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sdtps.web.server.gate import connections, turns
from sdtps.web.server.gate.connections import Connection, Connections
from sdtps.web.server.gate.identity import IN_SCOPE
from sdtps.web.server.gate.turns import FairQueue
from sdtps.web.server.page import build_page
from sdtps.web.server.temporary_files import INCOMING, own_folder, tidy
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.visitor import Visitor
from tests.harness import finished

LONG = 30 * 2**20


@pytest.fixture
def server(monkeypatch) -> Iterator[tuple[str, int]]:
    """A small server with short deadlines."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(connections, "READER_SECONDS", 0.2)
    number = itertools.count(1)

    async def sent(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("x")),
                            Route("/long", lambda _: PlainTextResponse("x" * LONG)),
                            Route("/sent", sent, methods=["POST"]),
                            Route("/counted", lambda _: PlainTextResponse(str(next(number))))])  # fmt: skip
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        short = {"h11_max_incomplete_event_size": 8192, "timeout_keep_alive": 1}
        config = uvicorn.Config(app, http=Connection, log_level="critical", **short)
        running = uvicorn.Server(config)
        monkey: Any = running
        monkey.install_signal_handlers = lambda: None
        thread = threading.Thread(target=lambda: asyncio.run(running.serve([listening])), daemon=True)
        thread.start()
        while not running.started:
            time.sleep(0.01)
        yield listening.getsockname()
        running.should_exit = True
        thread.join(10)


def hears_the_end(connection: socket.socket) -> bool:
    """Whether the server closes within some seconds."""
    connection.settimeout(10)
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def test_headers_that_never_end_close_the_connection(server) -> None:
    for start in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost:"):
        with socket.create_connection(server) as connection:
            connection.sendall(start)
            assert hears_the_end(connection)


def test_headers_without_end_get_a_sentence(server) -> None:
    with socket.create_connection(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 20_000)
        connection.settimeout(10)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "request.http"


def test_a_body_in_crumbs_is_refused_and_one_in_pieces_is_not(server) -> None:
    head = b"POST /sent HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    count = 2 * connections.FREE_PIECES
    for piece, status in ((b"1\r\nx\r\n", b"400"), (b"40\r\n" + b"x" * 64 + b"\r\n", b"200")):
        with socket.create_connection(server) as connection:
            connection.settimeout(10)
            connection.sendall(head + piece * count + b"0\r\n\r\n")
            assert connection.recv(65536).split()[1] == status


def test_an_answer_that_nobody_reads_is_given_up(server, monkeypatch) -> None:
    with socket.create_connection(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        while len(Connection.crowd) > 0:  # ends with the test's own time limit if it is never given up
            time.sleep(0.02)
    monkeypatch.setattr(connections, "READER_SECONDS", 60)  # a busy machine reads slowly
    assert len(httpx.get(f"http://{server[0]}:{server[1]}/long").content) == LONG


def test_the_next_request_of_a_connection_waits_until_the_answer_before_it_was_read(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "READER_SECONDS", 60)
    with socket.create_connection(server) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n" + b"GET /counted HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        connection.recv(1)
        assert httpx.get(f"http://{server[0]}:{server[1]}/counted").text == "1", "of others' requests nothing waits"
        connection.settimeout(30)
        rest = b""
        while not rest.endswith(b"4"):
            rest = rest[-LONG // 100 :] + connection.recv(2**20)
    assert [rest.count(b"\r\n\r\n%d" % i) for i in (1, 2, 3, 4)] == [0, 1, 1, 1]


def test_a_long_answer_is_sent_for_as_long_as_somebody_reads_it(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "READER_SECONDS", 1.0)
    with socket.create_connection(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**18)
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        found = 0
        while piece := connection.recv(2**18):
            found += len(piece)
            time.sleep(0.03)  # longer than the connection is kept for another request
    assert found > LONG


def test_what_waits_to_be_read_is_bounded_for_each_address(monkeypatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_BYTES", 800)
    crowd = Connections(most=100, share=100)

    def reader(address: str, count: int) -> Any:
        caller: Any = Caller(working=True)
        caller.address, caller.transport.get_write_buffer_size = address, lambda: count
        crowd.add(address, caller)
        crowd.reads(caller)
        return caller

    first, second, third = (reader("a", 50) for _ in range(3))
    assert (first.gone, second.gone, third.gone) == (True, False, False)
    crowd.has_read(second)
    large = reader("a", 500)
    assert third.gone
    assert not large.gone, "a single answer may be as large as it is"
    others = [reader(f"b{i}", 90) for i in range(4)]
    assert large.gone, "who has most makes room for others"
    assert not any(one.gone for one in others)


class Caller:
    """A connection that asked for something, or not."""

    def __init__(self, working: bool = False) -> None:
        self.working, self.gone = working, False
        self.transport = SimpleNamespace(abort=self._abort)

    def _abort(self) -> None:
        self.gone = True


def test_who_asks_for_nothing_makes_room_and_no_address_takes_all_places() -> None:
    crowd = Connections(most=4, share=3)
    working, idle, late = Caller(working=True), Caller(), Caller()
    for caller in (working, idle, late):
        assert crowd.add("a", caller)
    assert crowd.add("a", Caller(working=True))
    assert (working.gone, idle.gone, late.gone) == (False, True, False)
    assert crowd.add("b", Caller(working=True))
    assert crowd.add("b", Caller(working=True)), "the largest address makes room"
    assert late.gone
    assert not crowd.add("c", Caller()), "everybody works"
    crowd.remove("a", working)
    assert crowd.add("c", Caller())


def event(address: str, session: str) -> Any:
    scope = {IN_SCOPE: Visitor(address, session)}
    return SimpleNamespace(session_hash=session, request=SimpleNamespace(scope=scope))


@pytest.fixture
def queue() -> Any:
    """What the fair queue touches of Gradio's."""
    part = SimpleNamespace(queue=[])

    async def push(body: Any, request: Any, username: Any) -> Any:
        part.queue.append(SimpleNamespace(session_hash=body.session_hash, request=request))
        return True, "id", "success"

    return SimpleNamespace(
        event_queue_per_concurrency_id={"backbone": part},
        pending_messages_per_session={},
        pending_event_ids_session=defaultdict(set),
        event_ids_to_events={},
        active_jobs=[],
        push=push,
        get_events=lambda: ([part.queue.pop(0)], False, "backbone") if part.queue else None,
    )


def test_visitors_take_turns_in_the_queue_and_none_fills_it(queue) -> None:
    fair = FairQueue(SimpleNamespace(_queue=queue))

    def push(address: str, session: str) -> bool:
        request = event(address, session).request
        return finished(queue.push(SimpleNamespace(session_hash=session), request, None))[0]

    assert [push("greedy", "s") for _ in range(turns.SESSION_SHARE + 1)] == [True] * turns.SESSION_SHARE + [False]
    others = [push("greedy", f"s{i}") for i in range(turns.ADDRESS_SHARE)]
    assert sum(others) == turns.ADDRESS_SHARE - turns.SESSION_SHARE
    assert push("polite", "p")
    served = [fair.queue.get_events()[0][0].session_hash for _ in range(3)]
    assert served[0] == "s"
    assert served[1] == "p"


def test_answers_that_nobody_fetches_are_forgotten(queue, monkeypatch) -> None:
    fair = FairQueue(SimpleNamespace(_queue=queue))
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    for i in range(turns.UNREAD_SHARE + 10):
        queue.pending_messages_per_session[f"s{i}"] = SimpleNamespace(qsize=lambda: 1)
        queue.pending_event_ids_session[f"s{i}"] = {f"e{i}"}
        queue.event_ids_to_events[f"e{i}"] = object()
        fair._addresses[f"s{i}"] = "192.0.2.7"
    queue.pending_messages_per_session["listening"] = SimpleNamespace(qsize=lambda: 0)
    fair.sweep()
    assert len(queue.pending_messages_per_session) == turns.UNREAD_SHARE + 1
    now[0] += turns.UNREAD_SECONDS + 1
    fair.sweep()
    assert list(queue.pending_messages_per_session) == ["listening"]
    assert not queue.event_ids_to_events


def test_the_folder_of_temporary_files_must_be_ours(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    others = tmp_path / "others"
    others.mkdir()
    (others / "precious").write_text("x")
    link = tmp_path / "link"
    link.symlink_to(others)
    for place in (link, others / "precious", others / "precious" / "below"):
        with pytest.raises(SystemExit, match="is a link or belongs to somebody else"):
            own_folder(place)
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(link))
    with pytest.raises(SystemExit, match="is a link"):
        build_page(PageBackend([], {}))
    assert [path.name for path in others.iterdir()] == ["precious"], "nothing was written there"
    os.utime(others / "precious", (0, 0))
    assert tidy(link) == 0
    assert (others / "precious").exists()
    mine = own_folder(tmp_path / "new" / "mine")
    assert oct(mine.stat().st_mode & 0o777) == "0o700"
    incoming, dead = mine / f"{INCOMING}{os.getpid()}", mine / f"{INCOMING}{2**22 + 1}"
    (incoming / "half").write_text("x")
    dead.mkdir()
    (dead / "half").write_text("x")
    (mine / "inner").symlink_to(others)
    own_folder(mine)
    assert list(incoming.iterdir()) == []
    assert not dead.exists(), "no process has that number"
    (incoming / "in-use").mkdir()
    (incoming / "in-use" / "file").write_text("x")
    (incoming / "left").write_text("x")
    tidy(mine, max_age=-1)
    assert (others / "precious").exists()
    assert not (mine / "inner").exists()
    assert [p.name for p in incoming.iterdir()] == ["in-use"]
    assert (incoming / "in-use" / "file").exists()
