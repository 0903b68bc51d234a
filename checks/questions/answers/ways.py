"""The ways in which something happens to users, the answer that they are, and the order in which a report has them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.outcomes import Settled
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.answers.events import EVENTS
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.matters import Matter
from fencepost.checks.settings.switches import SwitchedOn
from fencepost.properties.bugs import Bug


@dataclass(frozen=True)
class Way:
    """One way in which something happens: the run that shows it, and what must coincide.

    ``name`` is that of a known bug or, where none is needed, of the guarantee that ends there; ``what`` says what it is.
    ``needs`` are the events that must coincide, in words, and ``faults`` how many of them are faults. ``bug`` is what is
    known of the bug, None of what no bug is to blame for. ``row`` is the guarantee that shows it, if one does, and ``violates``
    the property of the protocol that the run violates. ``whole`` is the check of a cluster that the bug enters by weak moves:
    its run is from the acknowledgement to the loss. ``avoided_by`` is the setting that avoids what is no bug. ``open`` says why
    it is not known what else must coincide: the search of the cluster was cut short, or that of the part.
    """

    name: str
    what: str
    needs: tuple[str, ...]
    faults: int
    checked: Checked
    verdict: Verdict
    bug: Bug | None = None
    row: Established | None = None
    violates: str = ""
    whole: Checked | None = None
    avoided_by: str = ""
    open: str = ""

    @property
    def steps(self) -> list[str]:
        """The run that a user meets, by the labels of its steps."""
        verdict = self.verdict if self.whole is None else self.whole.verdicts[0]
        return [step.action for step in verdict.run.steps]


@dataclass(frozen=True)
class Answer:
    """The answer to a question of a user.

    ``ways`` are those in which it happens, what needs the fewest faults first; ``shown`` are the guarantees that hold, each
    with the events that were asked about, or with as many as it survives; ``gaps`` say what was cut short. ``searched`` has by
    name the known bugs, and the properties of settings, that were searched for it alone, to the end. ``told`` are bugs that
    were not, since another answer has them. ``covered`` are known bugs by which a bundle has two owners, and it
    does not happen all the same: each with the protections that keep it from that. ``orders`` are the settings by which it
    happens because they say so.
    """

    matter: Matter
    ways: tuple[Way, ...]
    shown: tuple[Established, ...]
    gaps: tuple[str, ...]
    searched: Mapping[str, Settled]
    told: tuple[str, ...] = ()
    covered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    orders: tuple[SwitchedOn, ...] = ()

    @property
    def value(self) -> str:
        """``yes``; ``as ordered`` if nothing but settings brings it about; else what there is without them."""
        return "as ordered" if self.orders and not self.lasting else self.unordered

    @property
    def unordered(self) -> str:
        """What it is apart from what settings order: ``yes`` or ``for a while``; ``no`` if complete searches alone found
        nothing; where one was cut short, or none was made, ``unknown``."""
        if self.ways:
            return "yes" if self.lasting else "for a while"
        return "no" if (self.searched or self.shown) and not self.gaps else "unknown"

    @property
    def lasting(self) -> tuple[Way, ...]:
        """The ways by which it does not only happen for a while."""
        passing = self.matter.passing
        return tuple(way for way in self.ways if way.row is None or way.row.guarantee.name not in passing)


def events_in(way: Way) -> tuple[str, ...]:
    """The names of the events that a way needs, in the order of its needs."""
    found = (name for need in way.needs for name, event in EVENTS.items() if any(words in need for words in event.words))
    return tuple(dict.fromkeys(found))


def acts_in(way: Way) -> tuple[str, ...]:
    """The acts of an administrator without which there is no such way."""
    return tuple(name for name in events_in(way) if EVENTS[name].is_act)


@dataclass(frozen=True)
class Sorted:
    """The ways of an answer: those that ``count``, those ``only_if`` an administrator acts, those that ``never`` happen, and
    those by a known bug that is ``accepted``."""

    count: tuple[Way, ...]
    only_if: tuple[Way, ...]
    never: tuple[Way, ...]
    accepted: tuple[Way, ...] = ()


def in_order(ways: Iterable[Way], excluded: Collection[str], accepted: Collection[str] = ()) -> Sorted:
    """The ways in the order of a report: acts stand last; what needs an event that does not happen here, and what is by a known
    bug of an ``accepted`` name, is apart."""
    ways = list(ways)
    out = [way for way in ways if set(events_in(way)) & set(excluded)]
    borne = [way for way in ways if way not in out and way.bug is not None and way.name in accepted]
    acts = [way for way in ways if way not in out and way not in borne and acts_in(way)]
    count = [way for way in ways if way not in out and way not in borne and way not in acts]
    return Sorted(tuple(count), tuple(acts), tuple(out), tuple(borne))
