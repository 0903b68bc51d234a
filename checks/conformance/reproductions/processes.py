"""Processes of a BookKeeper cluster on the loopback interface: ZooKeeper, clients, bookies, and programs that are shipped."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from fencepost.checks.conformance.java_side.harness import Harness
from fencepost.checks.conformance.java_side.servers import bookkeeper_processes
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

MEMORY = ("-Xmx256m", "-XX:MaxDirectMemorySize=192m", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.admin.enableServer=false")


class BookKeeperCluster:
    """ZooKeeper, clients and bookies of one release, each a process. ``uri`` is where the ledgers' metadata are."""

    def __init__(self, stage: Stage, version: str) -> None:
        self._stage, self._release = stage, bookkeeper_processes(version)
        keeper = stage.session("zookeeper", self._harness("Keeper"))
        self.uri = f"zk+hierarchical://127.0.0.1:{keeper.ask({})['port']}/ledgers"
        self.bookies: list[Bookie] = []

    def _harness(self, main: str) -> Harness:
        return self._stage.harness("processes", f"fencepost.{main}", self._release, MEMORY)

    def client(self, name: str) -> Session:
        """A client's process."""
        return self._stage.session(name, self._harness("Client").with_arguments(self.uri))

    def bookie(self, **settings: object) -> Bookie:
        """One more bookie, which does not run yet; ``settings`` are of its configuration."""
        folder = self._stage.folder / f"b{len(self.bookies)}"
        bookie = Bookie(self._harness("Daemon"), folder, {"metadataServiceUri": self.uri, **settings})
        self.bookies.append(self._stage.ends(bookie))
        return bookie

    def program(self, name: str, main: str, flag: str, arguments: Sequence[str], **settings: object) -> Process:
        """A program of the release that does not run yet, by its main class; ``flag`` precedes its configuration's name."""
        harness = self._harness("Daemon").with_arguments(main)
        settings = {"metadataServiceUri": self.uri, "allowLoopback": "true", "httpServerEnabled": "false", **settings}
        return self._stage.ends(Process(harness, self._stage.folder / name, flag, settings, arguments))

    def ready(self, client: Session) -> None:
        """Waits until all bookies take connections and are registered. Raises SessionError."""
        for bookie in self.bookies:
            bookie.ready()
        self.registered(client, len(self.bookies))

    def registered(self, client: Session, count: int) -> None:
        """Waits until that number of bookies is registered. Raises SessionError."""
        found = client.ask({"do": "wait", "bookies": count})["bookies"]
        if found != count:
            raise SessionError(f"{found} bookies are registered, and should be {count}")


class Process:
    """A program that is shipped, with a new folder that outlives it. A context that ends by killing it."""

    def __init__(
        self, harness: Harness, folder: Path, flag: str, settings: Mapping[str, object], arguments: Sequence[str] = ()
    ) -> None:
        self._folder, self._name = folder, folder.name
        folder.mkdir()
        conf = folder / "program.conf"
        conf.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        self._command = [*harness.command, flag, str(conf), *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Starts its process."""
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=self._folder, start_new_session=True
            )

    def ended(self) -> None:
        """Waits until it has done its work. Raises SessionError if it fails or takes too long."""
        assert self._process is not None
        try:
            status = self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise SessionError(f"{self._name} does not end within {SECONDS:g} s") from None
        if status != 0:
            raise self._failed(status)

    def runs(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def _failed(self, status: int) -> SessionError:
        output = (self._folder / "output").read_text(encoding="utf-8", errors="replace")[-500:].strip()
        return SessionError(f"{self._name} ended with status {status}; its last words: {output}")

    def limit_files(self, size: int | None) -> None:
        """The kernel refuses writes of the process beyond that many bytes of a file, as it does those to a full disk; None ends
        it. Raises SessionError where the system cannot do that."""
        if not hasattr(resource, "prlimit"):
            raise SessionError("a disk that refuses writes needs Linux (prlimit)")
        assert self._process is not None
        soft = resource.RLIM_INFINITY if size is None else size
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

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


class Bookie(Process):
    """One bookie on a free port; ``address`` is its id."""

    def __init__(self, harness: Harness, folder: Path, more: Mapping[str, object]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.address = f"127.0.0.1:{self._port}"
        settings: Mapping[str, object] = {
            "bookiePort": self._port,
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
            **more,
        }
        super().__init__(harness.with_arguments("org.apache.bookkeeper.server.Main"), folder, "--conf", settings)

    def ready(self) -> None:
        """Waits until it takes connections. Raises SessionError if it does not, or has ended."""
        end = time.monotonic() + SECONDS
        while not self._listens():
            if time.monotonic() > end:
                raise SessionError(f"{self._name} does not start within {SECONDS:g} s")
            time.sleep(0.05)

    def _listens(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise self._failed(self._process.returncode)
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False
