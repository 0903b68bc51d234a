"""How SARIF refers to a file: by a URI, in which a space or a sign of another alphabet is an escape; and to a line of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fencepost.checks.settings.files.input_files import Place

ABSOLUTE = "file://"


def artifact(file: str) -> dict[str, str]:
    """A file as SARIF refers to it, relative to the sources if the file is among them."""
    if file.startswith("/"):
        return {"uri": f"{ABSOLUTE}{quote(file)}"}
    return {"uri": quote(file), "uriBaseId": "%SRCROOT%"}


def physical(place: Place) -> dict[str, Any]:
    """A place as SARIF has it. Code scanning shows no result without a line: where none is to blame it is the first."""
    return {"artifactLocation": artifact(place.file.as_posix()), "region": {"startLine": place.line or 1}}
