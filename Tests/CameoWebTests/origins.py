"""Reads a server of Cameo from a page of another origin, in Chromium: origins.py PORT SERVER ID MARKUP

The page stands at this port of 127.0.0.1, and again at localhost, which is another origin. It holds MARKUP, an <img> of the
thumbnail ID. Prints as JSON what each could do.
"""
import http.server
import json
import sys
import tempfile
import threading

from browser import Browser, Page

PORT, SERVER, ID, MARKUP = sys.argv[1:]
LOOK = """(async () => {
    const shown = document.images[0];
    await shown.decode().catch(() => {});
    const [entry] = performance.getEntriesByName(shown.currentSrc);
    const seen = { shown: shown.naturalWidth, height: shown.clientHeight, timed: (entry?.responseStart ?? 0) > 0 };
    const reading = async (name, path, options) => {
        seen[name] = await fetch(`SERVER/${path}`, options)
            .then(async (answer) => [answer.status, answer.headers.get("ETag") !== null, (await answer.blob()).size > 0],
                () => "refused");
    };
    await reading("thumbnail", "thumb/ID");
    await reading("again", "thumb/ID");
    await reading("known", "thumb/ID", { headers: { "If-None-Match": (await fetch("SERVER/thumb/ID")
        .then((answer) => answer.headers.get("ETag"), () => "")) } });
    await reading("missing", "thumb/" + "0".repeat(32));
    await reading("problem", "thumb/nonsense");
    await reading("locked", "status");
    const token = { Authorization: "Bearer page-0123456789abcdef" };
    await reading("unlocked", "status", { headers: token });
    await reading("cancelled", "jobs/1/cancel", { method: "POST", headers: token });
    await reading("cookies", "thumb/ID", { credentials: "include" });
    const image = Object.assign(new Image(), { crossOrigin: "anonymous", src: "SERVER/thumb/ID" });
    seen.pixels = await image.decode().then(() => {
        const canvas = new OffscreenCanvas(1, 1).getContext("2d");
        canvas.drawImage(image, 0, 0);
        return canvas.getImageData(0, 0, 1, 1).data.length;
    }).catch(() => "refused");
    return seen;
})()""".replace("SERVER", SERVER).replace("ID", ID)


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        # With it, a page shows only what says that it may be shown.
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>x</title>{MARKUP}".encode())

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Pages)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile)
    try:
        seen = {}
        for host in ("127.0.0.1", "localhost"):
            page = Page(browser)
            page.open(f"http://{host}:{PORT}/")
            seen[host] = page.script(LOOK)
        print(json.dumps(seen))
    finally:
        browser.close()
