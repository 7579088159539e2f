"""Networks of a fleet: links that can be cut, stalled or slow, which are TCP proxies on this machine; and namespaces, in
which each host has an interface of its own, whose cable can be pulled."""
import asyncio
import os
import shutil
import threading

import lab

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


def are_possible():
    """Whether this process may make namespaces: they need root, and iproute2."""
    return os.geteuid() == 0 and shutil.which("ip") is not None


def ip(command):
    lab.output("ip", *command.split())


def networks():
    """The first two numbers of this run's addresses, so that two runs do not meet."""
    return f"10.{128 + os.getpid() % 127}"


class SharedAddress:
    """An address of this machine that every host sees."""

    def __init__(self):
        self.address = f"{networks()}.255.1"
        ip(f"address add {self.address}/32 dev lo")

    def close(self):
        ip(f"address delete {self.address}/32 dev lo")


class Namespace:
    """A network with one host, joined to this machine's by a cable."""

    def __init__(self, number):
        self.name, self.cable = f"cameo-{os.getpid()}-{number}", f"cameo{os.getpid() % 100_000}-{number}"
        self.address, self.prefix = f"{networks()}.{number}.1", ["ip", "netns", "exec", self.name]  # as this host sees us
        ip(f"netns add {self.name}")
        try:
            ip(f"link add {self.cable} type veth peer name eth0 netns {self.name}")
            ip(f"address add {self.address}/30 dev {self.cable}")
            ip(f"link set {self.cable} up")
            for words in (f"address add {networks()}.{number}.2/30 dev eth0", "link set lo up", "link set eth0 up",
                          f"route add default via {self.address}"):
                ip(f"-n {self.name} {words}")
        except RuntimeError:
            self.close()
            raise

    def pull_cable(self):
        """What is sent gets lost, without an answer that says so."""
        ip(f"link set {self.cable} down")

    def plug_in(self):
        ip(f"link set {self.cable} up")

    def close(self):
        ip(f"netns delete {self.name}")  # the cable goes with it, once its last process has ended


class ThisNetwork:
    """This machine's own network, for hosts without a namespace."""

    address, prefix = "127.0.0.1", []

    def close(self):
        pass
