"""Random refinements: a coarser protocol of some of the variables of another, what is said of the two, and plain Python's view.

The coarse protocol has variables of the fine one, and some that are worked out of these. Its actions are those of the fine one
as far as its own variables tell; where a new value rests on others there is one for each value. Often something is changed
afterwards, so that not all are refined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.language import ModelError
from fencepost.properties.observed import Observed
from fencepost.properties.slices import slice_for
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.replay import replay_on
from tests.fuzz.case import Case
from tests.fuzz.drawing import Drawing
from tests.fuzz.engines import inductive_states
from tests.fuzz.exact import MOST_IN_DOMAINS
from tests.fuzz.plain import Event, Meaning, Reading, State
from tests.fuzz.syntax import Deed, Family, Sort, Spec, Statement, Term, Update
from tests.fuzz.terms import FLAG, const
from tests.fuzz.writing import refining, run

MOST_FREE = 4
"""Values of a variable of which the coarse protocol has an action each, where it does not know the new one."""

MOST_DEEDS = 24
MOST_PAIRS = 400
"""Actions of both protocols in pairs: each has its part in a formula."""


@dataclass(frozen=True)
class Coarser:
    """A coarse protocol, and what its variables are: those that the mapping does not have are variables of the fine one."""

    spec: Spec
    mapping: dict[str, Term]


def coarser(spec: Spec, chance: Random) -> Coarser | None:
    """A coarse protocol; None if the fine one has no variables to tell of."""
    draw = Drawing(chance)
    draw.universes, draw.budgets, draw.families = dict(spec.universes), spec.budgets, list(spec.families)
    kept = [family for family in spec.families if draw.likely(60)]
    mapping = dict[str, Term]()
    worked_out = []
    if draw.likely(40) or not kept:
        mapping["seen"] = draw.truth(1)
        worked_out.append(Family("seen", FLAG, (), ()))
    if draw.likely(30):
        number = draw.number(1)
        if number.high - number.low < MOST_FREE:
            mapping["sum"] = number.term
            worked_out.append(Family("sum", Sort("number", number.low, number.high), (), ()))
    families = [*kept, *(replace(family, initial=(_begins(spec, mapping[family.name]),)) for family in worked_out)]
    if not families or not spec.families:
        return None
    if draw.likely(8):
        place = chance.randrange(len(families))
        family = families[place]
        families[place] = replace(family, initial=tuple((draw.value(family.sort),) for _ in family.initial))
    draw.budgets, draw.families, draw.scope = (), families, []
    deeds = [made for deed in spec.deeds for made in _projected(deed, {family.name: family.sort for family in kept})]
    for family in worked_out:
        free = [_setting(family, value) for value in range(family.sort.low, family.sort.high + 1)]
        both = [replace(d, name=f"{d.name}_and_{f.name}", updates=d.updates + f.updates) for d in deeds for f in free]
        deeds = [*deeds, *free, *both]
    deeds = deeds[:MOST_DEEDS]
    for _ in range(draw.upto(3)):
        if deeds:
            _change(deeds, draw)
    statements = [Statement("keeps", "always", (draw.invariant(),))]
    draw.primed = True
    statements.append(Statement("moves", "step", (draw.invariant(),)))
    return Coarser(Spec(spec.universes, tuple(families), (), tuple(deeds), tuple(statements)), mapping)


def _begins(spec: Spec, term: Term) -> tuple[int, ...]:
    """The values that a term may have at the beginning."""
    reading = Reading(spec)
    meaning = reading.meaning(term, {})
    return tuple(dict.fromkeys(int(meaning(state, state)) for state in reading.initial))


def _mentioned(term: Term) -> Iterator[str]:
    if term.op == "var":
        yield term.detail[0]
    for arg in term.args:
        yield from _mentioned(arg)


def _projected(deed: Deed, kept: dict[str, Sort]) -> Iterator[Deed]:
    """What a coarse protocol with these variables knows of an action."""
    parts = deed.guard.args if deed.guard.op == "and" else (deed.guard,)
    known = tuple(part for part in parts if kept.keys() >= set(_mentioned(part)))
    guard = Term("and", known) if known else const(FLAG, 1)
    ways = []
    for update in deed.updates:
        if update.family in kept:
            sort, is_known = kept[update.family], kept.keys() >= set(_mentioned(update.value))
            values = [const(sort, value) for value in range(sort.low, sort.high + 1)] if sort.size <= MOST_FREE else []
            ways.append([update] if is_known else [replace(update, value=value) for value in values])
    for number, updates in enumerate(itertools.product(*ways) if ways else ()):
        yield replace(deed, name=f"{deed.name}_{number}", guard=guard, updates=updates, fault=False, fair=False, spends="")


def _setting(family: Family, value: int) -> Deed:
    """The action that gives a variable a value, whatever it was."""
    update = Update(family.name, (), const(family.sort, value))
    return Deed(f"{family.name}_{value - family.sort.low}", "someone", (), const(FLAG, 1), (update,))


def _change(deeds: list[Deed], draw: Drawing) -> None:
    """One action less, or one that happens less often, or does something else."""
    place = draw.upto(len(deeds) - 1)
    deed, kind = deeds[place], draw.upto(2)
    if kind == 0:
        del deeds[place]
    elif kind == 1:
        deeds[place] = replace(deed, guard=Term("and", (deed.guard, draw.truth(1))))
    else:
        update, *others = deed.updates
        sort = next(family.sort for family in draw.families if family.name == update.family)
        deeds[place] = replace(deed, updates=(replace(update, value=const(sort, draw.value(sort))), *others))


class Seen:
    """A fine protocol as the coarse one sees it, in plain Python."""

    def __init__(self, fine: Reading, coarse: Coarser) -> None:
        self.coarse, self._fine = Reading(coarse.spec), fine
        self._values = [
            fine.meaning(coarse.mapping[name], {}) if name in coarse.mapping else _at(fine.places[name, index])
            for name, index in coarse.spec.variables
        ]
        self._statements = {s.name: self.coarse.meaning(s.formulas[0], {}) for s in coarse.spec.statements}

    def state(self, state: State) -> State:
        """What the coarse protocol sees of a state."""
        return tuple(int(value(state, state)) for value in self._values)

    @cached_property
    def begins(self) -> bool:
        """Whether each variable begins with one of the values that it has at first in the coarse protocol."""
        options = [set(several) for family in self.coarse.spec.families for several in family.initial]
        return all(
            value in allowed for state in self._fine.initial for value, allowed in zip(self.state(state), options, strict=True)
        )

    def is_step(self, before: State, after: State) -> bool:
        """Whether a step of the fine protocol is one of the coarse, or changes nothing there."""
        one, other = self.state(before), self.state(after)
        return one == other or any(self._leads(event, one, other) for event in self.coarse.events)

    def happens(self, deed: str, before: State, afters: Iterable[State]) -> bool:
        """Whether some step from a state is that action, and changes something."""
        one, events = self.state(before), [event for event in self.coarse.events if event.deed.name == deed]
        others = {self.state(after) for after in afters} - {one}
        return any(self._leads(event, one, other) for event in events for other in others)

    @staticmethod
    def _leads(event: Event, one: State, other: State) -> bool:
        if not event.guard(one, one):
            return False
        reached = list(one)
        for place, value in event.effects:
            reached[place] = int(value(one, one))
        return tuple(reached) == other

    def broken(self, name: str, before: State, after: State) -> bool:
        """Whether a step breaks the refinement, or what it carries of steps."""
        if name == "refined":
            return not self.is_step(before, after)
        one, other = self.state(before), self.state(after)
        return one != other and not self._statements["moves"](one, other)

    def is_kept(self, state: State) -> bool:
        """Whether what the coarse protocol says of its states holds of what it sees."""
        seen = self.state(state)
        return bool(self._statements["keeps"](seen, seen))


def _at(place: int) -> Meaning:
    return lambda state, after: state[place]


def refinement(case: Case) -> bool:
    """A refinement by search, of all and of a slice, and by induction, against plain Python: what it finds, how soon, where."""
    drawn = coarser(case.spec, case.chance) if case.world.whole else None
    if drawn is None:
        return False
    seen, text = Seen(case.reading, drawn), refining(case.spec, drawn.spec, drawn.mapping)
    if len(case.reading.events) * len(seen.coarse.events) > MOST_PAIRS:
        return False
    case.text = text
    try:
        _, suite = run(text)
    except ModelError as error:
        if "does not begin as in" in str(error):
            case.same(f"refined: {error}", False, seen.begins)
            return True
        return False  # the language refuses the coarse protocol, which has actions of other protocols' making
    case.same("refined: begins as it should", True, seen.begins)
    refined = [p for p in suite.properties if p.name.startswith("refined")]
    mapped = next(p.refinement for p in refined if p.refinement is not None)
    for state in itertools.islice(case.world.depth, 20):
        case.same(f"refined: seen of {state}", mapped.seen(state), seen.state(state))
    for prop in refined:
        _searched(case, suite, seen, prop)
    _proved(case, suite, seen, refined)
    return True


def _searched(case: Case, suite: Suite, seen: Seen, prop: Property) -> None:
    """What a search says of one property, of the whole or of what it can see of it."""
    shortest = _shortest(case, seen, prop)
    within = slice_for(suite.protocol, [prop]) if case.chance.randrange(2) else suite.protocol
    (verdict,) = exhaust(Observed.of(suite, [prop], within=within), Budget(workers=1)).verdicts
    if prop.kind == "sometimes":
        case.same(f"refinement: {prop.name}", verdict.verdict, "violated" if shortest is None else "proved")
        return
    case.same(f"refinement: {prop.name}", verdict.verdict, "exhausted" if shortest is None else "violated")
    if shortest is not None:
        case.same(f"refinement: {prop.name}, steps", verdict.reach["steps"], shortest)
        _sound(case, suite, seen, verdict)


def _sound(case: Case, suite: Suite, seen: Seen, verdict: Verdict) -> None:
    """Raises Difference unless the trace of a violation is a run that ends with it, and replays."""
    trace, name = verdict.trace, verdict.property.name
    assert trace is not None
    case.same(f"refinement: a run of {name}", case.truth.flaw(trace, None), "")
    is_kept = seen.is_kept(trace.states[-1]) if name == "refined_keeps" else not seen.broken(name, *trace.states[-2:])
    case.same(f"refinement: {name} holds at the end of a run", is_kept, False)
    case.same(f"refinement: replay of {name}", replay_on(trace, suite.protocol, suite).replays, True)


def _shortest(case: Case, seen: Seen, prop: Property) -> int | None:
    """The steps of a shortest run that shows it; None if there is none."""
    world, name = case.world, prop.name
    if name == "refined_keeps":
        lengths = [depth for state, depth in world.depth.items() if not seen.is_kept(state)]
    elif prop.kind == "step":
        steps = ((state, after) for state, several in world.steps.items() for _, after in several)
        lengths = [world.depth[state] + 1 for state, after in steps if seen.broken(name, state, after)]
    else:
        deed = name.removeprefix("refined_")
        steps = ((state, [after for _, after in several]) for state, several in world.steps.items())
        lengths = [world.depth[state] for state, afters in steps if seen.happens(deed, state, afters)]
    return min(lengths, default=None)


def _proved(case: Case, suite: Suite, seen: Seen, refined: list[Property]) -> None:
    """What Z3 says by induction: nothing false; and all that follows, by a look at each state that the domains allow."""
    proof = prove(suite, workers=1, seconds=5.0, budget=20.0, examples=0)
    verdicts = {v.property.name: v.verdict for v in proof.verdicts if v.property in refined}
    for prop in refined:
        if verdicts.get(prop.name) == "proved":
            case.same(f"refinement: {prop.name} is proved", None, _shortest(case, seen, prop))
    undecided = any(failure.undecided for failure in proof.failures)
    if undecided or math.prod(sort.size for sort in case.reading.sorts) > MOST_IN_DOMAINS:
        return
    is_inductive, inside = inductive_states(case)
    expected = {
        p.name: is_inductive
        and all(
            seen.is_kept(state) if p.kind == "always" else not any(seen.broken(p.name, state, after) for _, after in steps)
            for state, steps in inside.items()
        )
        for p in refined
        if p.kind in ("always", "step")
    }
    case.same("refinement: induction", {name: verdict == "proved" for name, verdict in verdicts.items()}, expected)
