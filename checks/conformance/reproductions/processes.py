"""Processes of a BookKeeper cluster on the loopback interface: ZooKeeper, clients, and bookies that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from fencepost.checks.conformance.java_side.harness import Harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

_SERVER = ("io.dropwizard.metrics:metrics-core:4.1.12.1", "org.xerial.snappy:snappy-java:1.1.10.5")
"""What a ZooKeeper server needs besides its client."""

MEMORY = ("-Xmx256m", "-XX:MaxDirectMemorySize=192m", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.admin.enableServer=false")


def bookkeeper_processes(version: str) -> Release:
    """A release of bookkeeper-server, and what a ZooKeeper server needs."""
    server = f"org.apache.bookkeeper:bookkeeper-server:{version}"
    return Release("bookkeeper-processes", version, tuple(map(Artifact, (server, *_SERVER))))


class BookKeeperCluster:
    """ZooKeeper, clients and bookies of one release, each a process. ``uri`` is where the ledgers' metadata are."""

    def __init__(self, stage: Stage, version: str) -> None:
        self._stage, self._release = stage, bookkeeper_processes(version)
        keeper = stage.session("zookeeper", self.harness("Keeper"))
        self.uri = f"zk+hierarchical://127.0.0.1:{keeper.ask({})['port']}/ledgers"
        self.bookies: list[Bookie] = []

    def harness(self, main: str) -> Harness:
        """A harness among those of ``java/reproductions/processes``. Raises ToolchainError."""
        return self._stage.harness("processes", f"fencepost.{main}", self._release, MEMORY)

    def client(self, name: str, main: str = "Client") -> Session:
        """A client's process."""
        return self._stage.session(name, self.harness(main).with_arguments(self.uri))

    def bookie(self) -> Bookie:
        """One more bookie, which does not run yet."""
        folder = self._stage.folder / f"b{len(self.bookies)}"
        self.bookies.append(self._stage.ends(Bookie(self.harness("Bookie"), folder, self.uri)))
        return self.bookies[-1]

    def ready(self, client: Session) -> None:
        """Waits until all bookies take connections and are registered. Raises SessionError."""
        end = time.monotonic() + SECONDS
        while not all(bookie.listens() for bookie in self.bookies):
            if time.monotonic() > end:
                raise SessionError(f"the bookies do not start within {SECONDS:g} s")
            time.sleep(0.05)
        self.registered(client, len(self.bookies))

    def registered(self, client: Session, count: int) -> None:
        """Waits until that number of bookies is registered. Raises SessionError."""
        found = client.ask({"do": "wait", "bookies": count})["bookies"]
        if found != count:
            raise SessionError(f"{found} bookies are registered, and should be {count}")


class Bookie:
    """One bookie's process on a free port, with a new folder that outlives it. A context that ends by killing it."""

    def __init__(self, harness: Harness, folder: Path, uri: str) -> None:
        self._harness, self._folder = harness, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        settings: Mapping[str, object] = {
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Starts its process."""
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [*self._harness.command, "--conf", str(self._conf)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                start_new_session=True,
            )

    def listens(self) -> bool:
        """Whether it takes connections. Raises SessionError if it has ended."""
        assert self._process is not None
        if self._process.poll() is not None:
            output = (self._folder / "output").read_text(encoding="utf-8", errors="replace")[-500:].strip()
            raise SessionError(f"a bookie ended with status {self._process.returncode}; its last words: {output}")
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
