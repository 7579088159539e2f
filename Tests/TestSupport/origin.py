"""An HTTP origin on loopback that behaves well and badly on request, for tests. Python 3, standard library only.

    origin.py [--folder DIR] [--tls DIR [--expired]]

It prints one line of JSON with its port, then reads commands from standard input and answers each with one line of
JSON; at the end of its input it exits, so it never outlives the test process.

    counts                      connections, and requests, aborts and the most at one time for each path
    await arrivals PATH N       returns when N requests for PATH have arrived
    await aborts PATH N         returns when N clients have hung up in the middle of an answer from PATH
    script PATH STEPS           what /scripted/… answers from now on, one step a request, the last one for ever: a JSON
                                list of {"status", "headers": [[NAME, VALUE], …], "body"}; nothing is added but the
                                length, unless there is a Transfer-Encoding. {"hangup": true} gives no answer, {"held": true} gives it
                                after `release`, {"cut": N} hangs up after N bytes of the body
    requests PATH               the headers, in lower case, of each request for the scripted path so far; of any other
                                than a GET also its :method and :body
    end                         ends at once, without an answer, as a server does whose power fails

Routes:
    /picture.jpg?file=NAME      a file of the folder (the route may have any name and ending); with &needs=HEADER or
                                &refuses=HEADER only to a request that has the header, or has it not
    /parts?file=NAME            a file of the folder of which parts can be requested; with &ignored=1 they are offered, but
                                never sent; with &changed=N every request after the first N is for another version;
                                with &lost=1 a request for a part gets no answer
    /bytes?count=N&type=T       N bytes
    /status/N?after=TEXT        an answer with that status and a small body, and with TEXT as its Retry-After; &date=TEXT
                                for another Date than now
    /redirect?to=URL&status=N   a redirect; without `to` one that has no Location
    /loop                       a redirect to itself
    /headers                    the request's headers as JSON
    /echo/…                     the request's target, as it came
    /count                      the same as the command `counts`
    /empty /truncated /chunk-truncated /gzip /gzip-bomb?mib=N /bad-gzip /announced?bytes=N /endless
    /never                      no answer
    /stall                      an answer that stops in the middle
    /slow                       one byte a second
    /held                       answers when the command `release` comes: bytes, with ?file=NAME a file, with
                                ?status=N that status and a Retry-After of 9
    /scripted/NAME              what the command `script` says
    /http09 /garbage /hangup    no HTTP answer
    /raw?answer=TEXT            TEXT as it stands, status line and all; with &keep the connection stays open
    /header-flood               header after header, without end
"""

import argparse
import collections
import gzip
import http.server
import io
import json
import mimetypes
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse


class Log:
    """What happened so far; whoever waits for a change is told."""

    def __init__(self):
        self.changed = threading.Condition()
        self.connections = 0
        self.released = False
        self.scripts = {}
        self.requests = collections.defaultdict(list)
        self.counts = {name: collections.Counter() for name in ("arrivals", "aborts", "peaks", "current")}

    def begin(self, path):
        with self.changed:
            self.counts["arrivals"][path] += 1
            self.counts["current"][path] += 1
            self.counts["peaks"][path] = max(self.counts["peaks"][path], self.counts["current"][path])
            self.changed.notify_all()

    def end(self, path, aborted):
        with self.changed:
            self.counts["current"][path] -= 1
            if aborted:
                self.counts["aborts"][path] += 1
            self.changed.notify_all()

    def wait(self, kind, path, count):
        with self.changed:
            return self.changed.wait_for(lambda: self.counts[kind][path] >= count, timeout=120)

    def release(self):
        with self.changed:
            self.released = True
            self.changed.notify_all()

    def script(self, path, steps):
        with self.changed:
            self.scripts[path] = steps

    def next_step(self, path, headers):
        with self.changed:
            self.requests[path].append(headers)
            steps = self.scripts[path]
            return steps.pop(0) if len(steps) > 1 else steps[0]

    def await_release(self):
        with self.changed:
            self.changed.wait_for(lambda: self.released, timeout=600)

    def summary(self):
        with self.changed:
            return {
                "connections": self.connections,
                "requests": dict(self.counts["arrivals"]),
                "aborts": dict(self.counts["aborts"]),
                "peaks": dict(self.counts["peaks"]),
            }


