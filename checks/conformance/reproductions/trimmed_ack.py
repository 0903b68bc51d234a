"""An acknowledgement of what is trimmed moves a reader of a compacted topic past what it has not read.

The topic's first ledger is trimmed, and its messages are in the compacted one. A reader gets the first of them, the topic is
loaded again, and the reader goes on where it was. Then it acknowledges that message. The cursor moves to the next position that
the topic has, which is behind all that the compacted ledger has. The reader of a namespace's policies is such a reader.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.conformance.reproductions.whole_broker import older_broker

KEYS = tuple(f"k{number}" for number in range(5))
LAST = "last"
"""The key of a message that is sent at the end, so that a reader that has it has all."""


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control the acknowledgement comes before the unload. Raises ToolchainError and SessionError."""
    broker = older_broker(stage, release, "CompactedBench")
    broker.ask({"do": "start"})
    stage.say("starts ZooKeeper, a bookie and a broker")
    broker.ask({"do": "send", "keys": list(KEYS)})
    broker.ask({"do": "compact"})
    stage.say(f"a producer sends {', '.join(KEYS)}; the topic is compacted, and its ledger trimmed")
    first = broker.ask({"do": "begin"})["message"]
    stage.say(f"a reader of the compacted topic gets {first}")
    steps = {
        "acknowledge": f"the reader acknowledges {first}",
        "unload": "the topic is unloaded, and the reader connects again",
    }
    for step in steps if control else reversed(steps):
        broker.ask({"do": step})
        stage.say(steps[step])
    broker.ask({"do": "send", "keys": [LAST]})
    got = [first, *broker.ask({"do": "read", "last": LAST})["messages"]]
    missing = [key for key in KEYS if key not in got]
    stage.say(
        f"a producer sends {LAST}; the reader gets {', '.join(got[1:])}; it has not got {', '.join(missing) or 'nothing'}"
    )
    return Observation(bool(missing), {"sent": len(KEYS) + 1, "read": len(got), "missing": len(missing)})


TRIMMED_ACK = Reproduction(
    name="trimmed-ack",
    harm="what a reader of a compacted topic has not read yet: it goes past it by an acknowledgement of what is trimmed",
    control="the acknowledgement comes before the unload",
    system="Pulsar",
    releases=("3.0.7",),
    seconds=60,
    page="docs/reference/topic_loading.md",
    take=take,
)
