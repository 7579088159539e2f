"""deploy/check-dashboard [--screenshots FOLDER] [--bin FOLDER]

Checks the dashboard of cameo-web in a real browser, headless Chromium: signing in and out, pages with addresses, keys;
it updates live while a worker runs; the grid of pictures and the large view, storyboards; dropped, pasted and chosen
pictures become visible thumbnails; changes work with a token that allows them and are absent without; long lists, jobs'
stories, a batch, polling where events do not pass, graphs of the last hour, what it says of dead workers and a stopped
server. At 390 and 1440 pixels, light and dark: nothing sticks out, is cut or out of line, lists begin on the first screen,
and axe-core finds nothing serious; the page that `cameo-status sheet` writes fills them. No error in the console, no
request to another origin. And the page with a storyboard that the article Videos shows: the tile under the pointer is of
the right moment.

Sets up and builds what is missing: Chromium from Debian's packages, axe-core from a PyPI package (with pip; without it,
that check is skipped by name). Exits with 1 if a check failed.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

from browsing import storyboard
from browsing.browser import Browser, Page

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

OPERATOR, READER = "operator-0123456789abcdef", "reader-0123456789abcdef"
# A name that would show if it were ever taken for markup.
HOSTILE = "<img src=x onerror=document.title='hacked'>.jpg"
SIZES = [(390, 844), (1440, 900)]
AXE = "axe-playwright-python==0.1.8"
BULK = 70
PAGES = ["overview", "pictures", "jobs", "batches", "queues", "workers", "failures"]


class Checks:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0

    def run(self, name, body, *arguments):
        try:
            body(*arguments)
        except (RuntimeError, AssertionError) as problem:
            self.failed += 1
            print(f"FAILED  {name}: {problem}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {name}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped {name}: {why}", flush=True)


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


class Scene:
    """A store, a server on it, and a worker when the time has come."""

    def __init__(self, bin, folder):
        self.bin, self.folder = bin, folder
        self.processes = []
        self.environment = dict(os.environ, CAMEO_STORE=str(folder / "store"))
        (folder / "tokens").write_text(f"alice read,enqueue,operate {OPERATOR}\nbob read {READER}\n")
        pictures = folder / "pictures"
        pictures.mkdir()
        self.pictures = pictures
        for index in range(4):
            self.vips("gaussnoise", pictures / "noise.v", "320", str(200 + 40 * index), "--seed", str(index))
            self.vips("gaussblur", pictures / "noise.v", pictures / f"cloud {index}.jpg", "6")
        self.enqueue("--batch", "album", "--size", "200x200:cover", *sorted(pictures.glob("cloud*.jpg")))
        (pictures / "broken.jpg").write_text("no picture")
        (pictures / HOSTILE).write_text("no picture")
        self.enqueue("--batch", "<b>broken</b>", pictures / "broken.jpg", pictures / HOSTILE)
        lines = "\n".join(f"initials:Job%20{index}" for index in range(BULK))
        self.enqueue("--queue", "bulk", "--batch", "initials", "--size", "64x64", "-", input=lines)

    def vips(self, *words):
        subprocess.run(["vips", *map(str, words)], check=True)

    def enqueue(self, *words, input=None):
        command = [self.bin / "cameo-enqueue", *words]
        subprocess.run(command, env=self.environment, check=True, stdout=subprocess.DEVNULL, text=True, input=input)

    def admin(self, *words):
        subprocess.run([self.bin / "cameo-admin", *words], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def start(self, *command, **options):
        process = subprocess.Popen([self.bin / command[0], *command[1:]], env=self.environment, **options)
        self.processes.append(process)
        return process

    def serve(self):
        self.server = self.start(
            "cameo-web",
            "--listen",
            "127.0.0.1:0",
            "--tokens",
            self.folder / "tokens",
            "--log-level",
            "error",
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = re.search(r"http://\S+", self.server.stdout.readline()).group().rstrip("/") + "/"

    def work(self):
        self.worker = self.start("cameo-worker", "--allow-root", self.pictures, "--log-level", "critical")

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()


# ----------------------------------------------------------------------------------------------------- the page's parts


def enter(page, token):
    page.script(f"$('token').value = '{token}'; $('token-form').requestSubmit()")
    page.wait("$('states').children.length === 7")


def load(page, url):
    page.call("Page.addScriptToEvaluateOnNewDocument", source="var $ = (id) => document.getElementById(id)")
    page.open(url)


def go(page, address):
    """Follows an address, and waits until its page is shown."""
    name = address.split("?")[0].split("/")[0]
    page.script(f"location.hash = {json.dumps('#' + address)}")
    page.wait(f"!$('{name}-page').hidden")


def count(state):
    tile = f"[...$('states').children].find((tile) => tile.textContent.endsWith('{state}'))"
    return f"Number({tile}.querySelector('strong').textContent)"


def shown(id):
    pictures = f"[...document.querySelectorAll('#{id} img')]"
    return f"{pictures}.filter((image) => image.complete && image.naturalWidth > 1).length"


def press_button(page, label):
    """Presses the button whose name or label this is."""
    page.wait(
        f"(() => {{ const found = [...document.querySelectorAll('button')].find((one) => "
        f"(one.ariaLabel ?? one.textContent) === {json.dumps(label)}); found?.click(); return !!found; }})()"
    )


def files(name, path):
    """A DataTransfer with one file, as dropping and pasting give it."""
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f"(() => {{ const data = new DataTransfer(); data.items.add(new File([Uint8Array.from(atob('{data}'), "
        f"(one) => one.charCodeAt(0))], {json.dumps(name)}, {{ type: 'image/jpeg' }})); return data; }})()"
    )


# --------------------------------------------------------------------------------------------------------------- checks


def asks_for_token(page):
    page.wait("!$('sign-in-page').hidden && document.activeElement === $('token')")
    expect(page.script("document.querySelectorAll('#states li').length"), 0, "states")
    expect(page.script("document.querySelectorAll('section.page:not([hidden])').length"), 0, "pages shown")


def signs_in_and_out(browser, scene):
    page = Page(browser)
    load(page, scene.url)
    page.wait("!$('sign-in-page').hidden")
    page.script("$('token').value = 'wrong-0123456789abcdef'; $('token-form').requestSubmit()")
    page.wait("/does not know the token/.test($('sign-in-problem').textContent)")
    # A link that carries the token opens the page, and the token leaves the address.
    page.script(f"location.hash = '#token={READER}'")
    page.wait("$('states').children.length === 7 && $('account-name').textContent === 'bob'")
    if READER in page.script("location.href"):
        raise AssertionError("the token is in the address")
    kept = page.script("document.cookie + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)")
    if READER in kept:
        raise AssertionError("scripts can read the token")
    # Another tab need not ask, and another port's page is not let in by the cookie.
    tab = Page(browser, beside=page)
    load(tab, scene.url + "#queues")
    tab.wait("$('states').children.length === 7 && !$('queues-page').hidden")
    tab.script("$('sign-out').click()")
    tab.wait("!$('sign-in-page')?.hidden")
    load(page, scene.url)
    page.wait("!$('sign-in-page').hidden")


def has_pages_with_addresses(page):
    load(page, page.script("location.href").split("#")[0] + "#jobs?state=completed")
    page.wait("!$('jobs-page').hidden && $('filter-state').value === 'completed' && scrollY === 0")
    for name in PAGES:
        go(page, name)
        expect(page.script("document.querySelectorAll('section.page:not([hidden])').length"), 1, f"{name}: pages shown")
        current = page.script("document.querySelector('nav [aria-current=page]').dataset.key")
        expect(current, name, "the current page")
        page.wait(f"document.title.toLowerCase().includes('{name} · cameo')")
    page.wait(f"document.title.startsWith('({BULK + 6}) ')")
    page.script("history.back()")
    page.wait("location.hash === '#workers' && !$('workers-page').hidden")
    page.script("history.back()")
    page.wait("!$('queues-page').hidden")
    page.script("history.forward()")
    page.wait("!$('workers-page').hidden")


def obeys_keys(page):
    go(page, "jobs")
    page.wait("$('job-list').children.length > 2")
    page.script("document.activeElement.blur()")
    focused = "[...$('job-list').children].findIndex((one) => one.contains(document.activeElement))"
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        page.press(key, ord(key.upper()))
        expect(page.script(focused), place, f"entry after {key}")
    page.press("/", 191)
    expect(page.script("document.activeElement.id"), "filter-source", "field to search")
    page.script("document.activeElement.blur()")
    page.press("?", 191)
    page.wait("$('keys').open && $('key-list').children.length > 5")
    page.press("Escape", 27)
    page.wait("!$('keys').open")
    page.press("5", 53)
    page.wait("!$('queues-page').hidden")


def says_what_to_do(page):
    go(page, "overview")
    page.wait("/No worker runs.*cameo-worker --store/.test($('advice').textContent)")


def reads_without_changes(page):
    enter(page, READER)
    go(page, "jobs")
    page.wait("$('job-list').children.length > 0")
    changes = (
        "[...document.querySelectorAll('main :is(button, input[type=checkbox])')].filter((one) => one.offsetParent &&"
        " !/^(Search|Older jobs|Older batches|Print)$/.test(one.textContent)).length"
    )
    for name in PAGES + ["batch/album"]:
        go(page, name)
        expect(page.script(changes), 0, f"buttons of a reader on {name}")
    expect(page.script("$('health').textContent"), "no worker runs", "health")


def updates_live(page, scene):
    page.wait("$('mode').textContent === 'live'")
    expect(page.script(count("available")), BULK + 6, "available")
    page.script(
        "window.seen = new Set(); new MutationObserver(() => seen.add($('summary').textContent))"
        ".observe($('summary'), { subtree: true, childList: true, characterData: true })"
    )
    # As slow as pictures are, so that the page looks while there is work.
    scene.admin("queue", "bulk", "--rate", "20/s")
    scene.work()
    page.wait(f"{count('completed')} === {BULK + 4}", 120)
    scene.admin("queue", "bulk", "--rate", "none")
    page.wait(f"{count('discarded')} === 2")
    if page.script("seen.size") < 2:
        raise AssertionError("the summary did not change while the worker ran")
    page.wait("document.querySelector('#worker-list .pill')?.textContent === 'alive'")
    page.wait("$('health').textContent === 'idle' && $('advice').children.length === 0")
    page.wait("document.querySelector('#backlog path').getAttribute('d').split('L').length > 1")
    page.wait(f"{shown('recent')} > 0")
    go(page, "batches")
    page.wait("$('batch-list').textContent.includes('album')")


def takes_no_text_for_markup(page):
    go(page, "failures")
    page.wait("/Replace the picture/.test($('failure-list').textContent)")
    page.script("location.hash = '#jobs?batch=%3Cb%3Ebroken%3C/b%3E'")
    page.wait(f"$('job-list').textContent.includes({json.dumps(HOSTILE)})")
    expect(page.script("document.querySelectorAll('b, img[src=x]').length"), 0, "elements made of text")
    page.wait("document.title.endsWith('Cameo')")
    page.wait("$('job-list').textContent.includes('image.unsupportedFormat')")


def lists_page_by_page(page):
    page.script("location.hash = '#jobs?queue=bulk'")
    page.wait(
        "$('job-list').children.length === 25"
        " && [...$('job-list').children].every((one) => /bulk/.test(one.textContent))"
    )
    press_button(page, "Older jobs")
    page.wait("$('job-list').children.length === 50")
    press_button(page, "Older jobs")
    page.wait(f"$('job-list').children.length === {BULK}")
    page.script("location.hash = '#jobs?source=initials:Job%252042'")
    page.wait("$('job-list').children.length === 1")


def shows_pictures(page):
    load(page, page.script("location.href").split("#")[0] + "#pictures?batch=album")
    page.wait("$('picture-list').children.length === 4 && $('picture-batch').value === 'album'")
    page.wait("$('pictures-count').textContent === '4 pictures'")
    # The grid of all is endless.
    go(page, "pictures")
    page.wait("$('picture-list').children.length === 60")
    page.script("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait(f"$('picture-list').children.length === {BULK + 4}")
    sources = page.script("[...$('picture-list').children].map((one) => one.dataset.key)")
    # Looking at them is no use of them, so that they stay in the order in which they were made.
    known = page.script(
        "fetch('thumbs?each=source&limit=200').then((answer) => answer.json())"
        ".then(({ thumbnails }) => thumbnails.map(({ source, updatedAt }) => [source, updatedAt]))"
    )
    expect(sources, [source for source, _ in sorted(known, key=lambda one: one[1], reverse=True)], "order")
    page.script("$('picture-search').value = 'Cloud 2'")
    page.script("$('picture-search').dispatchEvent(new Event('change', { bubbles: true }))")
    page.wait("location.hash === '#pictures?search=Cloud+2' && $('picture-list').children.length === 1")
    go(page, "pictures?label=none")
    page.wait("!$('no-picture-list').hidden && $('no-picture-list').textContent === 'No picture matches.'")


def forgets_a_picture(page):
    go(page, "pictures?label=user:42")
    page.wait("$('picture-list').children.length === 1")
    page.script("document.querySelector('#picture-list a').click()")
    page.wait(f"{shown('lightbox-view')} === 1")
    path = page.script("document.querySelector('#lightbox-view img').getAttribute('src')")
    page.script("[...document.querySelectorAll('.copying button')].find((one) => /^Forget/.test(one.textContent)).click()")
    page.wait("!$('lightbox').open && /^[0-9]+ thumbnails forgotten/.test($('notice').textContent)")
    page.wait("$('picture-list').children.length === 0")
    expect(page.script(f"fetch('{path}', {{ cache: 'no-store' }}).then((answer) => answer.status)"), 410, path)


def shows_pictures_without_jobs(page, scene):
    sizes = ("--size", "50x50", "--size", "90x90")
    scene.enqueue("--label", "user:42", "--batch", "kept", *sizes, scene.pictures / "cloud 1.jpg")
    go(page, "pictures?label=user:42")
    page.wait("$('picture-list').children.length === 1")
    page.wait("fetch('batches/kept').then((answer) => answer.json()).then((batch) => batch.finished === 1)")
    scene.admin("prune", "--keep", "completed=0s,cancelled=0s,discarded=0s")
    page.wait("fetch('jobs?limit=1').then((answer) => answer.json()).then(({ jobs }) => jobs.length === 0)")
    load(page, scene.url + "#pictures?label=user:42")
    page.wait("$('picture-list').children.length === 1 && $('pictures-count').textContent === '1 picture'")
    page.script("document.querySelector('#picture-list a').click()")
    page.wait(f"{shown('lightbox-view')} === 1 && document.querySelectorAll('.renditions li').length === 6")
    expect(page.script("/ job /.test($('lightbox-body').textContent)"), False, "a link to a job that is gone")
    page.wait("[...document.querySelectorAll('#lightbox-body a')].some((one) => one.textContent === 'user:42')")
    page.press("Escape", 27)
    go(page, "batch/kept")
    page.wait("$('batch-pictures').children.length === 1 && /jobs.*were removed/.test($('batch-facts').textContent)")
    href = page.script("document.querySelector('#batch-facts a[download]').getAttribute('href')")
    expect(page.script(f"fetch('{href}').then((answer) => answer.text()).then((text) => text.slice(0, 2))"), "PK", href)


def shows_a_picture_large(page):
    go(page, "pictures?batch=album")
    page.wait("$('picture-list').children.length === 4")
    names = page.script("[...document.querySelectorAll('#picture-list a')].map((one) => one.textContent)")
    expect(sorted(names), [f"cloud {index}.jpg" for index in range(4)], "names")
    page.script("document.querySelector('#picture-list a').focus()")
    page.press("Enter", 13)
    page.wait(f"$('lightbox').open && $('lightbox-title').textContent === '{names[0]}'")
    page.wait(f"{shown('lightbox-view')} === 1")
    page.wait("/200.×.200.webp, .* of the original/.test(document.querySelector('.renditions').textContent)")
    for key, name in (("Right", names[1]), ("Right", names[2]), ("Left", names[1])):
        page.press(f"Arrow{key}", {"Left": 37, "Right": 39}[key])
        page.wait(f"$('lightbox-title').textContent === '{name}'")
    copied = page.script("[...document.querySelectorAll('.copying button')].map((one) => one.title)")
    if not (
        re.fullmatch(r"cameo://thumb/[0-9a-f]{32}", copied[0])
        and re.fullmatch(re.escape(page.script("location.origin")) + r"/thumb/[0-9a-f]{32}", copied[1])
        and re.fullmatch(
            rf'<img src="{re.escape(copied[1])}" width="200" height="200" loading="lazy" alt="" style="max-width: 100%; '
            r'height: auto; background: #[0-9a-f]{6} url\(http://[^ ]*/placeholder/[0-9a-f]{32}\) 0 0 / 100% 100%">',
            copied[2],
        )
    ):
        raise AssertionError(f"to copy: {copied}")
    press_button(page, "Copy URI")
    page.wait("/^Copied cameo:/.test($('lightbox-notice').textContent)")
    page.press("Escape", 27)
    page.wait("!$('lightbox').open && location.hash === '#pictures?batch=album'")
    page.script("history.forward()")
    page.wait(f"$('lightbox').open && $('lightbox-title').textContent === '{names[1]}'")
    page.script("history.back()")
    page.wait("!$('lightbox').open")


def shows_a_batch(page):
    go(page, "batch/album")
    page.wait("$('batch-pictures').children.length === 4 && /4 of 4 · finished/.test($('batch-facts').textContent)")
    href = page.script("document.querySelector('#batch-facts a[download]').getAttribute('href')")
    expect(page.script(f"fetch('{href}').then((answer) => answer.text()).then((text) => text.slice(0, 2))"), "PK", href)
    go(page, "batch/%3Cb%3Ebroken%3C%2Fb%3E")
    page.wait("/2 discarded/.test($('batch-facts').textContent) && $('batch-heading').textContent === '<b>broken</b>'")
    page.wait("/image.unsupportedFormat.*Replace the picture/.test($('batch-facts').textContent)")


def tells_a_jobs_story(page):
    page.script("location.hash = '#jobs?batch=album'")
    page.wait("$('job-list').children.length === 4")
    # By keyboard.
    page.script("document.querySelector('#job-list a').focus()")
    page.press("Enter", 13)
    page.wait("$('story').open && document.querySelectorAll('#story .timing i').length > 0")
    page.wait(f"{shown('story')} === 1")
    page.wait("/enqueued to ended/.test($('story').textContent)")
    expect(page.script("$('story').contains(document.activeElement)"), True, "focus in the dialog")
    page.press("Escape", 27)
    page.wait("!$('story').open && location.hash === '#jobs?batch=album'")
    expect(page.script("document.activeElement.closest('#job-list') !== null"), True, "focus back in the list")


def retries(page, scene):
    enter(page, OPERATOR)
    page.wait("!$('add').hidden")
    (scene.pictures / "broken.jpg").write_bytes((scene.pictures / "cloud 0.jpg").read_bytes())
    page.script("location.hash = '#jobs?batch=%3Cb%3Ebroken%3C/b%3E'")
    page.wait("$('job-list').children.length === 2")
    page.script(
        "[...$('job-list').children].find((one) => one.textContent.includes('broken.jpg'))"
        ".querySelector('button').click()"
    )
    page.wait(f"{count('discarded')} === 1 && {count('completed')} === {BULK + 5}")
    # Nothing of it can be cancelled.
    page.wait("/^Select all shownRetry all that match$/.test($('job-actions').textContent)")
    (scene.pictures / HOSTILE).write_bytes((scene.pictures / "cloud 1.jpg").read_bytes())
    go(page, "failures")
    press_button(page, "Retry all jobs that failed with image.unsupportedFormat")
    page.wait(f"{count('discarded')} === 0 && {count('completed')} === {BULK + 6}")
    expect(page.script("$('notice').textContent"), "1 job will run again.", "notice")
    page.wait("!$('no-failure-list').hidden")


def cancels_what_is_selected(page, scene):
    scene.enqueue("--queue", "held", "--at", "1d", "initials:A", "initials:B", "initials:C")
    go(page, "jobs?queue=held")
    page.wait("$('job-list').children.length === 3")
    page.script("[...document.querySelectorAll('#job-list input')].slice(1).forEach((one) => one.click())")
    press_button(page, "Cancel 2 selected")
    page.wait(f"{count('cancelled')} === 2 && {count('scheduled')} === 1")
    press_button(page, "Cancel all that match")
    page.wait(f"{count('cancelled')} === 3 && !/Cancel all/.test($('job-actions').textContent)")


def pauses_and_limits_a_queue(page):
    go(page, "queues")
    press_button(page, "Pause queue bulk")
    page.wait("/^paused/.test(document.querySelector('#queue-list [data-key=bulk] .pill')?.textContent)")
    page.wait("/Queue bulk is paused/.test($('advice').textContent)")
    press_button(page, "Resume queue bulk")
    page.wait("document.querySelector('#queue-list [data-key=bulk] .pill') === null")
    page.script(
        "document.querySelector('#queue-list [data-key=bulk] details').open = true;"
        "[...document.querySelectorAll('#queue-list [data-key=bulk] input')]"
        ".forEach((one, index) => { one.value = ['3', '900/m'][index]; })"
    )
    press_button(page, "Set the limits of queue bulk")
    page.wait("/of 3 running.*at most 900\\/m/.test(document.querySelector('#queue-list [data-key=bulk]').textContent)")


def makes_thumbnails_of_uploads(page, scene):
    go(page, "overview")
    page.script("$('size').value = '90x60:cover,70x70'")
    before = page.script("$('uploads').children.length")
    ways = [
        (
            HOSTILE,
            "document.dispatchEvent(new DragEvent('drop', { dataTransfer: %s, bubbles: true, cancelable: true }))",
        ),
        (
            "pasted.jpg",
            "document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: %s, bubbles: true }))",
        ),
        ("chosen.jpg", "$('file').files = %s.files; $('file').dispatchEvent(new Event('change'))"),
    ]
    for index, (name, way) in enumerate(ways):
        page.script(way % files(name, scene.pictures / f"cloud {index + 1}.jpg"))
        page.wait(f"$('uploads').children.length === {before + index + 1}")
    page.wait(f"{shown('uploads')} === {2 * len(ways)} && !document.querySelector('#uploads .pending')")
    widths = page.script(
        "[...new Set([...document.querySelectorAll('#uploads img')].map((image) => image.naturalWidth))].sort().join()"
    )
    expect(widths, "70,90", "widths")
    # The job keeps the file's name.
    page.wait("$('picture-list').textContent.includes('pasted.jpg')")
    go(page, "overview")
    page.wait("$('recent').textContent.includes('pasted.jpg')")
    go(page, "jobs?batch=dashboard")
    for name in ("chosen.jpg", "pasted.jpg", HOSTILE):
        page.wait(f"$('job-list').textContent.includes({json.dumps(name)})")
    page.wait("document.title.endsWith('Cameo')")
    page.script("$('file').files = new DataTransfer().files")


def polls_without_events(browser, scene):
    page = Page(browser)
    page.call("Network.setBlockedURLs", urls=["*/events"])
    load(page, scene.url)
    enter(page, READER)
    page.wait("$('mode').textContent === 'polling'")
    before = page.script(count("completed"))
    scene.enqueue("initials:Polled")
    page.wait(f"{count('completed')} === {before + 1}")


# An hour as the server answers it, with a gap, in place of its own few minutes.
HOUR = """
    const ask = window.fetch;
    const stages = (busy) => ["wait", "fetch", "queue", "render", "store"].map((stage, index) =>
      ({ stage, count: 1 + busy, p50: (index + 2) * (10 + busy), p95: (index + 3) * (20 + 3 * busy) }));
    const minutes = Array.from({ length: 60 }, (_, index) => {
      const busy = Math.round(30 + 30 * Math.sin(index / 5));
      return { at: new Date(Date.now() - (60 - index) * 60e3), milliseconds: 60000, completed: 20 * busy,
        discarded: index % 7, cancelled: 0, retried: index % 11, waiting: 10 * busy, running: 4,
        mostWaiting: index === 40 ? 1140 : 10 * busy, mostRunning: 4,
        stages: index > 30 && index < 34 ? [] : stages(busy) };
    }).filter((_, index) => index < 15 || index > 20);
    const history = { minutes, paused: [] };
    window.fetch = async (path, options) => path === "history" ? Response.json(history) : ask(path, options);
