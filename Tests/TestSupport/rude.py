"""Servers that break HTTP, each on a port of its own on 127.0.0.1, for tests. Python 3, standard library only.

It prints one line of JSON with the port of each behaviour, then answers every line of standard input with one that has the
bytes that each has sent; at the end of its input it exits, so it never outlives the test process.
"""

import json
import os
import socket
import sys
import threading
import time

HEAD = b"HTTP/1.1 200 OK\r\n"
BODY = b"hello, picture"
COUNT = b"Content-Length: 14\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def for_ever(text):
    """Some 64 KiB of it at a time."""
    block = text * max(1, 65_536 // len(text))
    while True:
        yield block
        time.sleep(0.01)  # others need the processor too


def slowly(text):
    for byte in text:
        yield bytes([byte])
        time.sleep(0.5)


def after_head(*parts):
    """A head, then what never ends."""
    yield parts[0]
    yield from parts[1]


# What is sent, by behaviour: bytes, or parts one after the other.
ANSWERS = {
    # Content-Length
    "length-too-large": HEAD + b"Content-Length: 15\r\n\r\n" + BODY,
    "lengths-that-differ": HEAD + COUNT + b"Content-Length: 13\r\n\r\n" + BODY,
    "lengths-in-one-line": HEAD + b"Content-Length: 14, 13\r\n\r\n" + BODY,
    "length-negative": HEAD + b"Content-Length: -14\r\n\r\n" + BODY,
    "length-hexadecimal": HEAD + b"Content-Length: 0xE\r\n\r\n" + BODY,
    "length-beyond-numbers": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n" + BODY,
    # Chunks
    "chunk-no-number": HEAD + CHUNKED + b"zz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk-negative": HEAD + CHUNKED + b"-1\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk-beyond-numbers": HEAD + CHUNKED + b"ffffffffffffffffff\r\n" + BODY,
    "chunk-too-short": HEAD + CHUNKED + b"5\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk-cut-off": HEAD + CHUNKED + b"e\r\nhello",
    "chunks-without-end": HEAD + CHUNKED + b"e\r\n" + BODY + b"\r\n",
    "chunk-size-without-end": lambda: after_head(HEAD + CHUNKED, for_ever(b"0")),
    "chunk-extension-without-end": lambda: after_head(HEAD + CHUNKED + b"1;", for_ever(b"x")),
    "chunks-of-one-byte-without-end": lambda: after_head(HEAD + CHUNKED, for_ever(b"1\r\nx\r\n")),
    "trailers-without-end": lambda: after_head(HEAD + CHUNKED + b"0\r\n", for_ever(b"X-Trailer: x\r\n")),
    # Heads
    "informational-without-end": lambda: for_ever(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"),
    "continue-without-end": lambda: for_ever(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "switching-protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + BODY,
    "ten-megabytes-of-headers": [HEAD] + [b"X-Flood: " + b"x" * 8_000 + b"\r\n"] * 1_300 + [COUNT + b"\r\n" + BODY],
    "header-of-ten-megabytes": [HEAD + b"X-Flood: "] + [b"x" * 65_536] * 160 + [b"\r\n" + COUNT + b"\r\n" + BODY],
    "header-with-nul": HEAD + b"X-A: a\0b\r\n" + COUNT + b"\r\n" + BODY,
    "header-without-colon": HEAD + b"what is this\r\n" + COUNT + b"\r\n" + BODY,
    "status-of-five-digits": b"HTTP/1.1 20000 OK\r\n" + COUNT + b"\r\n" + BODY,
    "status-of-letters": b"HTTP/1.1 two OK\r\n" + COUNT + b"\r\n" + BODY,
    "status-line-without-end": lambda: after_head(b"HTTP/1.1 200 ", for_ever(b"O")),
    "version-9": b"HTTP/9.9 200 OK\r\n" + COUNT + b"\r\n" + BODY,
    "http-0.9": BODY,
    "ftp-greeting": b"220 welcome to this server\r\n",
    "binary-noise": bytes(range(256)) * 64,
    "slow-head": lambda: slowly(HEAD + COUNT + b"\r\n" + BODY),
    "slow-body": lambda: after_head(HEAD + COUNT + b"\r\n", slowly(BODY)),
    "nothing": b"",
    # What is odd, but a picture arrives
    "length-too-small": HEAD + b"Content-Length: 5\r\n\r\n" + BODY,
    "length-twice-the-same": HEAD + COUNT + COUNT + b"\r\n" + BODY,
    "length-and-chunks": HEAD + b"Content-Length: 3\r\n" + CHUNKED + b"e\r\n" + BODY + b"\r\n0\r\n\r\n",
    "no-length": HEAD + b"\r\n" + BODY,
    "bare-line-feeds": b"HTTP/1.1 200 OK\nContent-Length: 14\n\n" + BODY,
    "some-informational": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 5 + HEAD + COUNT + b"\r\n" + BODY,
    "answer-before-the-request": HEAD + COUNT + b"\r\n" + BODY,
}
# These do not wait for the request.
EAGER = {"answer-before-the-request", "ftp-greeting"}
sent = dict.fromkeys(ANSWERS, 0)


def serve(name, listener):
    while True:
        connection = listener.accept()[0]
        threading.Thread(target=answer, args=(name, connection), daemon=True).start()


def answer(name, connection):
    parts = ANSWERS[name]
    parts = parts() if callable(parts) else parts if isinstance(parts, list) else [parts]
    try:
        with connection:
            if name not in EAGER:
                request = b""
                while b"\r\n\r\n" not in request:
                    part = connection.recv(65_536)
                    if not part:
                        return
                    request += part
            for part in parts:
                connection.sendall(part)
                sent[name] += len(part)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):  # else what is unread resets the connection, and the answer is lost
                pass
    except OSError:
        pass


def main():
    ports = {}
    for name in ANSWERS:
        listener = socket.create_server(("127.0.0.1", 0))
        ports[name] = listener.getsockname()[1]
        threading.Thread(target=serve, args=(name, listener), daemon=True).start()
    print(json.dumps(ports), flush=True)
    for _ in sys.stdin:
        print(json.dumps(sent), flush=True)
    os._exit(0)


main()
