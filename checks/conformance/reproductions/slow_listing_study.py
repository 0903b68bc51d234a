"""How many slow updates of the list of ledgers lose a message: logged, predicted, and counted.

The update of the list waits for a random time, of an exponential law: an outage of the metadata store. A producer goes on.
More than twice the time-out of metadata operations later the next message declares the creation failed, and once the producer
is connected again a second creation begins. From then on the first ledger will be dropped, with what it is given. So the
probability is that of an outage that is longer than all that, which is nearly constant.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from fencepost.checks.conformance.reproductions.slow_listing import SLOW_LISTING
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.study import Study, Trials
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker
from fencepost.checks.odds.prediction import Fit

ENTRIES = 20
"""Of a ledger: what is pending when the update is let go does not need a ledger for each two messages."""

TRIALS = 20
TIMED = 4
"""Second creations that are timed, the update waiting for them."""

TIMEOUT_SECONDS = 1
"""managedLedgerMetadataOperationsTimeoutSeconds."""

USUAL_MS, LONGER_MS = 1_000, 10_000
"""Mean time for which an update waits."""

SEED = 3


def take(stage: Stage, release: str, outage: float) -> Trials:
    """Holds updates of the list, each of a topic of its own."""
    broker = whole_broker(stage, release, "ListingBench")
    broker.ask({"do": "start", "entries": ENTRIES, "timeout": TIMEOUT_SECONDS})
    stage.say(f"starts ZooKeeper, a bookie and a broker, managedLedgerMetadataOperationsTimeoutSeconds={TIMEOUT_SECONDS}")
    timed, dice = list[float](), random.Random(SEED)
    for number in range(1, TIMED + 1):
        stage.progress(f"second creation {number} of {TIMED}")
        timed.append(broker.ask({"do": "trial"})["second_creation"])
    for number in range(1, TRIALS + 1):
        stage.progress(f"trial {number} of {TRIALS}")
        broker.ask({"do": "trial", "millis": round(dice.expovariate(1.0 / outage))})
    stage.say(f"{TRIALS} updates of a list wait, {outage / 1000:g} s on average, while a producer sends")

    def count() -> int:
        found = broker.ask({"do": "account"})
        pairs = list(zip(found["acknowledged"], found["read"], strict=True))[TIMED:]
        lost: int = sum(read < acknowledged for acknowledged, read in pairs)
        stage.say(f"the topics are loaded again; readers of {lost} of {TRIALS} do not get all that was acknowledged")
        return lost

    return Trials(TRIALS, {"second_creation": Fit.of(timed)}, count)


def predict(means: Mapping[str, float], outage: float) -> float:
    """The probability of an outage that lasts until a second creation has begun."""
    return math.exp(-means["second_creation"] / outage)


SLOW_LISTING_STUDY = Study(
    name=SLOW_LISTING.name,
    system=SLOW_LISTING.system,
    releases=SLOW_LISTING.releases,
    faults="slow updates of a list of ledgers",
    input="the mean time that an update waits, in ms",
    usual=USUAL_MS,
    changed=LONGER_MS,
    seconds=500,
    page=SLOW_LISTING.page,
    take=take,
    predict=predict,
)