"""


def shows_the_last_hour(browser, scene, screenshots):
    page = Page(browser)
    page.call("Page.addScriptToEvaluateOnNewDocument", source=HOUR)
    load(page, scene.url)
    enter(page, READER)
    for graph in ("backlog", "ended"):
        page.wait(f"/in the last 60.min/.test(document.querySelector('#{graph} svg')?.ariaLabel)")
        page.wait(f"document.querySelector('#{graph} path').getAttribute('d').split('M').length === 3")
    # The highest of a minute is not lost, and the axes have numbers and times.
    page.wait("/highest 1,140 /.test(document.querySelector('#backlog svg').ariaLabel)")
    labels = "[...document.querySelectorAll('#backlog text')].map((one) => one.textContent).join()"
    page.wait(f"{labels}.startsWith('0,1,000,2,000,')")
    box = page.script("JSON.stringify(document.querySelector('#backlog svg').getBoundingClientRect())")
    x, y = (json.loads(box)[name] for name in ("right", "top"))
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 60, y=y + 60)
    page.wait("!$('hover').hidden && /waiting [0-9]+/.test($('hover').textContent)")
    page.wait("document.querySelectorAll('#ended path.retried').length === 1")
    go(page, "workers")
    page.wait("document.querySelectorAll('#stages svg').length === 5")
    expect(page.script("document.querySelector('#stages .p95').getAttribute('d').split('M').length"), 4, "pieces")
    go(page, "overview")
    page.wait("$('mode').textContent === 'live'")
    before = page.script("$('ended').querySelector('path').getAttribute('d')")
    scene.enqueue("initials:Live")
    page.wait(f"$('ended').querySelector('path').getAttribute('d') !== {json.dumps(before)}")
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page.look(width, height, scheme)
            expect(page.script("document.documentElement.scrollWidth"), width, "width of the page")
            if screenshots:
                take(page, screenshots / f"hour-{width}-{scheme}.png")


def shows_tiles_of_a_video(browser, scene, screenshots):
    folder = scene.folder / "film"
    folder.mkdir()
    film = storyboard.Film(scene.bin, folder, scene.environment)
    article = REPOSITORY / "Sources/Cameo/Cameo.docc/Videos.md"
    page = Page(browser)
    page.look(800, 500, "light")
    storyboard.check(
        page,
        film,
        article,
        lambda page, second: screenshots and take(page, screenshots / f"storyboard-{second}.png"),
    )


def fits(page):
    for width, height in SIZES:
        page.look(width, height, "light")
        for name in PAGES + ["batch/album"]:
            go(page, name)
            expect(page.script("document.documentElement.scrollWidth"), width, f"width of {name}")
            first = "[...document.querySelectorAll('section.page:not([hidden]) :is(.entries, .pictures, .jobs) > li')]"
            if name != "failures":
                page.wait(f"{first}.some((one) => one.offsetParent)")
                top = page.script(f"{first}.find((one) => one.offsetParent).getBoundingClientRect().top")
                if top > height - 60 and name != "overview":
                    raise AssertionError(f"the list of {name} begins at {top} of {height} pixels")

def says_why_an_upload_failed(page):
    """Without the icon of a broken picture, and in whole words."""
    go(page, "pictures")
    page.script(
        "const data = new DataTransfer(); data.items.add(new File(['no picture'], 'a letter.jpg', { type: 'image/jpeg' }));"
        "$('file').files = data.files; $('file').dispatchEvent(new Event('change'))"
    )
    page.wait("!!document.querySelector('#uploads li .failure')")
    tile = page.script("document.querySelector('#uploads li').innerText")
    for word in ("no preview", "a letter.jpg is plain text", "SVG picture"):
        if word not in tile:
            raise AssertionError(f"{word!r} is not in {tile!r}")
    page.script("$('file').files = new DataTransfer().files; $('uploads').replaceChildren()")


# What lies outside of its box, is broken within, or is not in line with what lies beside it.
BLEMISHES = """(() => {
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
    const words = (one) => one.textContent.trim().slice(0, 60);
    const lines = (one, word) => {
      const [text, range] = [one.firstChild, document.createRange()];
      range.setStart(text, text.data.indexOf(word));
      range.setEnd(text, range.startOffset + word.length);
      return range.getClientRects().length;
    };
    const baseline = (one) => {
      const mark = one.insertBefore(document.createElement("span"), one.firstChild);
      mark.style.display = "inline-block";
      const at = mark.getBoundingClientRect().bottom;
      mark.remove();
      return at;
    };
    const rows = Map.groupBy(shown(".filter input, .filter select"), (one) => Math.round(one.getBoundingClientRect().bottom));
    const tiles = Map.groupBy(shown(".strip li"), (one) => one.getBoundingClientRect().top);
    return [
      ...shown(".pictures :is(a span, small)").filter((one) =>
        one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1).map((one) => `cut: ${words(one)}`),
      ...shown(".pictures small").filter((one) => /webp/.test(one.firstChild?.data) && lines(one, "webp") > 1)
        .map((one) => `broken: ${words(one)}`),
      ...shown("img").filter((one) => one.complete && !one.naturalWidth).map((one) => `no picture: ${one.alt}`),
      ...[...rows.values()].filter((row) => new Set(row.map((one) => one.labels[0].getBoundingClientRect().top)).size > 1)
        .map((row) => `labels not in line: ${row.map((one) => words(one.labels[0]))}`),
      ...shown(".jobs .pill").filter((one) =>
        Math.abs(baseline(one) - baseline(one.closest("li").querySelector(".title"))) > 1)
        .map((one) => `not in line: ${words(one)}`),
      ...new Set([...tiles.values()].map((row) => row.length)).size > 1 ? [`${[...tiles.values()].map((row) => row.length)} tiles`] : [],
    ];
  })()"""


def has_no_blemishes(page):
    for name in ("overview", "pictures", "jobs", "batch/album"):
        go(page, name)
        for width, height in [*SIZES, (1280, 900)]:
            page.look(width, height, "light")
            if name == "overview":
                page.wait("document.querySelectorAll('.strip li').length === 12")
            elif name != "jobs":
                page.wait("document.querySelectorAll('.page:not([hidden]) .pictures li').length > 3")
            expect(page.script(BLEMISHES), [], f"blemishes of {name} at {width} pixels")


def makes_a_sheet_that_fills_the_page(browser, scene):
    """The page that `cameo-status sheet` writes."""
    scene.enqueue("--batch", "sheet", "--size", "240x", "--size", "120x", *sorted(scene.pictures.glob("cloud*.jpg")))
    wait = [scene.bin / "cameo-status", "batch", "sheet", "--wait", "--wait-timeout", "5m"]
    subprocess.run(wait, env=scene.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = scene.folder / "sheet.html"
    sheet = [scene.bin / "cameo-status", "sheet", file, "--batch", "sheet"]
    subprocess.run(sheet, env=scene.environment, check=True, stdout=subprocess.DEVNULL)
    page = Page(browser)
    page.open(file.as_uri())
    colors = set()
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page.look(width, height, scheme)
            empty = page.script(
                "innerWidth - Math.max(...[...document.querySelectorAll('section')]"
                ".map((one) => one.getBoundingClientRect().right))"
            )
            if not 0 <= empty <= 40:
                raise AssertionError(f"{empty} pixels at the right of {width}")
            expect(page.script("document.documentElement.scrollWidth > innerWidth"), False, "sticks out")
            colors.add(page.script("getComputedStyle(document.body).backgroundColor"))
    expect(len(colors), 2, "backgrounds in light and dark")


# Two jobs run in a queue that is paused, beside one that no worker takes.
NOTHING_TAKEN = """
    const ask = window.fetch;
    window.fetch = async (path, options) => {
      const answer = await ask(path, options);
      if (path !== "status") return answer;
      const report = await answer.json();
      Object.assign(report.jobs, { available: 20, running: 2 });
      Object.assign(report.finishedLastMinute, { completed: 100, discarded: 0 });
      delete report.etaSeconds;
      return Response.json(report);
    };
