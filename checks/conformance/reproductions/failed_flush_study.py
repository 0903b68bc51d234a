"""How many failed checkpoints lose an entry if the bookie is killed some time later: logged, predicted, and counted.

The entry is lost if the next checkpoint moves the journal's mark before the kill. Checkpoints come at fixed intervals
(SyncThread.start schedules them so), and the kill comes at a random time, of an exponential law.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.bookkeeper_cluster import Bookie, BookKeeperCluster
from fencepost.checks.conformance.reproductions.failed_flush import ENTRY, FAILED_FLUSH, LIMIT
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.study import Study, Trials
from fencepost.checks.engines.odds.aftermath import Event, loss_given
from fencepost.checks.engines.odds.transitions import Transitions, transitions
from fencepost.checks.odds.prediction import Fit
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.properties.ledger.losses import adds_come_once, entry_is_cut_off
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value

TRIALS = 20
TIMED = 8
"""Checkpoints that are timed before a disk refuses anything."""

KILLED_AFTER_MS = 1_000.0
"""Mean time from a failed checkpoint to the kill."""

USUAL_MS, SHORTER_MS = 2_000, 200
SEED = 1
_PAUSE = 0.005
_ONE_COPY = dict.fromkeys(("bookies", "ensemble", "write_quorum", "ack_quorum"), 1) | {"readers": 0}
_LATER = 1e3
"""By how much longer than the kill it takes until somebody opens the ledger: all is over by then."""


def take(stage: Stage, release: str, interval: float) -> Trials:
    """Fails a checkpoint of a new bookie, and kills it some time later; again and again."""
    cluster = BookKeeperCluster(stage, release)
    client = cluster.client("client")
    client.ask({"do": "format"})
    dice, written = random.Random(SEED), list[_Written]()
    bookie = _started(cluster, client, interval)
    intervals = _timed(stage, client, bookie)
    _killed(cluster, client, bookie)
    stage.say(f"starts ZooKeeper and a bookie with flushInterval={interval:g}; {TIMED} checkpoints are timed")
    for number in range(1, TRIALS + 1):
        stage.progress(f"trial {number} of {TRIALS}")
        bookie = _started(cluster, client, interval)
        written.append(_Written(bookie, *_added(client, ENTRY)))
        bookie.limit_files(LIMIT)
        if not stage.until(lambda bookie=bookie: bookie.logged() >= LIMIT, pause=_PAUSE):  # type: ignore[misc]
            raise NotSetUp(f"no checkpoint tries to write the entry within {SECONDS:g} s")
        end = time.monotonic() + dice.expovariate(1000.0 / KILLED_AFTER_MS)
        bookie.limit_files(None)
        time.sleep(max(end - time.monotonic(), 0.0))
        _killed(cluster, client, bookie)
    stage.say(f"{TRIALS} times a bookie's checkpoint fails; kill -9, {KILLED_AFTER_MS / 1000:g} s later on average")

    def count() -> int:
        lost = 0
        for bookie, ledger, confirmed in written:
            bookie.start()
            bookie.ready()
            cluster.registered(client, 1)
            lost += client.ask({"do": "recover", "ledger": ledger})["last"] < confirmed
            _killed(cluster, client, bookie)
        stage.say(f"each starts again; of {TRIALS} acknowledged entries {lost} cannot be read")
        return lost

    return Trials(TRIALS, {"checkpoint": Fit.of(intervals)}, count)


class _Written(NamedTuple):
    """An entry that is acknowledged, and the bookie that has it."""

    bookie: Bookie
    ledger: int
    confirmed: int


def _started(cluster: BookKeeperCluster, client: Session, interval: float) -> Bookie:
    bookie = cluster.bookie(flushInterval=int(interval))
    bookie.start()
    bookie.ready()
    cluster.registered(client, 1)
    return bookie


def _killed(cluster: BookKeeperCluster, client: Session, bookie: Bookie) -> None:
    """Kills a bookie, and waits until it is registered no more: clients would write to it."""
    bookie.kill()
    cluster.registered(client, 0)


def _added(client: Session, size: int) -> tuple[int, int]:
    """A new ledger with an entry of that size; NotSetUp if it is not acknowledged."""
    written = client.ask({"do": "write", "bytes": size})
    if "confirmed" not in written:
        raise NotSetUp("an entry is not acknowledged")
    return written["ledger"], written["confirmed"]


def _timed(stage: Stage, client: Session, bookie: Bookie) -> list[float]:
    """How many ms lie between checkpoints that move the journal's mark; the bookie is killed then."""
    moments = list[float]()
    for _ in range(TIMED + 1):
        mark = bookie.mark()
        _added(client, 1)
        if not stage.until(lambda mark=mark: bookie.mark() != mark, pause=_PAUSE):  # type: ignore[misc]
            raise NotSetUp(f"no checkpoint moves the journal's mark within {SECONDS:g} s")
        moments.append(time.monotonic() * 1000.0)
    return [after - before for before, after in pairwise(moments)]


@cache
def _chain() -> Transitions:
    """One bookie, one copy: the checkpoint that comes next is a timer in stages, as its interval is constant."""
    numbers = published().by_law("timer", "checkpoint")
    parameters: Mapping[str, Value] = {**_ONE_COPY, "failed_saves": 1, "crashes": 1, "entries": 1}
    p = PROTOCOLS["ledger"].build(dict(parameters), ("failed_save_forgotten",))
    return transitions(adds_come_once(p), numbers, entry_is_cut_off, 0)


def predict(means: Mapping[str, float], _: float) -> float:
    """The model's probability that an entry is cut off, given a flush that fails and a kill."""
    later = MS_PER_YEAR / (KILLED_AFTER_MS * _LATER)
    numbers = published().instead({**means, "bookie_kills": MS_PER_YEAR / KILLED_AFTER_MS, "rival_recoveries": later})
    return loss_given(_chain(), numbers.by_law("timer", "checkpoint"), 1, Event("fail_to_save", then=("crash", "recover")))


FAILED_FLUSH_STUDY = Study(
    name=FAILED_FLUSH.name,
    system=FAILED_FLUSH.system,
    releases=FAILED_FLUSH.releases,
    faults="failed checkpoints of a bookie that is killed",
    input="flushInterval",
    usual=USUAL_MS,
    changed=SHORTER_MS,
    seconds=500,
    page=FAILED_FLUSH.page,
    take=take,
    predict=predict,
)