class Aborted(Exception):
    """The client hung up."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are written apart; a delayed ACK would cost 40 ms
    log = Log()
    folder = "."

    def setup(self):
        super().setup()
        with self.log.changed:
            self.log.connections += 1

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.do_GET()

    do_DELETE = do_PATCH = do_PUT = do_POST

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query))
        name = url.path.strip("/").split("/")[0]
        route = getattr(self, "get_" + name.replace("-", "_"), None)
        if route is None and "file" in self.query:
            route = self.serve_file
        aborted = False
        self.log.begin(url.path)
        try:
            (route or self.get_unknown)()
        except (Aborted, BrokenPipeError, ConnectionResetError, ssl.SSLError):
            aborted = True
            self.close_connection = True
        finally:
            self.log.end(url.path, aborted)

    def answer(self, status, body=b"", **headers):
        (self.send_response_only if "Date" in headers else self.send_response)(status)
        headers.setdefault("Content_Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def until_hangup(self):
        self.wfile.flush()
        self.connection.recv(1)
        raise Aborted()

    def serve_file(self):
        if "needs" in self.query and self.query["needs"] not in self.headers:
            return self.answer(401, b"a header is missing")
        if "refuses" in self.query and self.query["refuses"] in self.headers:
            return self.answer(403, b"a header is there that should not be")
        path = os.path.join(self.folder, os.path.basename(self.query["file"]))
        if not os.path.isfile(path):
            return self.answer(404, b"no such file")
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        with open(path, "rb") as file:
            self.answer(200, file.read(), Content_Type=kind)

    def get_parts(self):
        path = os.path.join(self.folder, os.path.basename(self.query["file"]))
        with self.log.changed:
            number = self.log.counts["arrivals"]["/parts"]
        tag = '"b"' if number > int(self.query.get("changed", "1000000")) else '"a"'
        first, size = 0, os.path.getsize(path)
        last = size - 1
        headers = {"ETag": tag, "Accept_Ranges": "bytes", "Content_Type": "application/octet-stream"}
        status = 200
        wanted = self.headers.get("Range", "").removeprefix("bytes=")
        if wanted and "lost" in self.query:
            self.close_connection = True
            return
        if wanted and "ignored" not in self.query and self.headers.get("If-Range", tag) == tag:
            first, last = (int(end) for end in wanted.split("-"))
            headers["Content_Range"] = f"bytes {first}-{last}/{size}"
            status = 206
        self.answer(status, **headers, Content_Length=str(last - first + 1))
        with open(path, "rb") as file:
            file.seek(first)
            while first <= last:
                piece = file.read(min(65536, last - first + 1))
                self.wfile.write(piece)
                first += len(piece)

    def get_unknown(self):
        self.answer(404, b"no such route")

    def get_bytes(self):
        count = int(self.query.get("count", "1000"))
        self.answer(200, b"x" * count, Content_Type=self.query.get("type", "image/png"))

    def get_status(self):
        status = int(self.path.split("?")[0].rsplit("/", 1)[1])
        if status in (204, 304):
            return self.answer(status, Content_Length=None)
        headers = {"Retry_After": self.query.get("after")}
        if "date" in self.query:
            headers["Date"] = self.query["date"]
        self.answer(status, b"a small body", **headers)

    def get_redirect(self):
        status = int(self.query.get("status", "302"))
        self.answer(status, b"elsewhere", Location=self.query.get("to"))

    def get_loop(self):
        self.answer(302, Location="/loop")

    def get_headers(self):
        self.answer(200, json.dumps(dict(self.headers.items())).encode(), Content_Type="application/json")

    def get_echo(self):
        self.answer(200, self.path.encode("latin-1"), Content_Type="text/plain")

    def get_count(self):
        self.answer(200, json.dumps(self.log.summary()).encode(), Content_Type="application/json")

    def get_empty(self):
        self.answer(200, Content_Type="image/png")

    def get_truncated(self):
        self.answer(200, b"x" * 100, Content_Length="1000")
        self.close_connection = True

    def get_chunk_truncated(self):
        self.answer(200, b"64\r\n" + b"x" * 50, Content_Length=None, Transfer_Encoding="chunked")
        self.close_connection = True

    def get_gzip(self):
        self.answer(200, gzip.compress(b"picture" * 1000), Content_Encoding="gzip", Content_Type="image/png")

    def get_gzip_bomb(self):
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb") as file:
            for _ in range(int(self.query.get("mib", "64"))):
                file.write(bytes(1 << 20))
        self.answer(200, buffer.getvalue(), Content_Encoding="gzip", Content_Type="image/png")

    def get_bad_gzip(self):
        self.answer(200, b"this is no gzip stream", Content_Encoding="gzip", Content_Type="image/png")

    def get_announced(self):
        self.answer(200, Content_Length=self.query["bytes"], Content_Type="image/png")
        self.until_hangup()

    def get_endless(self):
        self.answer(200, Content_Length=None, Transfer_Encoding="chunked")
        while True:
            self.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    def get_never(self):
        self.until_hangup()

    def get_stall(self):
        self.answer(200, b"x" * 100, Content_Length="1000")
        self.until_hangup()

    def get_slow(self):
        self.answer(200, Content_Length="1000")
        for _ in range(1000):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(1)

    def get_held(self):
        self.log.await_release()
        if "status" in self.query:
            return self.answer(int(self.query["status"]), b"a small body", Retry_After="9")
        self.serve_file() if "file" in self.query else self.get_bytes()

    def get_scripted(self):
        headers = {name.lower(): ", ".join(self.headers.get_all(name)) for name in self.headers}
        if self.command != "GET":
            headers |= {":method": self.command, ":body": self.body.decode()}
        step = self.log.next_step(self.path.split("?")[0], headers)
        if step.get("held"):
            self.log.await_release()
        if step.get("hangup"):
            self.close_connection = True
            return
        body = step.get("body", "").encode()
        self.send_response_only(step["status"])
        for name, value in step["headers"]:
            self.send_header(name, value)
        if step["status"] != 304 and "Transfer-Encoding" not in dict(step["headers"]):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if step.get("cut") is not None:
            body = body[:step["cut"]]
            self.close_connection = True
        self.wfile.write(body)

    def get_http09(self):
        self.wfile.write(b"no status line, just bytes")
        self.close_connection = True

    def get_garbage(self):
        self.wfile.write(b"HTTP/9.9 what?\r\n\r\n")
        self.close_connection = True

    def get_raw(self):
        self.wfile.write(self.query["answer"].encode())
        self.close_connection = "keep" not in self.query

    def get_header_flood(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-Flood: " + b"x" * 8_000 + b"\r\n")

    def get_hangup(self):
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # a client that hangs up, or does not like the certificate, is what the tests are about


def openssl(*words):
    result = subprocess.run(["openssl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"openssl {words[0]}: {result.stderr.strip()}")


def secure(server, folder, expired):
    """Makes a certificate for the name localhost, which is its own authority: `origin.pem` in the folder."""
    certificate, key = os.path.join(folder, "origin.pem"), os.path.join(folder, "origin.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)
    if expired:
        # `req` makes no such certificate; signing it anew with its end now does. OpenSSL 3.5 takes no earlier end.
        openssl("x509", "-in", certificate, "-signkey", key, "-days", "0", "-out", certificate + ".new")
        os.rename(certificate + ".new", certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # The handshake belongs to the connection's own thread, where a client that refuses disturbs no other.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)


def obey(line, server):
    log = Handler.log
    command = line.split()
    if command[:1] == ["script"]:
        _, path, steps = line.split(" ", 2)
        log.script(path, json.loads(steps))
        return {"done": True}
    if command[:1] == ["requests"]:
        return log.requests[command[1]]
    if command == ["end"]:
        server.socket.close()
        os._exit(0)
    if command[:1] == ["await"]:
        return {"done": log.wait(command[1], command[2], int(command[3]))}
    if command == ["release"]:
        log.release()
        return {"done": True}
    return log.summary()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default=".")
    parser.add_argument("--tls")
    parser.add_argument("--expired", action="store_true", help="the certificate has ended")
    options = parser.parse_args()
    Handler.folder = options.folder
    server = Server(("127.0.0.1", 0), Handler)
    if options.tls:
        secure(server, options.tls, options.expired)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(line, server)), flush=True)
    os._exit(0)


main()
