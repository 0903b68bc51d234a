"""A toy with every kind of variable, clients that take turns at a lock, a net that may cut the holder off; and Spark."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import And, Not, Or, Protocol
from fencepost.model.language.declarations import OneOf
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from fencepost.traces.trace import Trace, trace_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAR = 2**60


def lock(*, clients: int = 2, turns: int = 2, fair: bool = False, mode: str = "plain", bugs: Iterable[str] = ()) -> Protocol:
    """The toy; with its bug a client takes the lock although another holds it."""
    parameters = {"clients": clients, "turns": turns, "fair": fair, "mode": mode}
    p = Protocol("lock", parameters=parameters, bugs={"takes_held": "a held lock is taken"}, active=bugs)
    client = p.universe("client", clients)
    holders = p.subset("holders", client)
    taken = p.number("taken", FAR, FAR + turns)
    phase = p.choice("phase", ["idle", "holding"], per=client)
    seen = p.flag("seen", per=(client, client))
    p.choice("colour", ["red", "green"], init=OneOf(("red", "green")))

    @p.step(by="c", c=client)
    def take(c: int) -> object:
        """The client takes the lock."""
        free = Or(p.has("takes_held"), holders.is_empty)
        return And(free, taken < FAR + turns, Not(holders.has(c))), {
            holders: holders.plus(c),
            taken: taken + 1,
            phase[c]: "holding",
            seen[c, 0]: True,
        }

    @p.step(by="c", c=client)
    def release(c: int) -> object:
        """The client gives the lock back."""
        return holders.has(c), {holders: holders.minus(c), phase[c]: "idle"}

    @p.fault(by="net")
    def cut() -> object:
        """The net cuts everybody off."""
        return Not(holders.is_empty), {holders: (), **{phase[c]: "idle" for c in client}}

    return p


def suite(p: Protocol) -> Suite:
    properties, s, n = Suite(p), p.state, p.next

    @properties.always
    def one_holder() -> object:
        """At most one client holds the lock."""
        return Not(And(s.holders.has(0), s.holders.has(1)))

    @properties.step
    def taken_by_one() -> object:
        """No step takes a lock that is held."""
        return Or(s.holders.is_empty, n.taken == s.taken)

    @properties.sometimes
    def all_turns() -> object:
        """Every turn is taken."""
        return s.taken == FAR + p.parameters["turns"]

    return properties


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Spark, in one JVM for all that ask for it; marked as of the group ``spark`` they do so in one worker of xdist."""
    from fencepost.traces.exploration.session import spark_session

    few = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}
    with spark_session("local[2]", few, light=True) as session:
        yield session


@pytest.fixture(scope="session")
def protocols() -> dict[str, Entry]:
    sizes = {"ci": (Instance("small", {"clients": 2}),)}
    return {"lock": Entry(name="lock", summary="clients that take turns at a lock", function=lock, suite=suite, sizes=sizes)}


@pytest.fixture(scope="session")
def broken(protocols: dict[str, Entry]) -> Protocol:
    """The instance with the bug."""
    return protocols["lock"].build({"turns": 3}, ["takes_held"])


@pytest.fixture(scope="session")
def trace(broken: Protocol) -> Trace:
    """c0 takes the lock, is cut off, takes it again, and so does c1."""
    kernel = Kernel(broken)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    actions = [numbers[label] for label in ("take(c0)", "cut", "take(c0)", "take(c1)")]
    states = [kernel.initial()[1]]
    for action in actions:
        states.append(kernel.apply(states[-1], action))
    return trace_of(kernel, states, actions, violated="one_holder", found_by="random walk 7", seed=3)
