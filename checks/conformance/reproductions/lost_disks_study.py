"""How many lost disks lose a ledger if a second disk is lost some time later: logged, predicted, and counted.

A ledger has its entries on two bookies. One is killed and its files are deleted; auto-recovery copies the ledger to a third
one. The second disk is lost at a random time, of an exponential law. The ledger is lost if that is before the copy.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from functools import cache

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.bookkeeper_cluster import Bookie, BookKeeperCluster
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.study import Study, Trials
from fencepost.checks.engines.odds.aftermath import Event, loss_given
from fencepost.checks.engines.odds.transitions import Transitions, transitions
from fencepost.checks.odds.prediction import Fit
from fencepost.checks.odds.ways import WAYS
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.properties.protocols import PROTOCOLS

TRIALS = 16
TIMED = 6
"""Repairs that are timed, no second disk being lost."""

ENTRIES = 5
USUAL_MS, SOONER_MS = 10_000, 1_000
"""Mean time from the first lost disk to the second."""

SESSION_MS = 3_000
"""How long a bookie that was killed is still registered. A bookie whose session ends as it starts gives up."""

LOSSES = 8
"""Of the instance: a disk that is lost already may be lost again, which changes nothing."""

SEED = 2
_PAUSE = 0.02


class _Ledgers:
    """A cluster of three bookies, one of whose ledgers loses disks."""

    def __init__(self, stage: Stage, release: str) -> None:
        self._cluster = BookKeeperCluster(stage, release)
        self.client: Session = self._cluster.client("client")
        self.client.ask({"do": "format"})
        self._running = list[Bookie]()
        self.filled()
        main = "org.apache.bookkeeper.replication.AutoRecoveryMain"
        settings = {"advertisedAddress": "127.0.0.1", "lostBookieRecoveryDelay": 0, "zkTimeout": SESSION_MS}
        self._cluster.program("autorecovery", main, "--conf", [], **settings).start()

    def filled(self) -> None:
        """Starts new bookies until there are three."""
        new = [self._cluster.bookie(zkTimeout=SESSION_MS) for _ in range(3 - len(self._running))]
        for bookie in new:
            bookie.start()
        for bookie in new:
            bookie.ready()
        self._running += new
        self._cluster.registered(self.client, 3)

    def written(self) -> tuple[int, list[Bookie]]:
        """A ledger with two copies, which is closed, and the bookies that have them."""
        ledger = self.client.ask({"do": "create", "copies": 2, "quorum": 2})["ledger"]
        for _ in range(ENTRIES):
            self.client.ask({"do": "add"})
        self.client.ask({"do": "close"})
        names = self.ensemble(ledger)
        return ledger, [bookie for bookie in self._running if bookie.address in names]

    def ensemble(self, ledger: int) -> list[str]:
        """The bookies of a ledger, by the metadata."""
        (only,) = self.client.ask({"do": "ensembles", "ledger": ledger})["ensembles"]
        return list(only)

    def loses_disk(self, bookie: Bookie) -> None:
        """The bookie is killed, and its files are gone."""
        bookie.lose_disk()
        self._running.remove(bookie)

    def deleted(self, ledger: int) -> None:
        """Deletes a ledger: one that is lost would keep auto-recovery from the others, as it tries again and again."""
        self.client.ask({"do": "delete", "ledger": ledger})

    def copied(self, ledger: int, gone: Bookie) -> bool:
        """Whether auto-recovery has replaced a bookie."""
        return gone.address not in self.ensemble(ledger)


def take(stage: Stage, release: str, apart: float) -> Trials:
    """Times repairs; then loses one disk and later another one, again and again."""
    ledgers = _Ledgers(stage, release)
    repairs = list[float]()
    for number in range(1, TIMED + 1):
        stage.progress(f"repair {number} of {TIMED}")
        ledger, (first, _) = ledgers.written()
        begun = time.monotonic()
        ledgers.loses_disk(first)
        if not stage.until(lambda: ledgers.copied(ledger, first), pause=_PAUSE):  # noqa: B023
            raise NotSetUp(f"auto-recovery does not replace a bookie within {SECONDS:g} s")
        repairs.append((time.monotonic() - begun) * 1000.0)
        ledgers.deleted(ledger)
        ledgers.filled()
    stage.say(f"starts ZooKeeper, three bookies and auto-recovery; {TIMED} repairs are timed")

    def count() -> int:
        lost, dice = 0, random.Random(SEED)
        for number in range(1, TRIALS + 1):
            stage.progress(f"trial {number} of {TRIALS}")
            ledger, (first, second) = ledgers.written()
            end = time.monotonic() + dice.expovariate(1000.0 / apart)
            ledgers.loses_disk(first)
            time.sleep(max(end - time.monotonic(), 0.0))
            ledgers.loses_disk(second)
            lost += ledgers.client.ask({"do": "read", "ledger": ledger})["read"] < ENTRIES
            ledgers.deleted(ledger)
            ledgers.filled()
        stage.say(f"{TRIALS} times a disk is lost, and the other one {apart / 1000:g} s later on average")
        stage.say(f"of {TRIALS} ledgers with {ENTRIES} acknowledged entries {lost} cannot be read")
        return lost

    return Trials(TRIALS, {"repair": Fit.of(repairs)}, count)


@cache
def _chain() -> Transitions:
    """Disks are alike, and the second one is not the first: of so many losses some are of a disk that is lost already."""
    disks = WAYS["disks"]
    p = PROTOCOLS[disks.protocol].build({**disks.parameters, "entries": 1, "losses": LOSSES})
    return transitions(p, published(), disks.lost, 0)


def predict(means: Mapping[str, float], apart: float) -> float:
    """The model's probability that the last copy is lost before the repair, given a lost disk."""
    numbers = published().instead({**means, "disk_losses": MS_PER_YEAR / apart})
    return loss_given(_chain(), numbers, 1, Event("lose_disk", then=("lose_disk",), repaired="repair"))


LOST_DISKS_STUDY = Study(
    name="lost-disks",
    system="BookKeeper",
    releases=("4.18.0", "4.17.3"),
    faults="lost disks that are followed by another one",
    input="the mean time between the two, in ms",
    usual=USUAL_MS,
    changed=SOONER_MS,
    seconds=600,
    page="docs/explanation/odds-against-reality.md",
    take=take,
    predict=predict,
)
