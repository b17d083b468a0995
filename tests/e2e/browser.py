"""A headless Chromium driven over the DevTools protocol, which it speaks on a pair of pipes."""
import base64, itertools, json, os, pathlib, select, shutil, subprocess, tempfile, time

from patience import PATIENCE, deadline

PROGRAMS = ("chromium-headless-shell", "chromium")


def program():
    found = [p for p in map(shutil.which, PROGRAMS) if p]
    if not found:
        raise AssertionError("there is no Chromium: tests/setup.sh test installs it")
    return found[0]


class Browser:
    """One process with one tab."""

    def __init__(self, width=1280, height=800, options=()):
        self.home = tempfile.mkdtemp(prefix="sluice-browser-")
        self.numbers = itertools.count(1)
        self.messages, self.said, self.rest = [], [], b""
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def give():
            # Not in place: one of the pipes may be 3 or 4 already.
            reads, writes = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
             "--remote-debugging-pipe", f"--user-data-dir={self.home}",
             f"--window-size={width},{height}", *options, "about:blank"],
            preexec_fn=give, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.input, self.output, self.session = ours_in, ours_out, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.size(width, height)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.home, ignore_errors=True)

    def _take(self, end):
        """The next message; None when there is none until then."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            data = os.read(self.input, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self._note(message)
        return message

    def _note(self, message):
        """What the page or the browser complains of, and what was asked of which host."""
        method, p = message["method"], message["params"]
        if method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.said.append(d.get("exception", {}).get("description") or d["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.said.append(f'{p["entry"]["text"]} {p["entry"].get("url", "")}')
        elif method == "Page.javascriptDialogOpening":
            self.said.append(f'dialog: {p["message"]}')
        elif method == "Network.requestWillBeSent":
            self.messages.append(p["request"]["url"])

    def call(self, method, seconds=30, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = deadline(seconds)
        while True:
            answer = self._take(end)
            if answer is None:
                raise AssertionError(f"no answer to {method} in {PATIENCE * seconds} s")
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f'{method}: {answer["error"]}')
                return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def run(self, script, seconds=30):
        """The value of a JavaScript expression, or of what its promise gives."""
        answer = self.call("Runtime.evaluate", seconds=seconds, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def until(self, script, seconds=15):
        """The first true value of an expression."""
        end = deadline(seconds)
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {PATIENCE * seconds} s: {script}\n{self.text()[:3000]}\n{self.said}")
            time.sleep(0.05)

    def work(self):
        """Seconds that the page's thread has worked."""
        return {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def text(self):
        return self.run("document.body.innerText") or ""

    def key(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36}
        text = text if text is not None else key if len(key) == 1 else "\r" if key == "Enter" else ""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
