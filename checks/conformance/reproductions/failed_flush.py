"""A flush that fails loses acknowledged entries: a bookie's disk refuses writes for seconds, and works again.

A bookie as it is shipped, with DbLedgerStorage, acknowledges an entry: it is in the journal and in the write cache. Its next
checkpoint fails because the kernel refuses to write the entry log (a limit of the process on the size of files, which the
process cannot tell from a full disk). The disk then works again. The checkpoint after that finds an empty write cache and
moves the journal's mark past the entry, which is in no file that a bookie reads again.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.bookkeeper_cluster import BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage

FLUSH_MILLISECONDS = 2000

ENTRY = 64 << 10
LIMIT = 16 << 10
"""Bytes of a file that can be written: less than the entry, and more than the small files of the metadata have."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the disk refuses nothing. Raises ToolchainError, and SessionError if a process fails."""
    cluster = BookKeeperCluster(stage, release)
    writer, reader = cluster.client("writer"), cluster.client("reader")
    writer.ask({"do": "format"})
    bookie = cluster.bookie(flushInterval=FLUSH_MILLISECONDS)
    bookie.start()
    cluster.ready(writer)
    stage.say(f"starts ZooKeeper and a bookie, each a process; it has a checkpoint every {FLUSH_MILLISECONDS / 1000:g} s")
    ledger = writer.ask({"do": "create", "copies": 1})["ledger"]
    mark = bookie.mark()
    confirmed = writer.ask({"do": "add", "bytes": ENTRY}).get("confirmed")
    if confirmed is None:
        raise NotSetUp("the entry is not acknowledged")
    stage.say(f"a writer adds an entry of {ENTRY >> 10} KiB to ledger {ledger}: e{confirmed} is acknowledged")
    if not control:
        bookie.limit_files(LIMIT)
        if not stage.until(lambda: bookie.logged() >= LIMIT):
            raise NotSetUp(f"no checkpoint tries to write the entry within {SECONDS:g} s")
        if bookie.logged() > LIMIT:
            raise NotSetUp("a checkpoint writes the entry before the disk refuses it")
        mark = bookie.mark()
        bookie.limit_files(None)
        stage.say(f"the disk refuses writes beyond {LIMIT >> 10} KiB of a file; a checkpoint fails; the disk works again")
    if not stage.until(lambda: bookie.mark() != mark):
        raise NotSetUp(f"no checkpoint moves the journal's mark within {SECONDS:g} s")
    stage.say("the next checkpoint moves the journal's mark" if not control else "a checkpoint moves the journal's mark")
    bookie.kill()
    cluster.registered(writer, 0)
    bookie.start()
    cluster.ready(writer)
    stage.say("kill -9 of the bookie; it starts again")
    last = reader.ask({"do": "recover", "ledger": ledger})["last"]
    harmed = confirmed > last
    stage.say(f"a reader opens ledger {ledger}: it is closed at {last}")
    stage.say(f"acknowledged and not readable: {f'e{confirmed} of ledger {ledger}' if harmed else 'nothing'}")
    return Observation(harmed, {"confirmed": confirmed, "last": last})


FAILED_FLUSH = Reproduction(
    name="failed-flush",
    harm="acknowledged entries: a checkpoint that fails once is taken for done by the next",
    control="the disk refuses nothing",
    system="BookKeeper",
    releases=("4.18.0", "4.17.3", "4.18.2"),
    seconds=150,
    page="docs/findings/failed-flush.md",
    take=take,
)