"""


def estimates_nothing_while_nothing_is_taken(browser, scene):
    page = Page(browser)
    page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTHING_TAKEN)
    load(page, scene.url)
    enter(page, READER)
    page.wait("/^20 jobs waiting, 2 running/.test($('summary').textContent)")
    expect(page.script("/Done in/.test($('summary').textContent)"), False, "an estimate")


def plays_a_storyboard(page, scene):
    film = scene.pictures / "film.mp4"
    video = ["-f", "lavfi", "-i", "testsrc=size=320x180:rate=10:duration=10"]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *video, film], check=True)
    scene.enqueue("--batch", "films", "--storyboard", "3x3", "--size", "160x90", film)
    go(page, "pictures?batch=films")
    page.wait("$('picture-list').children.length === 1")
    page.script("document.querySelector('#picture-list a').click()")
    page.wait("document.querySelector('.player input')?.max === '8'")
    before = page.script("document.querySelector('.screen').style.background")
    page.wait(f"document.querySelector('.screen').style.background !== {json.dumps(before)}")
    press_button(page, "Pause")
    page.press("Escape", 27)
    page.wait("!$('lightbox').open")


def tells_of_dead_workers(page, scene):
    scene.worker.kill()
    go(page, "overview")
    page.wait("/1 worker died/.test($('advice').textContent) && $('health').textContent === 'no worker runs'")
    with sqlite3.connect(scene.folder / "store/cameo.sqlite") as store:
        columns = "job_id, hook, state, ended_at, at, since, status"
        store.execute(f"INSERT INTO delivery({columns}) SELECT min(id), 'site', 4, 0, 0, 0, 3 FROM job")
    page.wait("/1 delivery to the hook site given up/.test($('advice').textContent)")
    go(page, "workers")
    page.wait("document.querySelector('#worker-list .pill')?.textContent === 'dead'")


def tells_how_old_numbers_are(page, scene):
    scene.server.terminate()
    page.wait("/does not answer. These numbers are of /.test($('trouble').textContent) && !$('trouble').hidden")
    page.wait("$('health').textContent === 'unreachable' && /^as of /.test($('mode').textContent)")


def is_accessible(page, axe, scheme, width, height):
    page.look(width, height, scheme)
    page.script(axe)
    findings = json.loads(
        page.script("axe.run({ resultTypes: ['violations'] }).then((found) => JSON.stringify(found.violations))")
    )
    serious = [
        f"{finding['id']} ({finding['impact']}): {node['target'][0]}: {node['failureSummary']}"
        for finding in findings
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"][:1]
    ]
    if serious:
        raise AssertionError("; ".join(serious))


def was_quiet(page, scene):
    expect(page.errors, [], "console")
    foreign = {url for url in page.requested if not url.startswith((scene.url, "data:", f"blob:{scene.url}"))}
    expect(foreign, set(), "requests to other origins")


# ----------------------------------------------------------------------------------------------------------------- main


def axe_core(folder):
    """The script, or nothing if pip cannot fetch it."""
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, AXE]
    if subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        return None
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return wheel.read("axe_playwright_python/axe.min.js").decode()


def check(scene, browser, axe, screenshots):
    checks = Checks()
    page = Page(browser)
    load(page, scene.url)
    checks.run("asks for a token", asks_for_token, page)
    seen = [("sign-in", lambda: None)]
    look(checks, page, axe, screenshots, seen)
    checks.run("signs in and out", signs_in_and_out, browser, scene)
    checks.run("a reader reads, and has no buttons for changes", reads_without_changes, page)
    checks.run("pages have addresses, back and forward work", has_pages_with_addresses, page)
    checks.run("keys move, search and tell", obeys_keys, page)
    checks.run("says what to do", says_what_to_do, page)
    checks.run("updates live while a worker runs", updates_live, page, scene)
    checks.run("text from outside is no markup", takes_no_text_for_markup, page)
    checks.run("long lists page by page, by source", lists_page_by_page, page)
    checks.run("pictures in an endless grid", shows_pictures, page)
    checks.run("a picture large, by keyboard, to copy", shows_a_picture_large, page)
    checks.run("a batch", shows_a_batch, page)
    checks.run("a job's story, by keyboard", tells_a_jobs_story, page)
    if screenshots:
        take(page, screenshots / "failures.png")
    checks.run("retries one job, and all that match", retries, page, scene)
    checks.run("cancels what is selected, and all that match", cancels_what_is_selected, page, scene)
    checks.run("pauses, resumes and limits a queue", pauses_and_limits_a_queue, page)
    checks.run("dropped, pasted and chosen pictures become thumbnails", makes_thumbnails_of_uploads, page, scene)
    checks.run("says why an upload failed", says_why_an_upload_failed, page)
    checks.run("fits phones and desktops", fits, page)
    checks.run("nothing is cut, broken or out of line", has_no_blemishes, page)
    checks.run("a sheet fills its page, light and dark", makes_a_sheet_that_fills_the_page, browser, scene)
    checks.run("estimates nothing while nothing is taken", estimates_nothing_while_nothing_is_taken, browser, scene)
    name = "plays a storyboard"
    if (scene.bin / "cameo-frames").exists() and shutil.which("ffmpeg"):
        checks.run(name, plays_a_storyboard, page, scene)
    else:
        checks.skip(name, "needs cameo-frames (deploy/build --video) and ffmpeg")

    def story():
        go(page, "jobs")
        page.wait("$('job-list').children.length > 0")
        page.script("document.querySelector('#job-list a').click()")
        page.wait("document.querySelectorAll('#story .timing').length > 0")

    def lightbox():
        page.script("$('story').close()")
        # That goes back in the history, a moment later.
        page.wait("!location.hash.startsWith('#job/')")
        go(page, "pictures?batch=album")
        page.wait("$('picture-list').children.length > 0")
        page.script("document.querySelector('#picture-list a').click()")
        page.wait(f"{shown('lightbox-view')} === 1")

    views = [(name, lambda name=name: go(page, name)) for name in PAGES + ["batch/album"]]
    look(checks, page, axe, screenshots, [*views, ("story", story), ("lightbox", lightbox)])
    page.script("$('lightbox').close()")
    checks.run("no console error, no request to another origin", was_quiet, page, scene)
    checks.run("pictures whose jobs were removed", shows_pictures_without_jobs, page, scene)
    checks.run("a picture that is forgotten is gone", forgets_a_picture, page)
    checks.run("polls where events do not pass", polls_without_events, browser, scene)
    checks.run("shows the last hour, and goes on live", shows_the_last_hour, browser, scene, screenshots)
    name = "the tile of a storyboard under the pointer is of the right moment"
    if (scene.bin / "cameo-frames").exists() and shutil.which("ffmpeg"):
        checks.run(name, shows_tiles_of_a_video, browser, scene, screenshots)
    else:
        checks.skip(name, "needs cameo-frames (deploy/build --video) and ffmpeg")
    checks.run("tells of dead workers", tells_of_dead_workers, page, scene)
    checks.run("tells how old numbers are", tells_how_old_numbers_are, page, scene)
    return checks


def look(checks, page, axe, screenshots, views):
    """In all four forms."""
    for view, show in views:
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                page.look(width, height, scheme)
                if (width, height, scheme) == (*SIZES[0], "light"):
                    show()
                name = f"axe-core: nothing serious, {view}, {width} pixels, {scheme}"
                if axe:
                    checks.run(name, is_accessible, page, axe, scheme, width, height)
                else:
                    checks.skip(name, f"pip cannot fetch {AXE}")
                if screenshots:
                    file = f"{view.replace('/', '-')}-{width}-{scheme}.png"
                    take(page, screenshots / file, whole=view not in ("story", "lightbox"))


def take(page, path, whole=True):
    page.script("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path, whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER", help="save screenshots there")
    parser.add_argument(
        "--bin", type=pathlib.Path, metavar="FOLDER", help="use the commands there, and install nothing"
    )
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    if not options.bin:
        steps = ". deploy/setup build && install_missing chromium libvips-tools python3-pip"
        steps += " && deploy/build && swift build -c release --product cameo-web >&2"
        build = subprocess.run(["bash", "-c", steps], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        if build.returncode != 0:
            sys.exit("the build failed")
        options.bin = pathlib.Path(build.stdout.strip().splitlines()[-1])
    with tempfile.TemporaryDirectory(prefix="cameo-dashboard-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        axe = axe_core(folder)
        scene = Scene(options.bin.resolve(), folder)
        try:
            scene.serve()
            browser = Browser(folder / "profile")
            try:
                checks = check(scene, browser, axe, options.screenshots)
            finally:
                browser.close()
        finally:
            scene.close()
    print(f"{checks.passed} passed, {checks.failed} failed, {checks.skipped} skipped")
    sys.exit(1 if checks.failed else 0)


main()
