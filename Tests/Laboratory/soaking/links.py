"""Network links that can be cut, stalled or slow: TCP proxies on this machine."""

import asyncio
import threading

SLOW = 0.05  # seconds by which a slow link delays each piece, both ways


class Links:
    """The thread of all links."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def link(self, target, address="127.0.0.1"):
        """`target` returns the port of whoever answers at the other end now; `address` is where the link begins."""
        link = Link(self, target, address)
        self.run(link.listen())
        return link

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


class Link:
    """A port that leads to another. A new connection through a cut link is refused."""

    def __init__(self, links, target, address):
        self.links, self.target, self.address = links, target, address
        self.is_cut, self.delay = False, 0
        self.writers = set()

    async def listen(self):
        self.passing = asyncio.Event()
        self.passing.set()
        self.server = await asyncio.start_server(self.serve, self.address, 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            other_reader, other = await asyncio.open_connection("127.0.0.1", self.target())
        except OSError:
            writer.transport.abort()
            return
        self.writers |= {writer, other}
        await asyncio.gather(self.pass_on(reader, other), self.pass_on(other_reader, writer))
        self.writers -= {writer, other}

    async def pass_on(self, reader, writer):
        try:
            while data := await reader.read(65_536):
                await self.passing.wait()
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()

    async def change(self, state):
        self.is_cut, self.delay = state == "cut", SLOW if state == "slow" else 0
        (self.passing.clear if state == "stalled" else self.passing.set)()
        if self.is_cut:
            for writer in list(self.writers):
                writer.transport.abort()

    def become(self, state):
        """`open`, `cut`, `stalled` or `slow`."""
        self.links.run(self.change(state))
