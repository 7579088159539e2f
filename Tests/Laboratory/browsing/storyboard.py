"""The page with a storyboard that the article Videos shows, over a real video."""

import functools
import http.server
import json
import re
import subprocess
import threading

COLORS = [[200, 30, 30], [30, 160, 30], [40, 40, 200], [200, 180, 30], [30, 170, 180], [170, 40, 170]]
# The colour of the tile that the page shows, at its corner.
TILE = """(async () => {
    const style = getComputedStyle(document.getElementById("tile"));
    const sheet = new Image();
    sheet.src = style.backgroundImage.slice(5, -2);
    await sheet.decode();
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.drawImage(sheet, ...style.backgroundPosition.split(" ").map(parseFloat));
    return [...canvas.getImageData(4, 4, 1, 1).data].slice(0, 3);
})()"""


class Film:
    """A video of a second in each colour, with the number of the second, its storyboard, and the page, on a server."""

    def __init__(self, bin, folder, environment):
        self.folder, self.bin = folder, bin
        self.environment = dict(environment, CAMEO_STORE=str(folder / "film-store"))
        colors = [f"color=0x{bytes(color).hex()}:s=640x360:r=10:d=1[c{i}]" for i, color in enumerate(COLORS)]
        names = "".join(f"[c{i}]" for i in range(len(COLORS)))
        counter = f"testsrc=s=320x180:r=10:d={len(COLORS)}[counter];[all][counter]overlay=160:90,format=yuv420p"
        graph = f"{';'.join(colors)};{names}concat=n={len(COLORS)}[all];{counter}"
        encode = ["-c:v", "libvpx", "-g", "10", folder / "holiday.webm"]
        subprocess.run(["ffmpeg", "-v", "error", "-filter_complex", graph, *encode], check=True)
        words = ["holiday.webm", "--size", "160x90:jpeg", "--storyboard", "3x2", "--json"]
        uri = json.loads(self.command("cameo-enqueue", *words))["thumbnails"][0]["uri"]
        self.command("cameo-worker", "--drain", "--allow-root", folder, "--log-level", "error")
        (folder / "sheet.jpg").write_bytes(self.command("cameo-status", "cat", uri))
        (folder / "sheet.vtt").write_bytes(self.command("cameo-status", "cat", uri, "--vtt", "sheet.jpg"))
        handler = functools.partial(Quiet, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def command(self, name, *words):
        return subprocess.run(
            [self.bin / name, *words], cwd=self.folder, env=self.environment, check=True, stdout=subprocess.PIPE
        ).stdout

    def write(self, article):
        example = re.search(r"```html\n(.*?)```", article.read_text(), re.DOTALL).group(1)
        page = example.replace("holiday.mp4", "holiday.webm")
        (self.folder / "page.html").write_text(f"<!doctype html><title>Film</title><link rel=icon href=data:,>{page}")
        return f"http://127.0.0.1:{self.server.server_port}/page.html"


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".vtt": "text/vtt", ".jpg": "image/jpeg", ".webm": "video/webm"}

    def log_message(self, *words):
        pass


def check(page, film, article, take):
    """Moves the pointer over each second, and expects the tile of its colour."""
    page.open(film.write(article))
    page.wait(f"document.querySelector('track').track.cues?.length === {len(COLORS)}")
    page.wait("document.querySelector('video').duration > 5.9")
    left, top, width, height = page.script(
        "(({ x, y, width, height }) => [x, y, width, height])(document.querySelector('video').getBoundingClientRect())"
    )
    for second, color in enumerate(COLORS):
        x = left + width * (second + 0.5) / len(COLORS)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=top + height - 20)
        page.wait("document.getElementById('tile').style.backgroundImage !== ''")
        found = page.script(TILE)
        if any(abs(one - other) > 20 for one, other in zip(found, color)):
            raise AssertionError(f"the tile of second {second} is {found}, not {color}")
        take(page, second)
    if page.errors:
        raise AssertionError(f"console: {page.errors}")
