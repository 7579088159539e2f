"""Network namespaces: each host of a fleet has an interface of its own, whose cable can be pulled."""

import os
import shutil
import subprocess


def are_possible():
    """Whether this process may make namespaces: they need root, and iproute2."""
    return os.geteuid() == 0 and shutil.which("ip") is not None


def ip(*words):
    done = subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def networks():
    """The first two numbers of this run's addresses, so that two runs do not meet."""
    return f"10.{128 + os.getpid() % 127}"


class SharedAddress:
    """An address of this machine that every host sees."""

    def __init__(self):
        self.address = f"{networks()}.255.1"
        ip("address", "add", f"{self.address}/32", "dev", "lo")

    def close(self):
        ip("address", "delete", f"{self.address}/32", "dev", "lo")


class Namespace:
    """A network with one host, joined to this machine's by a cable."""

    def __init__(self, number):
        self.name = f"cameo-{os.getpid()}-{number}"
        self.cable, inner = f"cameo{os.getpid() % 100_000}-{number}", "eth0"
        network = f"{networks()}.{number}"
        self.address = f"{network}.1"  # of this machine, as this host sees it
        ip("netns", "add", self.name)
        try:
            ip("link", "add", self.cable, "type", "veth", "peer", "name", inner, "netns", self.name)
            ip("address", "add", f"{self.address}/30", "dev", self.cable)
            ip("link", "set", self.cable, "up")
            ip("-n", self.name, "address", "add", f"{network}.2/30", "dev", inner)
            ip("-n", self.name, "link", "set", "lo", "up")
            ip("-n", self.name, "link", "set", inner, "up")
            ip("-n", self.name, "route", "add", "default", "via", self.address)
        except RuntimeError:
            self.close()
            raise
        self.prefix = ["ip", "netns", "exec", self.name]

    def pull_cable(self):
        """What is sent gets lost, without an answer that says so."""
        ip("link", "set", self.cable, "down")

    def plug_in(self):
        ip("link", "set", self.cable, "up")

    def close(self):
        ip("netns", "delete", self.name)  # the cable goes with it, once its last process has ended


class ThisNetwork:
    """This machine's own network, for hosts without a namespace."""

    address, prefix = "127.0.0.1", []

    def close(self):
        pass
