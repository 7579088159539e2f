"""A proxy on 127.0.0.1 before a real HTTP server, which misbehaves on request.

    faulty_proxy.py PORT

forwards to 127.0.0.1:PORT, prints {"port": …}, and ends with its input. Each line of input is a command, answered by a
line:

    {"do": …, "count": N, "method": M, "contains": TEXT}   the next N requests of this method whose target contains the text
        "answer" with "status", "code", "headers"          are answered with an error of S3, and not forwarded
        "stall"                                            are read and never answered
        "lose"                                             are forwarded, and their answer is lost
        "cut" with "bytes"                                 get so many bytes of the answer's body
        "replace" with "body", "headers"                   are forwarded, and answered 200 with this body
        "code" with "codings"                              are forwarded, and what succeeds is coded so, gzip or
                                                           deflate, one after the other; of others, the name is sent
    {"ask": "requests"}                                    the requests so far, as [method, target]
    {"ask": "sent"}                                        the requests so far, with their headers and short bodies
    {"ask": "connections"}                                 the number of connections so far
"""

import gzip
import http.client
import http.server
import json
import sys
import threading
import zlib

lock = threading.Lock()
rules, requests, sent = [], [], []
connections = 0
ended = threading.Event()
CODINGS = {"gzip": gzip.compress, "deflate": zlib.compress}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def process_request(self, request, address):
        global connections
        with lock:
            connections += 1
        super().process_request(request, address)

    def handle_error(self, request, address):
        pass  # a client that hangs up


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with lock:
            requests.append([self.command, self.path])
            sent.append({"method": self.command, "headers": {n.lower(): v for n, v in self.headers.items()},
                         "body": body.decode("latin-1") if len(body) < 4096 else ""})
            rule = next((r for r in rules if r["count"] > 0 and r.get("method") in (None, self.command)
                         and r.get("contains", "") in self.path), None)
            if rule:
                rule["count"] -= 1
        kind = rule["do"] if rule else None
        if kind == "answer":
            text = f"<?xml version='1.0' encoding='UTF-8'?>\n<Error><Code>{rule['code']}</Code><Message>made for a test" \
                   f"</Message></Error>"
            return self.reply(rule["status"], list(rule.get("headers", {}).items()), text.encode())
        if kind == "stall":
            ended.wait()
            return
        upstream = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("expect", "connection"):
                upstream.putheader(name, value)
        upstream.endheaders(body if body else None)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        if kind == "lose":
            self.close_connection = True
            return
        if kind == "replace":
            named = rule.get("headers") or {"Content-Type": "application/xml"}
            return self.reply(200, list(named.items()), rule["body"].encode())
        headers = [(n, v) for n, v in answer.getheaders()
                   if n.lower() not in ("connection", "transfer-encoding", "content-length", "keep-alive")]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        if kind == "code" and answer.status < 300:
            for coding in rule["codings"]:
                content = CODINGS.get(coding, bytes)(content)
            length = str(len(content))
            headers.append(("Content-Encoding", ", ".join(rule["codings"])))
        self.reply(answer.status, headers, content, length, rule["bytes"] if kind == "cut" else None)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def reply(self, status, headers, body, length=None, cut=None):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True


def main():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        with lock:
            if command.get("ask") == "requests":
                answer = requests
            elif command.get("ask") == "sent":
                answer = sent
            elif command.get("ask") == "connections":
                answer = connections
            else:
                rules.append(command)
                answer = True
            print(json.dumps(answer), flush=True)


main()
