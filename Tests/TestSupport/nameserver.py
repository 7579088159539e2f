"""Runs a command in a network of its own, with a name server and web servers that say what a test wants.

    unshare --net --mount nameserver.py ZONE.json PICTURE.jpg COMMAND [ARGUMENT…]

Python 3, standard library only; `ip` and `mount`; as root, of a user namespace if need be. Nothing outside the network and
mount namespaces that it was started in changes.

ZONE.json maps names to look-ups, and a look-up is a list of addresses, or of one other name (CNAME): the first question for
a name and type gets the first list, the next question the next, and the last list is also the answer to all later ones.
All have a time to live of 0. Every address of the zone is one of this machine, and so is PUBLIC; on each of them ports 80
and 8080 answer:
    /picture.jpg                PICTURE.jpg
    /to?URL                     a redirect
    /busy                       503 once, then the picture
and close the connection, so that whoever goes on must connect anew.

When the command has ended, one line of JSON stands on standard output: its exit status, its standard error, the connections
by the address that they were made to, and the questions by name.
"""

import collections
import http.server
import ipaddress
import json
import os
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.parse

A, CNAME, AAAA = 1, 5, 28
LOCAL = {"127.0.0.1", "::1", "0.0.0.0", "::"}


def address_of(text):
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


class Zone:
    def __init__(self, names):
        self.names = {name.rstrip(".").lower(): lookups for name, lookups in names.items()}
        self.questions = collections.Counter()

    def addresses(self):
        texts = [text for lookups in self.names.values() for answer in lookups for text in answer]
        return {text for text in texts if address_of(text)}

    def answer(self, name, kind):
        """Records as (owner, type, data); None for a name that there is not."""
        lookups = self.names.get(name)
        if lookups is None:
            return None
        asked = self.questions[name, kind]
        self.questions[name, kind] += 1
        records = []
        for text in lookups[min(asked, len(lookups) - 1)]:
            address = address_of(text)
            if address is None:
                records.append((name, CNAME, wire_name(text)))
                records += self.answer(text.rstrip(".").lower(), kind) or []
            elif kind == (A if address.version == 4 else AAAA):
                records.append((name, kind, address.packed))
        return records


def wire_name(name):
    labels = [label.encode() for label in name.rstrip(".").split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


class NameHandler(socketserver.BaseRequestHandler):
    zone = None
    lock = threading.Lock()

    def handle(self):
        query, reply = self.request
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind = struct.unpack("!H", query[at + 1:at + 3])[0]
        with self.lock:
            records = self.zone.answer(".".join(labels).lower(), kind)
        flags = 0x8580 | (3 if records is None else 0)  # an authoritative answer; NXDOMAIN
        message = query[:2] + struct.pack("!5H", flags, 1, len(records or []), 0, 0) + query[12:at + 5]
        for owner, record, data in records or []:
            message += wire_name(owner) + struct.pack("!HHIH", record, 1, 0, len(data)) + data
        reply.sendto(message, self.client_address)


class NameServer(socketserver.ThreadingUDPServer):
    daemon_threads = True


class WebHandler(http.server.BaseHTTPRequestHandler):
    picture = b""
    busy = 1
    connections = collections.Counter()
    lock = threading.Lock()

    def setup(self):
        super().setup()
        address = ipaddress.ip_address(self.connection.getsockname()[0])
        with self.lock:
            self.connections[str(getattr(address, "ipv4_mapped", None) or address)] += 1

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        with self.lock:
            is_busy = url.path == "/busy" and WebHandler.busy > 0
            WebHandler.busy -= is_busy
        self.send_response(503 if is_busy else 302 if url.path == "/to" else 200)
        if url.path == "/to":
            self.send_header("Location", url.query)
        self.send_header("Content-Length", str(len(self.picture)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(self.picture)


class WebServer(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request, client_address):
        pass


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def mount(folder, text, path):
    name = os.path.join(folder, os.path.basename(path))
    with open(name, "w") as file:
        file.write(text)
    run("mount", "--bind", name, os.path.realpath(path))


def main():
    zone_file, picture, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(zone_file) as file:
        zone = NameHandler.zone = Zone(json.load(file))
    with open(picture, "rb") as file:
        WebHandler.picture = file.read()
    run("ip", "link", "set", "lo", "up")
    for text in zone.addresses() - LOCAL:
        mapped = getattr(address_of(text), "ipv4_mapped", None)
        run("ip", "address", "replace", str(mapped or text), "dev", "lo", *([] if mapped or "." in text else ["nodad"]))
    with tempfile.TemporaryDirectory() as folder:
        mount(folder, "nameserver 127.0.0.1\noptions timeout:30 attempts:2\n", "/etc/resolv.conf")
        mount(folder, "hosts: files dns\n", "/etc/nsswitch.conf")
        mount(folder, "127.0.0.1 localhost\n::1 localhost\n", "/etc/hosts")
        if os.path.isdir("/run/nscd"):
            run("mount", "-t", "tmpfs", "none", "/run/nscd")
        servers = [NameServer(("127.0.0.1", 53), NameHandler)]
        servers += [WebServer(("::", port), WebHandler) for port in (80, 8080)]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    questions = collections.Counter()
    for (name, kind), count in zone.questions.items():
        questions[name] = max(questions[name], count)
    print(json.dumps({
        "exitStatus": ended.returncode,
        "errorText": ended.stderr.decode(errors="replace"),
        "connections": WebHandler.connections,
        "questions": questions,
    }))


main()
