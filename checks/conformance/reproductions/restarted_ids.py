"""After a migration of the metadata ledger ids begin again, and what a topic stores from its next ledger on is lost.

The number of the last ledger is no value of the metadata: it is how many children a node has had. The migration copies values,
so the target counts from the beginning. A topic sorts its ledgers by id. Its new ledgers come before the former ones, where no
subscription looks for them, and they are trimmed as if everybody had consumed them.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.migration import migrate
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp, Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage
from fencepost.checks.conformance.reproductions.whole_broker import whole_broker

USED = 20
"""How many ledgers other topics have created and deleted before."""

BEFORE, AFTER = 2, 6
"""Messages that the subscription gets before, and messages after the migration, two to a ledger."""

LONG_IDS = "/ledgers/idgen-long/HOB-0000000001"
"""The node by which ids have 63 bits: all are larger than those of 31 bits."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the target makes larger ids. Raises ToolchainError and SessionError."""
    bench = whole_broker(stage, release, "RestartedIdsBench")
    bench.ask({"do": "use", "ledgers": USED})
    stage.say(f"starts two ZooKeepers and a bookie; {USED} ledgers of other topics are created and deleted")
    bench.ask({"do": "open"})
    acknowledged: dict[str, str] = {}
    stage.say(f"a topic is opened, with a subscription, and gets {_written(bench, BEFORE, acknowledged)}")
    got: list[str] = bench.ask({"do": "take"})["messages"]
    stage.say(f"the subscription gets {_all(got)}; the topic gets {_written(bench, 1, acknowledged)}")
    if control:
        bench.ask({"do": "place", "path": LONG_IDS})
        stage.say(f"{LONG_IDS} is put into the target")
    migrate(stage, bench)
    stage.say("the metadata are migrated: all are prepared, all is copied, the migration is complete")
    if not stage.until(lambda: bench.ask({"do": "writable"})["done"]):
        raise NotSetUp(f"no ledger can be created within {SECONDS:g} s after the migration")
    stage.say(f"the topic gets {_written(bench, AFTER, acknowledged)}")
    for opened_again in (False, True):
        if opened_again:
            bench.ask({"do": "open"})
        more = bench.ask({"do": "take"})["messages"]
        got += more
        bench.ask({"do": "trim"})
        seen = bench.ask({"do": "look"})
        stage.say(
            f"{'the topic is opened again; ' if opened_again else ''}the subscription gets {_all(more)}, "
            f"and its precise backlog is {seen['backlog']}; the topic lists the ledgers {_all(map(str, seen['ledgers']))}"
        )
    missing = {message: position for message, position in acknowledged.items() if message not in got}
    lost = [message for message, position in missing.items() if _ledger(position) not in seen["ledgers"]]
    stage.say(f"acknowledged and not delivered: {_all(missing)}; deleted of these, with their ledgers: {_all(lost)}")
    figures = {"acknowledged": len(acknowledged), "delivered": len(got), "undelivered": len(missing), "deleted": len(lost)}
    return Observation(bool(lost), figures)


def _ledger(position: str) -> int:
    return int(position.partition(":")[0])


def _written(bench: Session, messages: int, acknowledged: dict[str, str]) -> str:
    """Writes messages, which are all acknowledged; each with its position, in words."""
    written = []
    for _ in range(messages):
        answer = bench.ask({"do": "add"})
        acknowledged[answer["message"]] = answer["position"]
        written.append(f"{answer['message']} at {answer['position']}")
    return _all(written)


def _all(parts: Iterable[str]) -> str:
    return ", ".join(parts) or "nothing"


RESTARTED_IDS = Reproduction(
    name="restarted-ids",
    harm="acknowledged messages: after a migration of the metadata ledger ids begin again, below those of the topics",
    control="the target is made to count on with ids of 63 bits, before the migration",
    system="Pulsar",
    releases=("4.2.4", "5.0.0-M1", "5.0.1"),
    seconds=60,
    page="docs/findings/restarted-ids.md",
    take=take,
)
