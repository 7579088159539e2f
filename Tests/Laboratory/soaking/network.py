"""Networks of a fleet: links that can be cut, stalled or slow, which are TCP proxies on this machine; and namespaces,
in which each host has an interface of its own, whose cable can be pulled."""
import asyncio
import contextlib
import os
import shutil
import threading

import lab

SLOW = 0.05  # seconds by which a slow link delays each piece, both ways
# The first two numbers of this run's addresses, so that two runs do not meet.
PREFIX = f"10.{128 + os.getpid() % 127}"


@contextlib.contextmanager
def loop():
    """Runs all links in a thread."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.call_soon_threadsafe(made.stop)
        thread.join()


class Link:
    """A port that leads to another. A new connection through a cut link is refused."""

    def __init__(self, loop, target, address="127.0.0.1"):
        """`target` returns the port of whoever answers at the other end now; `address` is where the link begins."""
        self.loop, self.target, self.address = loop, target, address
        self.state, self.writers, self.passing = "open", set(), asyncio.Event()
        self.passing.set()
        self.run(self.listen())

    def run(self, work):
        asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, self.address, 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            if self.state == "cut":
                raise ConnectionRefusedError
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
                if self.state == "slow":
                    await asyncio.sleep(SLOW)
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()

    async def change(self, state):
        self.state = state
        (self.passing.clear if state == "stalled" else self.passing.set)()
        for writer in list(self.writers) if state == "cut" else ():
            writer.transport.abort()

    def become(self, state):
        """`open`, `cut`, `stalled` or `slow`."""
        self.run(self.change(state))


def are_possible():
    """Whether this process may make namespaces: they need root, and iproute2."""
    return os.geteuid() == 0 and shutil.which("ip") is not None


def ip(command):
    lab.output("ip", *command.split())


@contextlib.contextmanager
def shared_address():
    """An address of this machine that every host sees."""
    address = f"{PREFIX}.255.1"
    ip(f"address add {address}/32 dev lo")
    try:
        yield address
    finally:
        ip(f"address delete {address}/32 dev lo")


@contextlib.contextmanager
def namespace(number):
    """A network with one host, joined to this machine's by a cable: this machine's address as the host sees it, what
    begins a command in it, and the cable. What is sent over a cable that is down gets lost, without an answer."""
    name, cable = f"cameo-{os.getpid()}-{number}", f"cameo{os.getpid() % 100_000}-{number}"
    address = f"{PREFIX}.{number}.1"
    ip(f"netns add {name}")
    try:
        ip(f"link add {cable} type veth peer name eth0 netns {name}")
        ip(f"address add {address}/30 dev {cable}")
        ip(f"link set {cable} up")
        for words in (f"address add {PREFIX}.{number}.2/30 dev eth0", "link set lo up", "link set eth0 up",
                      f"route add default via {address}"):
            ip(f"-n {name} {words}")
        yield address, ["ip", "netns", "exec", name], cable
    finally:
        ip(f"netns delete {name}")  # the cable goes with it, once its last process has ended
