"""How SARIF refers to a file: by a URI, in which a space or a sign of another alphabet is an escape."""

from __future__ import annotations

from urllib.parse import quote

ABSOLUTE = "file://"


def artifact(file: str) -> dict[str, str]:
    """A file as SARIF refers to it, relative to the sources if the file is among them."""
    if file.startswith("/"):
        return {"uri": f"{ABSOLUTE}{quote(file)}"}
    return {"uri": quote(file), "uriBaseId": "%SRCROOT%"}
