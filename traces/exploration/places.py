"""Where the folder of a run is: on this machine, or at a URL for which Spark's JVM has a file system of Hadoop."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.model import sealed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PlaceError(Exception):
    """What a file system of Hadoop does not do; the message names the URL and has the reason of the file system."""


class InUse(Exception):
    """Another process works in a folder, or was killed in it; the message says what to do."""


class Remote:
    """A file or folder at a URL: what a run needs of ``pathlib.Path``, by ``org.apache.hadoop.fs.FileSystem``.

    Everything goes through the JVM of a session, so a URL means what it means to Spark: its file systems, its credentials and
    its ``spark.hadoop.*`` settings. Each method raises PlaceError.
    """

    def __init__(self, spark: SparkSession, url: str) -> None:
        context = spark.sparkContext
        assert context._jvm is not None
        self._spark, self._jvm, self.url = spark, context._jvm, url.rstrip("/")
        with self._told():
            self._path = self._jvm.org.apache.hadoop.fs.Path(self.url)
            self._files = self._path.getFileSystem(context._jsc.hadoopConfiguration())

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Remote:
        return Remote(self._spark, f"{self.url}/{name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __lt__(self, other: Remote) -> bool:
        return self.url < other.url

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rpartition("/")[2]

    def with_name(self, name: str) -> Remote:
        """Another one in the same folder."""
        return Remote(self._spark, f"{self.url.rpartition('/')[0]}/{name}")

    def mkdir(self, parents: bool = True, exist_ok: bool = True) -> None:
        """Makes the folder and those that it is in, as file systems of Hadoop do."""
        with self._told():
            self._files.mkdirs(self._path)

    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        with self._told():
            return bool(self._files.exists(self._path))

    def iterdir(self) -> Iterator[Remote]:
        """What is in the folder."""
        with self._told():
            names = [str(status.getPath().getName()) for status in self._files.listStatus(self._path)]
        return (self / name for name in names)

    def read_bytes(self) -> bytes:
        """What a small file holds."""
        with self._told():
            stream = self._files.open(self._path)
            try:
                return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()

    def create(self, data: bytes, *, anew: bool) -> bool:
        """Writes a small file; where it must be ``anew``, false if there is one."""
        with self._told():
            if anew and self._files.exists(self._path):
                return False
            stream = self._files.create(self._path, not anew)
            stream.write(bytearray(data))
            stream.close()
        return True

    def replace(self, other: Remote) -> None:
        """Gives the file the other's name, in place of what has it."""
        with self._told():
            self._files.delete(other._path, False)
            if not self._files.rename(self._path, other._path):
                raise PlaceError(f"{other} cannot be written: {self} cannot be renamed")

    def unlink(self) -> None:
        """Takes the file away."""
        with self._told():
            self._files.delete(self._path, False)

    @contextmanager
    def _told(self) -> Iterator[None]:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

        try:
            yield
        except Py4JJavaError as error:
            reason = str(error.java_exception.toString()).partition("\n")[0]
            raise PlaceError(f"{self.url}: {reason}") from error


Place = Path | Remote
"""A file or folder of a run."""


def located(place: Place) -> str:
    """How Spark names it: absolutely, since the JVM may have been started in another folder."""
    return str(place.resolve()) if isinstance(place, Path) else place.url


def write(file: Place, content: Mapping[str, object]) -> None:
    """Writes a sealed file in place of what is there. Raises OSError, PlaceError."""
    if isinstance(file, Path):
        sealed.write(file, content)
        return
    draft = file.with_name(draft_name(file))
    draft.create(sealed.sealed(content), anew=False)
    draft.replace(file)


def draft_name(file: Place) -> str:
    """Under which name a file is written before it takes its place."""
    return f"{file.name}.part"


def digests_of(files: Iterable[Place]) -> list[str]:
    """The SHA-256 of some files, made in this process. Raises OSError, PlaceError."""
    return [
        sealed.file_digest(file) if isinstance(file, Path) else hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    ]


@contextmanager
def locked(file: Place) -> Iterator[None]:
    """Keeps others from a folder by its lock. Raises InUse, OSError, PlaceError.

    On this machine the lock goes with the process. At a URL it is a file that names whoever works there, since file systems of
    Hadoop lock nothing: a process that is killed leaves it.
    """
    if isinstance(file, Path):
        with file.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InUse("in use by another process: wait for it, or name another folder") from error
            yield
        return
    holder = f"process {os.getpid()} of {socket.gethostname()}"
    if not file.create(holder.encode(), anew=True):
        by = file.read_bytes().decode(errors="replace")
        raise InUse(f"in use by {by}: wait for it, or remove {file} if it was killed")
    try:
        yield
    finally:
        file.unlink()
