"""The part of EC2's instance metadata service (version 2) that gives out the credentials of a machine's role.

    metadata_service.py KEY SECRET TOKEN SECONDS

Credentials end SECONDS after they were asked for. Prints {"port": …}, and ends with its input. A line of input is answered
by the number of credentials given out.
"""

import datetime
import http.server
import json
import sys
import threading

key, secret, token, seconds = sys.argv[1:]
roles = "/latest/meta-data/iam/security-credentials/"
given = 0


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def reply(self, status, text=""):
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        if self.path != "/latest/api/token" or not self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
            return self.reply(400)
        self.reply(200, "session")

    def do_GET(self):
        global given
        if self.headers.get("X-aws-ec2-metadata-token") != "session":
            return self.reply(401)
        if self.path == roles:
            return self.reply(200, "thumbnails\n")
        if self.path != roles + "thumbnails":
            return self.reply(404)
        given += 1
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=float(seconds))
        self.reply(200, json.dumps({
            "Code": "Success", "LastUpdated": "2020-01-01T00:00:00Z", "Type": "AWS-HMAC", "AccessKeyId": key,
            "SecretAccessKey": secret, "Token": token, "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}))


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    for _ in sys.stdin:
        print(given, flush=True)


main()
