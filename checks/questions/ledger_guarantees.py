"""Which questions with a number for an answer a cluster's settings are asked, and in which instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from fencepost.checks.settings.ledger_settings import LedgerSettings
from fencepost.model.bookkeeper.ledger.protocol import BUDGETS
from fencepost.model.releases import Releases
from fencepost.properties.ledger import guarantees as suites
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.theorems import Theory

LEDGER = PROTOCOLS["ledger"]
DURABLE = replace(LEDGER, suite=suites.durability)
ROLLING = replace(DURABLE, function=suites.rolling)
SURVIVES = "an acknowledged entry survives "
LOST = "an acknowledged entry can be lost "

@dataclass(frozen=True)
class Sizes:
    """The sizes of a ledger's quorums and of the cluster."""

    bookies: int
    ensemble: int
    write_quorum: int
    ack_quorum: int

    @classmethod
    def of(cls, settings: LedgerSettings, bookies: int) -> Sizes:
        """Those of the settings, in a cluster of so many bookies."""
        return cls(bookies, *(taken.value for taken in settings.taken))

    @property
    def parameters(self) -> dict[str, Value]:
        """They as parameters of the ledger protocol."""
        return dict(vars(self))

    def raised(self, names: Sequence[str]) -> Sizes:
        """With one more of each of these, and of what must be at least as much."""
        raised = {name: size + (name in names) for name, size in vars(self).items()}
        order = ("ack_quorum", "write_quorum", "ensemble", "bookies")
        for smaller, larger in pairwise(order):
            raised[larger] = max(raised[smaller], raised[larger])
        return Sizes(**raised)


@dataclass(frozen=True)
class Guarantee:
    """A question: up to how many events of a kind do the properties of an entry's suite hold?

    ``says`` is the answer, with ``{n}`` for the events and ``{s}`` for the plural of the word before it, ``denies`` what is
    said where it is none. ``counts`` are the parameters that bound the events, ``most`` is how many are asked about.
    ``defects`` are mistakes of the release, switched on one at a time, each in the instance with these parameters in place of
    the others, after the instance without. ``raised_by`` are sets of sizes of which one more may raise the number. Of a
    question that is ``fewer`` it is one of steps, and the fewer the better; ``steps_of`` names what takes them. A theory is
    asked whether its theorems hold.
    """

    name: str
    says: str
    denies: str
    entry: Entry | Theory
    parameters: Mapping[str, Value]
    counts: tuple[str, ...]
    most: int
    defects: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    raised_by: tuple[tuple[str, ...], ...] = ()
    fewer: bool = False
    steps_of: str = ""

    def asked(self, events: int) -> Iterator[tuple[Instance, tuple[str, ...]]]:
        """The instances in which so many events are possible, each with the defects that are switched on."""
        name, budgets = f"{self.name}, {events}", dict.fromkeys(self.counts, events)
        yield Instance(name, {**self.parameters, **budgets}), ()
        for defect, parameters in self.defects.items():
            yield Instance(name, {**parameters, **budgets}), (defect,)

    def sentence(self, events: int) -> str:
        """What is guaranteed of that many events."""
        return self.says.format(n=events, s="" if events == 1 else "s") if events else self.denies


def ledger_guarantees(sizes: Sizes, releases: Releases) -> list[Guarantee]:
    """What is asked of a ledger."""
    small: dict[str, Value] = {**sizes.parameters, "entries": 1, "readers": 0}
    exact, unrecovered = {**small, "bookies": sizes.ensemble}, {"recoverers": 0}
    anew = {**small, **unrecovered, "bookies": 2 * sizes.ensemble, "changes": sizes.ensemble}
    copies, spare = sizes.ack_quorum, sizes.bookies - sizes.ensemble
    quorum, another = ("ack_quorum",), ("bookies",)
    changed, writing, reading, recovering = (
        replace(LEDGER, suite=suite)
        for suite in (suites.durability_after_change, suites.writing, suites.reading, suites.recovering)
    )
    down, missing = f"of {sizes.bookies} bookies down", ("crashes", "changes")
    found = [
        Guarantee(
            "disks",
            SURVIVES + "{n} lost disk{s}",
            LOST + "with one disk",
            DURABLE,
            exact,
            ("losses",),
            copies,
            raised_by=(quorum,),
        ),
        Guarantee(
            "disks_after_change",
            "after a change of its whole ensemble it survives {n} lost disk{s}",
            "after a change of its whole ensemble, too, it can be lost with one disk",
            changed,
            anew,
            ("losses",),
            copies,
            raised_by=(quorum,),
        ),
        Guarantee(
            "writing",
            f"with {{n}} {down} writing goes on",
            f"with 1 {down} writing can stop",
            writing,
            {**small, **unrecovered},
            missing,
            spare + 1,
            raised_by=(another,),
        ),
        Guarantee(
            "reading",
            "with {n} bookie{s} down every acknowledged entry can be read",
            "with 1 bookie down there can be an acknowledged entry that cannot be read",
            reading,
            {**exact, **unrecovered},
            ("crashes",),
            copies,
            raised_by=(quorum,),
        ),
        Guarantee(
            "recovery",
            f"with {{n}} {down} the ledgers of a crashed broker are recovered",
            f"with 1 {down} a ledger of a crashed broker can stay unrecovered",
            recovering,
            small,
            missing,
            max(copies, spare + 1),
            raised_by=(quorum, another, quorum + another),
        ),
    ]
    return found + list(_of_the_release(sizes, releases))


def _of_the_release(sizes: Sizes, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of a ledger with the mistakes that these releases have, by the faults that show them."""
    small: dict[str, Value] = {**sizes.parameters, "entries": 1, "readers": 0}
    exact, spare = {**small, "bookies": sizes.ensemble}, {**small, "bookies": sizes.ensemble + 1}
    each, fenced = sizes.ensemble, "when a bookie is restarted"
    wiped, empty = "a bookie with an empty disk under its old name", "when a bookie comes back with an empty disk"
    for name, what, when, entry, parameters, most, fault in (
        ("recoveries", "the recovery of its ledger", "when its ledger is recovered", DURABLE, exact, 1, "recoverers"),
        ("restarts", "{n} restart{s} of bookies, one after the other", fenced, ROLLING, exact, each, "crashes"),
        ("changes", "{n} change{s} of ensemble", "when an ensemble changes", DURABLE, spare, 1, "changes"),
        ("wiped", wiped, empty, DURABLE, exact, 1, "losses"),
    ):
        defects = dict(_hazards(sizes, releases, fault))
        yield Guarantee(name, SURVIVES + what, LOST + when, entry, parameters, (fault,), most, defects)


def _hazards(sizes: Sizes, releases: Releases, fault: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """The hazards of a ledger that show with no other fault, each with the instance of these sizes that shows it."""
    usual = {p.name: p.default for p in LEDGER.parameters}
    faults = {name for name in BUDGETS if name != "explicit_lacs"}
    for name in LEDGER.hazards(releases):
        shown = {**usual, **LEDGER.shown_by[name]}
        bookies = sizes.ensemble + int(shown["bookies"]) - int(shown["ensemble"])
        parameters = {**shown, **sizes.parameters, "bookies": bookies, "readers": 0}
        fits = LEDGER.history[name].fits({**parameters, "storage": usual["storage"]})
        if fits and {f for f in faults if shown[f]} == {fault} & faults:
            yield name, parameters
