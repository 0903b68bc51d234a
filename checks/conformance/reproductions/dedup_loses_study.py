"""How many failed creations of a ledger lose messages where deduplication is on: logged, predicted, and counted.

The removal of a producer is a task of its connection's thread (ServerCnx.safelyRemoveProducer), behind the answers to all
writes that have failed. Once half of the limit of pending writes is answered the connection is read again
(ServerCnx.completedSendOperation), and what waits in its socket comes at once. So three things race: the topic is unfenced,
messages come, the producer is forgotten. A message is lost if the producer is forgotten last.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache

from fencepost.checks.conformance.reproductions.dedup_loses import DEDUP_LOSES, ENTRIES, EXPIRIES, PAUSE_SECONDS, TOPICS
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.study import Study, Trials
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker
from fencepost.checks.odds.prediction import Fit
from fencepost.checks.odds.solving import Solver
from fencepost.checks.odds.ways import WAYS
from fencepost.model.odds.numbers import published

ROUNDS = 7
LIMIT, LARGER = 1_000, 10_000
"""maxPendingPublishRequestsPerConnection. The producers have at most 4,000 messages under way."""


def take(stage: Stage, release: str, limit: float) -> Trials:
    """Producers send, and the broker's session ends again and again."""
    broker = whole_broker(stage, release, "TopicsBench")
    broker.ask({"do": "start", "deduplication": True, "entries": ENTRIES, "pending": int(limit)})
    broker.ask({"do": "time"})
    for number in range(1, ROUNDS + 1):
        stage.progress(f"round {number} of {ROUNDS}")
        broker.ask({"do": "send", "topics": TOPICS})
        time.sleep(PAUSE_SECONDS)
        for _ in range(EXPIRIES):
            broker.ask({"do": "expire"})
            time.sleep(PAUSE_SECONDS)
        broker.ask({"do": "halt"})
    found = broker.ask({"do": "timed"})
    failures, timings = found["failures"], found["timings"]
    if not failures:
        raise NotSetUp("no creation of a ledger fails while a producer is connected")
    fits = {name: Fit.of([each[name] for each in failures]) for name in ("unfencing", "forgetting")}
    fits["throttled_reading"] = Fit(sum(each["is_read"] for each in failures), sum(each["reading"] for each in failures))
    fits |= {name: Fit.of(durations) for name, durations in timings.items()}
    throttled = sum(each["throttled"] for each in failures)
    stage.say(f"{ROUNDS} rounds: {TOPICS} producers send, and ZooKeeper's server ends the broker's session {EXPIRIES} times")
    stage.say(f"{len(failures)} creations of a ledger fail with writes pending; {throttled} connections are throttled then")

    def count() -> int:
        acknowledged = lost = ranges = 0
        for number in range(1, ROUNDS + 1):
            stage.progress(f"reading what round {number} of {ROUNDS} wrote")
            answer = broker.ask({"do": "account", "topics": TOPICS})
            acknowledged, lost = acknowledged + answer["acknowledged"], lost + answer["lost"]
            ranges += len(answer["lost_ranges"])
        if not acknowledged:
            raise NotSetUp("no message is acknowledged")
        stage.say(f"of {acknowledged:,} acknowledged messages {lost:,} cannot be read, in {ranges} ranges")
        return min(ranges, len(failures))

    return Trials(len(failures), fits, count)


@cache
def _solver() -> Solver:
    return Solver(1)


def predict(means: Mapping[str, float], _: float) -> float:
    """The model's probability of a loss, given a failed creation with messages pending and others in the socket."""
    if means["throttled_reading"] == float("inf"):
        return 0.0
    throttled = {f"throttled_{name}": means[name] for name in ("unfencing", "forgetting")}
    return _solver().share_throttled(WAYS["removed_producer_publishes"], published().instead({**means, **throttled}))


DEDUP_LOSES_STUDY = Study(
    name=DEDUP_LOSES.name,
    system=DEDUP_LOSES.system,
    releases=DEDUP_LOSES.releases,
    faults="failed creations of a ledger",
    input="maxPendingPublishRequestsPerConnection",
    usual=LIMIT,
    changed=LARGER,
    seconds=200,
    page=DEDUP_LOSES.page,
    take=take,
    predict=predict,
)
