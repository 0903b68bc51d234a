"""Small JSON files that a later run goes on from: replaced as a whole, and read only as they were written, to the last byte."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class SealError(Exception):
    """A file that is not as it was written; the message says so without its name."""


def sealed(content: Mapping[str, object]) -> bytes:
    """The bytes of a file with that content, which JSON has to be able to hold, and its SHA-256."""
    text = json.dumps(content, indent=1)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{{"sha256": "{digest}", "content": {text}}}\n'.encode()


def unsealed(data: bytes) -> Any:
    """The content of a file, of which every byte is as ``sealed`` made it: whoever has sealed it knows its type. Raises
    SealError."""
    try:
        held = json.loads(data)
        if not isinstance(held, dict) or not isinstance(held.get("content"), dict):
            raise SealError("it has no checksum, as if another version had written it")
        if sealed(held["content"]) != data:
            raise SealError("its content does not fit its checksum")
    except (ValueError, RecursionError) as error:
        raise SealError(f"it is no JSON: {error}") from error
    return held["content"]


def write(path: Path, content: Mapping[str, object]) -> None:
    """Writes a sealed file in place of what is there; a crash on the way leaves the file that was there. Raises OSError."""
    draft = draft_of(path)
    try:
        with draft.open("wb") as file:
            file.write(sealed(content))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:  # of a disk that is full the system does not say which file
        raise OSError(error.errno, error.strerror, str(path)) from error


def draft_of(path: Path) -> Path:
    """Where a file is written before it takes its place."""
    return path.with_name(f"{path.name}.part")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file of any size. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
