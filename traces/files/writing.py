"""Files that a user asked for, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError within it tells a path: this one where the system names none, as when a disk is full."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a text in UTF-8, in a folder that is made; an existing file is replaced as a whole, and what is no file, such as a
    pipe, is written to. Raises OSError, which names the path."""
    if path.exists() and not path.is_file():
        with naming(path):
            path.write_text(text, encoding="utf-8")
        return
    beside = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
