"""Headless Chromium, driven over a pipe (https://chromedevtools.github.io/devtools-protocol/)."""

import base64
import json
import os
import select
import subprocess
import time


class Browser:
    """One process with a profile of its own. Chromium's own sandbox needs what containers often lack; it opens only
    what this machine serves."""

    def __init__(self, profile):
        (their_input, self.output), (self.input, their_output) = os.pipe(), os.pipe()
        # It reads commands from descriptor 3 and writes answers to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{their_input} 4>&{their_output}', "bash", "chromium", "--headless=new"]
            + [
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--hide-scrollbars",
            ]
            + ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(their_input, their_output),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_input)
        os.close(their_output)
        self.unread = b""
        self.number = 0
        self.pages = {}

    def close(self):
        os.close(self.output)
        self.process.terminate()
        self.process.wait()

    def call(self, method, parameters, session=None, seconds=60):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + seconds
        while True:
            answer = self.receive(end, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if answer.get("method") and (page := self.pages.get(answer.get("sessionId"))):
                page.happened(answer["method"], answer["params"])

    def receive(self, end, what):
        while b"\0" not in self.unread:
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"Chromium does not answer {what}")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise RuntimeError("Chromium has ended")
            self.unread += data
        line, self.unread = self.unread.split(b"\0", 1)
        return json.loads(line)


class Page:
    """A tab. It shares cookies and storage only with the tabs that are opened beside it."""

    def __init__(self, browser, beside=None):
        self.browser = browser
        self.errors = []
        self.requested = []
        self.context = beside.context if beside else browser.call("Target.createBrowserContext", {})["browserContextId"]
        where = {"url": "about:blank", "browserContextId": self.context}
        target = browser.call("Target.createTarget", where)["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, parameters, self.session)

    def happened(self, event, details):
        if event == "Runtime.exceptionThrown":
            thrown = details["exceptionDetails"]
            self.errors.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(word.get("value", word.get("description"))) for word in details["args"]))
        elif event == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")
        elif event == "Network.requestWillBeSent":
            self.requested.append(details["request"]["url"])
        elif event == "Page.javascriptDialogOpening":
            # Not by `call`, which would wait for the answer within another call.
            self.browser.number += 1
            message = {"id": self.browser.number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self.browser.output, json.dumps(message | {"sessionId": self.session}).encode() + b"\0")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def script(self, expression):
        """The value of an expression, which may be a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        """The value of an expression once it is true."""
        end = time.monotonic() + seconds
        while True:
            # The document of a moment ago may be gone.
            try:
                value = self.script(expression)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise RuntimeError(f"never true within {seconds} s: {expression}")
            time.sleep(0.05)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def look(self, width, height, scheme):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))
