"""``fencepost new``: the skeleton of a protocol of one's own."""

from __future__ import annotations

import keyword
import re
import sys

from fencepost.checks.commands.new.request import NewRequest
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError


def run(asked: NewRequest) -> ExitStatus:
    """Writes both files, or none; 153 if one of them is there. RegistryError for a name that cannot be one of a protocol."""
    name = asked.name
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise RegistryError(f"{name!r} cannot name a protocol: use lower-case letters, digits and underscores, such as lease")
    if name in PROTOCOLS:
        raise RegistryError(f"{name} is a protocol of Fencepost's own; choose another name")
    texts = {asked.out / f"{name}.py": PROTOCOL, asked.out / f"test_{name}.py": TEST}
    for file in texts:
        if file.exists():
            print(f"fencepost: {file} is there already; remove it, or choose another name or --out", file=sys.stderr)
            return ExitStatus.SYSTEM
    asked.out.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        file.write_text(text.replace("NAME", name), encoding="utf-8")
    model, test = texts
    print(f"{model}: the model, its properties, its instances and a known bug; check it with: fencepost check {model}")
    print(f"{test}: run it with: pytest {test}")
    return ExitStatus.HOLDS


PROTOCOL = '''"""Workers share a lease: whoever holds it works. Say here what your protocol is about."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost import (
    And,
    Bug,
    Entry,
    Instance,
    Leads,
    ModelError,
    Not,
    Outcome,
    Protocol,
    Suite,
    Truth,
    any_of,
    at_least,
)

BUGS = {"taken_blindly": "a worker takes the lease whether or not another one holds it"}


def NAME(*, workers: int = 2, crashes: int = 1, bugs: Iterable[str] = ()) -> Protocol:
    """The lease of some ``workers``, of which as many as ``crashes`` says may crash."""
    if workers < 1:
        raise ModelError("NAME: workers is at least 1")
    parameters = {"workers": workers, "crashes": crashes}
    p = Protocol("NAME", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    # The variables: what a state consists of.
    worker = p.universe("worker", workers)
    holder = p.choice("holder", worker, none="nobody")
    works = p.flag("works", per=worker)
    p.budget("crashes", crashes)

    # The actions: when each can happen, and what it changes. A fair action happens in the end if it can go on happening.
    @p.step(by="w", fair=True, w=worker)
    def take(w: int) -> Outcome:
        """The lease is free: the worker takes it, and works."""
        is_free = Not(works[w]) if p.has("taken_blindly") else holder == "nobody"
        return is_free, {holder: w, works[w]: True}

    @p.step(by="w", fair=True, w=worker)
    def give_back(w: int) -> Outcome:
        """The worker stops working, and gives the lease back."""
        return And(works[w], holder == w), {holder: "nobody", works[w]: False}

    @p.fault(by="w", spends="crashes", w=worker)
    def crash(w: int) -> Outcome:
        """The worker crashes: it works no more, and still holds the lease."""
        return works[w], {works[w]: False}

    @p.step(by="service", fair=True, w=worker)
    def expire(w: int) -> Outcome:
        """The lease of a worker that has crashed expires."""
        return And(holder == w, Not(works[w])), {holder: "nobody"}

    return p


def properties(p: Protocol) -> Suite:
    """What must hold, what must be possible, and what must happen in the end."""
    suite, s, n, worker = Suite(p), p.state, p.next, p.universes["worker"]

    @suite.always
    def one_works() -> Truth:
        """At most one worker works at a time."""
        return Not(at_least(2, [s.works[w] for w in worker]))

    @suite.step
    def only_the_holder_begins() -> Truth:
        """Whoever begins to work holds the lease."""
        return And(*(Not(And(Not(s.works[w]), n.works[w], Not(n.holder == w))) for w in worker))

    @suite.sometimes
    def a_crashed_worker_holds_the_lease() -> Truth:
        """A worker crashes and still holds the lease: without this the model would be too tame."""
        return any_of(And(s.holder == w, Not(s.works[w])) for w in worker)

    @suite.leads_to
    def the_lease_is_free_again() -> Leads:
        """The lease is free again in the end."""
        return True, s.holder == "nobody"

    return suite


ENTRY = Entry(
    name="NAME",
    summary="who works: whoever holds the lease",
    function=NAME,
    suite=properties,
    sizes={
        "ci": (Instance("two workers", {}),),
        "standard": (Instance("five workers, three crashes", {"workers": 5, "crashes": 3}),),
    },
    bugs={"taken_blindly": Bug(shown_by={"crashes": 0})},
)
'''

TEST = '''"""NAME: everything holds, and the known bug is found."""

from NAME import ENTRY


def test_everything_holds(fencepost_check) -> None:
    fencepost_check(ENTRY)


def test_the_known_bug_is_found(fencepost_check) -> None:
    fencepost_check(ENTRY, bugs=["taken_blindly"], violates=["one_works"])
'''
