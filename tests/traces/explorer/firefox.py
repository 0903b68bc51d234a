"""A headless Firefox, asked over WebDriver BiDi, which it speaks itself: Debian has no geckodriver for Selenium."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """A window of a Firefox that runs."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket, self._asked = socket, 0
        self._call("session.new", capabilities={})
        self._window = self._call("browsingContext.getTree")["contexts"][0]["context"]
        self._call("browsingContext.setViewport", context=self._window, viewport={"width": 1280, "height": 800})

    def open(self, path: Path, fragment: str = "") -> None:
        """Opens a page from disk, and waits until it has loaded."""
        self._call("browsingContext.navigate", context=self._window, url=path.as_uri() + fragment, wait="complete")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page, as JSON has it; of a promise the value that it gives.

        Raises RuntimeError with what the page says if it throws.
        """
        asked = f"Promise.resolve({expression}).then(JSON.stringify)"
        answer = self._call("script.evaluate", expression=asked, target={"context": self._window}, awaitPromise=True)
        if answer["type"] != "success":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"].get("value", "null"))

    def _call(self, method: str, **parameters: Any) -> Any:
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._asked:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]


@contextmanager
def running(browser: str) -> Iterator[Firefox]:
    """A Firefox with a profile of its own, until it is left."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield Firefox(websocket.create_connection(f"{_address(process)}/session", timeout=120, suppress_origin=True))
            finally:
                process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if match := _LISTENING.search(line):
            return match[1]
    raise RuntimeError("Firefox ended without listening")
