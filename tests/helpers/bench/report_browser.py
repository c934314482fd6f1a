"""A headless Chromium, controlled over a pipe by its DevTools protocol. Needs no driver.

Chromium reads commands from file descriptor 3 and answers on 4; each message ends with a zero byte.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT = 300
"""Seconds after which the browser is killed."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--window-size=1200,1600",
)


def find_executable():
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def start_browser(profile):
    """A browser with an empty profile folder; killed with all its children when the block ends."""
    command_end, to_browser = os.pipe()
    from_browser, answer_end = os.pipe()
    script = f'exec "$@" 3<&{command_end} 4>&{answer_end}'
    flags = (*FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank")
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", find_executable(), *flags],
        pass_fds=(command_end, answer_end),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(command_end)
    os.close(answer_end)
    alarm = threading.Timer(TIMEOUT, os.killpg, (process.pid, signal.SIGKILL))
    alarm.start()
    try:
        with open(to_browser, "wb", buffering=0) as commands, open(from_browser, "rb") as answers:
            yield Browser(commands, answers)
    finally:
        alarm.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Browser:
    """One tab. `complaints` are errors and warnings of the console, `requests` the requested addresses."""

    def __init__(self, commands, answers):
        self.commands, self.answers = commands, answers
        self.complaints, self.requests = [], []
        self._number, self._loads, self._session = 0, 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self.commands.write(
            json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def open(self, address):
        """Load the page again, even if only the fragment differs."""
        self._load("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self._load(address)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition):
        until = time.monotonic() + TIMEOUT / 10
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, f"timeout: {condition}"
            time.sleep(0.02)

    def press(self, key, text=""):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else ""
            )

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def _load(self, address):
        before = self._loads
        self.ask("Page.navigate", url=address)
        while self._loads == before:
            self._next()

    def _next(self):
        """The next message; its requests and complaints are recorded."""
        data = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            assert byte, "the browser has exited"
            data += byte
        message = json.loads(data)
        self._record(message.get("method"), message.get("params", {}))
        return message

    def _record(self, method, parameters):
        self._loads += method == "Page.loadEventFired"
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown" or (
            method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning")
        ):
            self.complaints.append(parameters)
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
