"""A TCP proxy on this machine that delays every byte by the same time, in order: a distant server."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CHUNK = 1 << 16


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Hand on what arrives, `delay` seconds later; reading goes on meanwhile, so the delay costs no throughput."""
    loop = asyncio.get_running_loop()
    late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def hand_on() -> None:
        while True:
            due, content = await late.get()
            await asyncio.sleep(due - loop.time())
            if not content:
                return
            writer.write(content)
            await writer.drain()

    task = asyncio.create_task(hand_on())
    try:
        with suppress(ConnectionError):
            while content := await reader.read(CHUNK):
                late.put_nowait((loop.time() + delay, content))
        late.put_nowait((loop.time() + delay, b""))
        with suppress(ConnectionError):
            await task
    finally:
        task.cancel()
        writer.close()


async def serve(port: int, delay: float) -> asyncio.Server:
    """A proxy to `port`, on a free port; `delay` seconds are added in each direction."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        with suppress(asyncio.CancelledError):  # the proxy stops
            await asyncio.gather(_pump(reader, there_writer, delay), _pump(there_reader, writer, delay))

    return await asyncio.start_server(connected, "127.0.0.1", 0)


@contextmanager
def delayed(url: str, delay: float) -> Iterator[str]:
    """The address under which a server seems `delay` seconds away, each way."""
    port = urlsplit(url).port or 80
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(port, delay), loop).result(10)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
