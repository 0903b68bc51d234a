"""An entry that is confirmed and lost, with processes: three bookies and ZooKeeper on the loopback interface, and ``kill -9``.

An old writer holds a ledger without an entry. A recovery fences it at the bookies and closes it. All bookies are killed and
started again; they have forgotten the fence, because none of them had ever seen the ledger, and nothing that they journal for a
fence has the ledger's master key. The old writer adds an entry, which is confirmed, and the ledger ends before it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.checks.conformance.java_side.harness import Harness, harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.java_side.toolchain import toolchain

BOOKIES = 3
SECONDS = 120
"""How long a bookie may take to start."""

_SERVER = ("io.dropwizard.metrics:metrics-core:4.1.12.1", "org.xerial.snappy:snappy-java:1.1.10.5")
"""What a ZooKeeper server needs besides its client."""

_MEMORY = ("-Xmx256m", "-XX:MaxDirectMemorySize=192m", "-Djava.net.preferIPv4Stack=true")


@dataclass(frozen=True)
class Killed:
    """What was seen: where recovery closed the ledger, before the kill and after it, and what became of the old writer's add:
    the number of the entry that was ``confirmed``, or why it was ``refused``."""

    release: str
    closed_at: int
    confirmed: int | None
    refused: str
    closed_at_after: int

    @property
    def lost(self) -> bool:
        """Whether a confirmed entry is beyond the end of the closed ledger."""
        return self.confirmed is not None and self.confirmed > self.closed_at_after


def with_processes(version: str) -> Release:
    """A release of bookkeeper-server, and what a ZooKeeper server needs."""
    server = f"org.apache.bookkeeper:bookkeeper-server:{version}"
    return Release("bookkeeper-processes", version, tuple(map(Artifact, (server, *_SERVER))))


def killed(version: str, *, entry_first: bool = False, telling: Callable[[str], None] = lambda _: None) -> Killed:
    """Takes the run on a release; with ``entry_first`` the old writer adds an entry before the recovery, and nothing is lost.

    Every process ends with it, and every file is removed. Raises ToolchainError, and SessionError if a process fails.
    """
    telling("fetching jars, compiling")
    release = with_processes(version)

    def started(main: str) -> Harness:
        return harness("processes", f"fencepost.{main}", release, options=_MEMORY, tools=tools)

    tools = toolchain()
    with contextlib.ExitStack() as ending:
        keeper = ending.enter_context(Session(started("Keeper")))
        uri = f"zk+hierarchical://127.0.0.1:{keeper.ask({})['port']}/ledgers"
        writer = ending.enter_context(Session(started("Client").with_arguments(uri), seconds=SECONDS))
        reader = ending.enter_context(Session(started("Client").with_arguments(uri), seconds=SECONDS))
        writer.ask({"do": "format"})
        bookies = ending.enter_context(_bookies(started("Bookie"), uri))
        telling("starting three bookies")
        _ready(bookies, writer)
        ledger = writer.ask({"do": "create"})["ledger"]
        if entry_first:
            writer.ask({"do": "add"})
        closed = reader.ask({"do": "recover", "ledger": ledger})
        telling("killing three bookies")
        for bookie in bookies:
            bookie.kill()
        _gone(writer)
        telling("starting three bookies again")
        for bookie in bookies:
            bookie.start()
        _ready(bookies, writer)
        added: Mapping[str, Any] = writer.ask({"do": "add"})
        after = reader.ask({"do": "recover", "ledger": ledger})
    return Killed(version, closed["last"], added.get("confirmed"), added.get("refused", ""), after["last"])


class _Bookie:
    """One bookie's process on a free port, with a folder that outlives it."""

    def __init__(self, made: Harness, folder: Path, uri: str) -> None:
        self._made, self._folder = made, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        settings = {
            "metadataServiceUri": uri,
            "bookiePort": self.port,
            "advertisedAddress": "127.0.0.1",
            "listeningInterface": "lo",
            "allowLoopback": "true",
            "journalDirectories": folder / "journal",
            "ledgerDirectories": folder / "ledgers",
            "indexDirectories": folder / "ledgers",
            "ledgerStorageClass": "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
            "dbStorage_writeCacheMaxSizeMb": 16,
            "dbStorage_readAheadCacheMaxSizeMb": 16,
            "dbStorage_rocksDB_blockCacheSize": 1 << 20,
            "journalPreAllocSizeMB": 1,
            "zkTimeout": 2000,
            "diskUsageThreshold": 0.999,
            "diskUsageWarnThreshold": 0.998,
            "httpServerEnabled": "false",
        }
        folder.mkdir()
        self._conf = folder / "bookie.conf"
        self._conf.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                [*self._made.command, "--conf", str(self._conf)],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                cwd=self._folder,
                start_new_session=True,
            )

    def listens(self) -> bool:
        """Whether it takes connections. Raises SessionError if it has ended."""
        assert self._process is not None
        if self._process.poll() is not None:
            said = (self._folder / "said").read_text(encoding="utf-8", errors="replace")[-500:].strip()
            raise SessionError(f"a bookie ended with status {self._process.returncode}; it said last: {said}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def kill(self) -> None:
        """``kill -9``; nothing if it does not run."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None


@contextlib.contextmanager
def _bookies(made: Harness, uri: str) -> Iterator[list[_Bookie]]:
    folder = Path(tempfile.mkdtemp(prefix="fencepost-"))
    bookies: list[_Bookie] = []
    try:
        for number in range(BOOKIES):
            bookies.append(_Bookie(made, folder / f"b{number}", uri))
            bookies[-1].start()
        yield bookies
    finally:
        for bookie in bookies:
            bookie.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _ready(bookies: list[_Bookie], client: Session) -> None:
    """Waits until all bookies take connections and are registered."""
    end = time.monotonic() + SECONDS
    while not all(bookie.listens() for bookie in bookies):
        if time.monotonic() > end:
            raise SessionError(f"the bookies do not start within {SECONDS} s")
        time.sleep(0.05)
    _registered(client, len(bookies))


def _gone(client: Session) -> None:
    """Waits until the sessions of the killed bookies have expired."""
    _registered(client, 0)


def _registered(client: Session, count: int) -> None:
    found = client.ask({"do": "wait", "bookies": count})["bookies"]
    if found != count:
        raise SessionError(f"{found} bookies are registered, and should be {count}")
