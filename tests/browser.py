"""A browser for tests: Chromium without a window, spoken to over W3C WebDriver by the standard library alone."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1300,1200",
)  # fmt: skip
LONGEST = 30.0
"""Seconds for the driver to start, and for a page to become what a test waits for."""


def missing() -> str | None:
    """What a browser would need that is not here, None if there is one."""
    if not any(map(shutil.which, BROWSERS)):
        return f"no browser: install one of {', '.join(BROWSERS)}"
    return None if shutil.which("chromedriver") else "no chromedriver: install it beside the browser"


class Browser:
    """One window, whose console is recorded."""

    def __init__(self, profile: Path) -> None:
        port = free_port()
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._session = f"http://127.0.0.1:{port}"
        options = {
            "binary": next(filter(None, map(shutil.which, BROWSERS))),
            "args": [*FLAGS, f"--user-data-dir={profile}"],
        }
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        try:
            self.wait(self._is_ready)
            self._session += f"/session/{self._send('POST', '/session', {'capabilities': wanted})['sessionId']}"
        except BaseException:
            self._driver.kill()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._send("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(10)

    def open(self, url: str) -> None:
        """Load a page, to its end."""
        self._send("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of a JavaScript function returns on the page."""
        return self._send("POST", "/execute/sync", {"script": script, "args": arguments})

    def type(self, selector: str, text: str) -> None:
        """Type into the element that a CSS selector finds."""
        found = self._send("POST", "/element", {"using": "css selector", "value": selector})
        self._send("POST", f"/element/{next(iter(found.values()))}/value", {"text": text})

    def console(self) -> list[str]:
        """Errors and warnings since the last call."""
        entries = self._send("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self._send("GET", "/screenshot"))

    def wait(self, condition: Any) -> Any:
        """The first true value of ``condition()``; a TimeoutError where there is none for long."""
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            value = condition()
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError(f"{LONGEST} seconds, and the condition does not hold")

    def _is_ready(self) -> bool:
        try:
            return bool(self._send("GET", "/status")["ready"])
        except OSError:
            return False

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._session + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=2 * LONGEST) as answer:
            return json.load(answer)["value"]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
