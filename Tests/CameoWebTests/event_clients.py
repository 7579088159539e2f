"""Follows a server's events with real clients, through a proxy that cuts connections.

    event_clients.py URL    of a server with five changes in the queue `a`, three in another after them, a short keep-alive

Each client has to hand over whole messages alone, and to miss nothing, wherever it was cut. Prints `ok`.
"""
import asyncio
import collections
import http.client
import http.server
import json
import pathlib
import re
import sys
import tempfile
import threading
import urllib.parse

import aiohttp
import aiohttp_sse_client.client
import httpx
import httpx2
import httpx_sse
import openai
import requests
import requests_sse
import sseclient

from browser import Browser, Page

SERVER = urllib.parse.urlsplit(sys.argv[1]).netloc
# What a stream consists of, between comments: no block without data, nor a byte order mark, `retry` or carriage return.
BLOCK = rb'event: (job|cursor)\ndata: (\{.*\})\nid: 0-([0-9]+)\n\n'
STREAM = re.compile(rb"(?:: keep-alive\n|%s)*" % BLOCK)
WANTED, NEWEST = [1, 2, 3, 4, 5], 8


def isQuiet(stream):
    return stream.partition(b"id: 0-8\n")[2].count(b": keep-alive") >= 3


class Proxy(http.server.BaseHTTPRequestHandler):
    """`/FRAMING-CUT-NAME/events`: the first connection to a path ends after CUT bytes of the stream, or, if that is 0, once
    it has been quiet for long; the others go on until the client leaves. FRAMING is `chunked` or `plain`, as HTTP/1.0."""

    protocol_version = "HTTP/1.1"
    connections = collections.Counter()

    def log_message(self, *_):
        pass

    def do_GET(self):
        _, session, *path = self.path.split("/", 2)
        if not path:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        framing, cut, _ = session.split("-")
        self.connections[session] += 1
        # A client that misses something would begin again for ever.
        if self.connections[session] > 4:
            return self.send_error(404)
        end = int(cut) if self.connections[session] == 1 else None
        self.close_connection = True
        server = http.client.HTTPConnection(SERVER, timeout=60)
        names = ("Last-Event-ID", "Accept")
        server.request("GET", f"/{path[0]}", headers={name: self.headers[name] for name in names if self.headers[name]})
        answer = server.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header(*(("Transfer-Encoding", "chunked") if framing == "chunked" else ("Connection", "close")))
        self.end_headers()
        stream = b""
        try:
            while part := answer.read1(65536):
                if end:
                    part = part[: end - len(stream)]
                stream += part
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if framing == "chunked" else part)
                if end and len(stream) == end or end == 0 and isQuiet(stream):
                    break
        except ConnectionError:
            pass
        finally:
            server.close()
        if not end and not STREAM.fullmatch(stream):
            problems.append(f"not as described: {stream}")


def read_httpx_sse(url, headers):
    with httpx.Client(timeout=60) as client, httpx_sse.connect_sse(client, "GET", url, headers=headers) as source:
        for event in source.iter_sse():
            yield event.event, event.data, event.id


def read_httpx2(url, headers):
    with httpx2.Client(timeout=60) as client, client.sse(url, headers=headers) as source:
        for event in source:
            yield event.event, event.data, event.id


def read_openai(url, headers):
    """Parses the data itself, and does not tell names and ids."""
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=60) as client:
        options = {"headers": headers}
        for data in client.get("", cast_to=dict, stream=True, stream_cls=openai.Stream[dict], options=options):
            yield "job" if "job" in data else "cursor", json.dumps(data), str(data["cursor"])


def read_sseclient(url, headers):
    with requests.get(url, headers=headers, stream=True, timeout=60) as response:
        for event in sseclient.SSEClient(response).events():
            yield event.event, event.data, event.id


def read_requests_sse(url, headers):
    with requests_sse.EventSource(url, headers=headers, timeout=60, reconnection_time=NOW) as source:
        for event in source:
            yield event.type, event.data, event.last_event_id


