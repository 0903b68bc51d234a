"""A BookKeeper cluster of processes on the loopback interface: ZooKeeper, clients, bookies, and other programs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.checks.conformance.java_side.harness import Harness
from fencepost.checks.conformance.java_side.servers import bookkeeper_processes
from fencepost.checks.conformance.java_side.session import Session, SessionError
from fencepost.checks.conformance.reproductions.processes import MEMORY, PROGRAMS, Process, free_port
from fencepost.checks.conformance.reproductions.stage import Stage

_MARK_BYTES, _PAUSE = 16, 0.001


class BookKeeperCluster:
    """ZooKeeper, clients and bookies of one release, each a process. ``uri`` is where the ledgers' metadata are."""

    def __init__(self, stage: Stage, version: str) -> None:
        self._stage, self._release = stage, bookkeeper_processes(version)
        keeper = stage.session("zookeeper", self._harness("Keeper"))
        self.uri = f"zk+hierarchical://127.0.0.1:{keeper.ask({})['port']}/ledgers"
        self.bookies: list[Bookie] = []

    def _harness(self, main: str) -> Harness:
        return self._stage.harness("processes", f"fencepost.{main}", self._release, MEMORY, besides=(PROGRAMS,))

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
        return self._stage.ends(Process(harness, self._stage.folder / name, (flag,), settings, arguments))

    def shell(self, name: str, *words: str) -> Process:
        """A command of ``bookkeeper shell`` that does not run yet."""
        return self.program(name, "org.apache.bookkeeper.bookie.BookieShell", "-conf", words)

    def auto_recovery(self, **settings: object) -> Process:
        """Auto-recovery in a process of its own, which does not run yet."""
        main = "org.apache.bookkeeper.replication.AutoRecoveryMain"
        return self.program("autorecovery", main, "--conf", [], advertisedAddress="127.0.0.1", **settings)

    def starts_with(self, client: Session, *settings: Mapping[str, object]) -> list[Bookie]:
        """Formats the metadata and starts a bookie with each of these settings. Raises SessionError."""
        client.ask({"do": "format"})
        bookies = [self.bookie(**each) for each in settings]
        for bookie in bookies:
            bookie.start()
        self.ready(client)
        return bookies

    def ensemble(self, client: Session, ledger: int) -> list[str]:
        """The bookies of the only ensemble of a ledger: b0 is the first that was made."""
        names = {bookie.address: f"b{number}" for number, bookie in enumerate(self.bookies)}
        (only,) = client.ask({"do": "ensembles", "ledger": ledger})["ensembles"]
        return sorted(names[each] for each in only)

    def ready(self, client: Session) -> None:
        """Waits until all bookies take connections and are registered. Raises SessionError."""
        for bookie in self.bookies:
            bookie.ready()
        self.registered(client, len(self.bookies))

    def registered(self, client: Session, count: int) -> None:
        """Waits until that number of bookies is registered. Raises SessionError."""
        count_now = client.ask({"do": "wait", "bookies": count})["bookies"]
        if count_now != count:
            raise SessionError(f"{count_now} bookies are registered, and should be {count}")


class Bookie(Process):
    """One bookie on a free port; ``address`` is its id."""

    def __init__(self, harness: Harness, folder: Path, more: Mapping[str, object]) -> None:
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        settings: Mapping[str, object] = {
            "bookiePort": port,
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
            "zkTimeout": 4000,
            "diskUsageThreshold": 0.999,
            "diskUsageWarnThreshold": 0.998,
            "httpServerEnabled": "false",
            **more,
        }
        super().__init__(harness.with_arguments("org.apache.bookkeeper.server.Main"), folder, ("--conf",), settings, port=port)
        self._current = folder / "ledgers" / "current"

    def logged(self) -> int:
        """The bytes of its largest entry log."""
        return max((log.stat().st_size for log in self._current.glob("*.log")), default=0)

    def mark(self) -> bytes:
        """The journal's mark, before which a replay needs nothing, as it is on disk; empty before the first.

        Journal.LastLogMark.rollLog empties the file before it writes: what is not whole is read again.
        """
        file = self._current / "lastMark"
        while file.exists():
            if len(mark := file.read_bytes()) == _MARK_BYTES:
                return mark
            time.sleep(_PAUSE)
        return b""
