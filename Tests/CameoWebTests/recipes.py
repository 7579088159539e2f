"""Runs a proxy as the article says, before a running server, and looks through it with Chromium.

    recipes.py PROGRAM RECIPE FOLDER PICTURE    PROGRAM: nginx or caddy; PICTURE: larger than a mebibyte

FOLDER has the server's socket, whose token and key are the test's, and its process in `server.pid`. Prints `ok`.
"""
import hashlib
import hmac
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from browser import Browser, Page

TOKEN, KEY = "0123456789abcdef", b"0123456789abcdef"
program, recipe, folder, picture = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
end = time.monotonic() + 120
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
base = f"http://localhost:{port}/cameo"
recipe = recipe.replace("/run/cameo-web/pictures/socket", str(folder / "socket"))
if program == "nginx":
    recipe = recipe.replace("/var/cache/nginx/cameo", str(folder / "cache"))
    http = [line for line in recipe.splitlines() if line.startswith("proxy_cache_path")]
    server = [line for line in recipe.splitlines() if line not in http]
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    lines = ["daemon off;", f"pid {folder}/nginx.pid;", f"error_log {folder}/proxy.log;", "events {}", "http {"]
    # Its workers give up root's rights, without which they cannot reach the folder.
    lines[:0] = ["user root;"] if os.geteuid() == 0 else []
    lines += ["access_log off;"] + [f"{name}_temp_path {folder}/{name};" for name in names]
    lines += [*http, "server {", f"listen 127.0.0.1:{port};", *server, "}", "}"]
    configuration, options = folder / "nginx.conf", ["-c"]
else:
    lines = ["{", "admin off", "}", recipe.replace("pictures.example.com", f"http://localhost:{port}")]
    configuration, options = folder / "Caddyfile", ["run", "--adapter", "caddyfile", "--config"]
configuration.write_text("\n".join(lines) + "\n")


def load(url, body=None, **headers):
    """Status, header fields and body, as soon as the proxy listens."""
    while True:
        request = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()
        except urllib.error.URLError:
            if time.monotonic() > end or proxy.poll() is not None:
                raise


def shows(page, urls):
    """Whether each is a picture, in an `img` of the page."""
    page.script(
        f"document.body.replaceChildren(...{json.dumps(urls)}.map((src) => Object.assign(new Image(), {{ src }})))"
    )
    page.wait("[...document.images].every((image) => image.complete)")
    return page.script("[...document.images].map((image) => image.naturalWidth > 1)")


path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
environment = dict(os.environ, HOME=str(folder))
proxy = subprocess.Popen([path, *options, configuration], env=environment, stdout=2)
browser = None
try:
    authority = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "image/jpeg"}
    status, _, body = load(f"{base}/jobs?size=96x96:cover", picture.read_bytes(), **authority)
    assert status == 201, (status, body)
    thumbnail = json.loads(body)["thumbnails"][0]["url"]
    source = "initials:A/B"
    signature = hmac.new(KEY, f"64x64\n{source}\n".encode(), hashlib.sha256).hexdigest()
    made = f"/cameo/make/64x64/{urllib.parse.quote(source, safe='')}?sig={signature}"
    urls = [f"http://localhost:{port}{url}" for url in (thumbnail, made)]
    for url in urls:
        while load(url + ("&" if "?" in url else "?") + "wait=30s")[0] == 202:
            assert time.monotonic() < end
    urls += [urls[0].replace("/thumb/", "/placeholder/")]
    browser = Browser(folder / "profile")
    page = Page(browser)
    page.open(f"{base}/")
    page.script(
        f"document.getElementById('token').value = '{TOKEN}';"
        "document.getElementById('token-form').requestSubmit()"
    )
    pictures = "[...document.querySelectorAll('#recent img')]"
    page.wait(f"{pictures}.length === 2 && {pictures}.every((one) => one.complete && one.naturalWidth > 1)")
    assert shows(page, urls) == [True] * 3
    if "X-Cache-Status" in recipe:
        whole = load(urls[0])[2]
        # The server's pictures are fresh for a second, and then served while newer ones are asked for.
        while (answer := load(urls[0]))[1]["X-Cache-Status"] not in ("STALE", "UPDATING"):
            assert answer[0] == 200 and time.monotonic() < end
        assert answer[2] == whole
        server = int((folder / "server.pid").read_text())
        os.kill(server, signal.SIGTERM)
        while load(f"{base}/health/live")[0] == 200:
            assert time.monotonic() < end
        page = Page(browser)
        page.open(urls[0])
        assert shows(page, urls) == [True] * 3
    print("ok", flush=True)
finally:
    if browser:
        browser.close()
    proxy.terminate()
    proxy.wait()
    if (folder / "proxy.log").exists():
        sys.stderr.write((folder / "proxy.log").read_text())