def read_aiohttp(url, headers):
    async def next_event(source):
        return await anext(source)

    loop = asyncio.new_event_loop()
    session = loop.run_until_complete(aiohttp_session())
    source = aiohttp_sse_client.client.EventSource(url, session=session, headers=headers, reconnection_time=NOW)
    try:
        loop.run_until_complete(source.connect())
        while True:
            event = loop.run_until_complete(next_event(source))
            yield event.type, event.data, event.last_event_id
    finally:
        loop.run_until_complete(source.close())
        loop.run_until_complete(session.close())
        loop.close()


async def aiohttp_session():
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))


NOW = requests_sse.client.timedelta(0)
CLIENTS = [read_httpx_sse, read_httpx2, read_openai, read_sseclient, read_requests_sse, read_aiohttp]
CUT = (httpx.TransportError, httpx2.TransportError, openai.APIConnectionError, requests.RequestException)
CUT += (aiohttp.ClientPayloadError,)


def messages(read, session):
    """The messages of a client that connects again after the last id, until nothing can follow."""
    url, headers = f"{proxy}/{session}/events?since=0&queue=a", {}
    while True:
        try:
            for name, data, identifier in read(url, dict(headers)):
                yield name, data
                if identifier:
                    headers["Last-Event-ID"] = identifier
        except CUT:
            pass


def follow(read, session, isOver):
    jobs, cursors, spoilt = [], [], []
    for name, data in messages(read, session):
        try:
            cursor = json.loads(data)["cursor"]
        except ValueError:
            spoilt.append(data)
            # Half an event, which some clients deliver, and one of them before what comes next.
            if "plain" in session and data and len(spoilt) == 1:
                continue
            raise
        (jobs if name == "job" else cursors).append(cursor)
        if isOver(jobs, cursors):
            return jobs


def expect(client, session, jobs):
    if sorted(set(jobs)) != WANTED or "-0-" in session and jobs != WANTED:
        problems.append(f"{client}, {session}: {jobs}")


def follow_in_chromium(sessions):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            page = Page(browser)
            page.open(f"{proxy}/page")
            page.script("window.seen = {}")
            for session in sessions:
                page.script(
                    f"""(() => {{
                        const events = seen["{session}"] = {{ job: [], cursor: [], message: [] }};
                        const source = new EventSource("/{session}/events?since=0&queue=a");
                        for (const [name, list] of Object.entries(events))
                            source.addEventListener(name, (event) => list.push(JSON.parse(event.data).cursor));
                    }})()"""
                )
            page.wait(f"Object.values(seen).every((events) => events.cursor.filter((at) => at === {NEWEST}).length > 0)")
            page.wait(f"seen['{sessions[0]}'].cursor.filter((at) => at === {NEWEST}).length > 1")
            for session, events in page.script("seen").items():
                expect("Chromium", session, events["job"])
                if events["message"]:
                    problems.append(f"Chromium, {session}: {events}")
        finally:
            browser.close()


problems = []
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
proxy = f"http://127.0.0.1:{server.server_port}"
# The bytes of the stream up to the newest id.
stream = b""
upstream = http.client.HTTPConnection(SERVER, timeout=60)
upstream.request("GET", "/events?since=0&queue=a")
answer = upstream.getresponse()
while b"\nid: 0-8\n" not in stream:
    stream += answer.read1(65536)
upstream.close()
# Within the third event, and at its end.
start, end = [gap.end() for gap in re.finditer(rb"\n\n", stream)][1:3]
cuts = sorted({*range(start, end, 9), *range(end - 14, end + 1)})
for read in CLIENTS:
    name = read.__name__.removeprefix("read_")
    try:
        # Quiet, cut, and connected again: the newest cursor twice.
        expect(name, "chunked-0-", follow(read, f"chunked-0-{name}", lambda _, cursors: cursors.count(NEWEST) == 2))
        for framing in ("chunked", "plain"):
            for cut in cuts:
                session = f"{framing}-{cut}-{name}"
                expect(name, session, follow(read, session, lambda jobs, _: WANTED[-1] in jobs))
    except Exception as problem:
        problems.append(f"{name}: {problem!r}")
follow_in_chromium(
    ["chunked-0-chromium"] + [f"{framing}-{cut}-chromium" for framing in ("chunked", "plain") for cut in cuts[3::12][:2]]
)
print("\n".join(problems) or "ok")
