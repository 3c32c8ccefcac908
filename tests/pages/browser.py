"""A headless Chromium, driven through its DevTools protocol over a pipe: JSON objects that end with a
zero byte, on the file descriptors 3 (to the browser) and 4 (from it)."""
import base64
import json
import os
import select
import subprocess
import time

FLAGS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--disable-extensions",
         "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text",
         "--host-resolver-rules=MAP * ~NOTFOUND"]  # whatever it wants from a network, it does not get
SECONDS = 60


class Browser:
    def __init__(self, executable, folder):
        """`folder`: for the browser's own files."""
        to_browser, self.to = os.pipe()
        self.answers, from_browser = os.pipe()
        # Both are moved out of the way first: one of them might be 3 or 4 itself.
        shell = 'exec 8<&"$1" 9>&"$2"; exec 3<&8 4>&9 8<&- 9>&-; shift 2; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "browser", str(to_browser), str(from_browser), executable,
             *FLAGS, "--user-data-dir=" + folder, "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.last, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def close(self):
        self.session = None
        self.send("Browser.close")
        self.process.wait(timeout=SECONDS)
        os.close(self.to)
        os.close(self.answers)

    def read(self, until):
        """The next message."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        """The result of a command. Events that come before it are kept in `events`."""
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            message = self.read(until)
            if message.get("id") == self.last:
                assert "error" not in message, (method, message)
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        until = time.monotonic() + SECONDS
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.read(until))

    def open(self, url, width, height, scheme):
        """Loads a page into a window of this size, in the colours of the scheme `light` or `dark`.
        `events` are those since."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.send("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def run(self, script):
        """The value of an expression of JavaScript, or of the promise that it is."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self):
        """The window, as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot")["data"])
