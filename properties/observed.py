"""A suite as the kernel watches it: which observed formula stands for which property, goal or premise."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Sought
from fencepost.model.language import And, Not, Or, Protocol
from fencepost.model.terms.values import Condition
from fencepost.properties.suspicions import Suspicion, frozen
from fencepost.properties.suspicions import premises as premises_of
from fencepost.properties.vocabulary import Property, Suite


class Lead(NamedTuple):
    """One pair of a ``leads_to`` property: the numbers of its premise and its conclusion."""

    property: Property
    premise: int
    conclusion: int


@dataclass(frozen=True)
class Observed:
    """A kernel that observes, of each state, what it violates, reaches and satisfies the premise of.

    The fields number the kernel's observed formulas: ``states`` the violations of ``always`` properties, ``steps`` those of
    ``step`` properties (formulas over two states), ``goals`` the ``sometimes``, ``premises`` what must be reached for an
    implication to say something, ``may_end`` the ``deadlock`` property: where it does not hold a run may not end,
    ``leads`` what must lead to what, ``waits`` where a premise of it holds and its conclusion does not, and ``parts`` the
    premises of a property one by one, each with its place among how many.
    """

    suite: Suite
    kernel: Kernel
    states: dict[int, Property]
    steps: dict[int, Property]
    goals: dict[int, Property]
    premises: dict[int, Property]
    may_end: dict[int, Property]
    leads: tuple[Lead, ...]
    waits: dict[int, Property]
    parts: dict[int, tuple[Property, int, int]]

    @classmethod
    def of(
        cls, suite: Suite, properties: Iterable[Property], *, closely: bool = False, within: Protocol | None = None
    ) -> Observed:
        """Compiles the suite's protocol with these of its properties, or ``within`` a slice that decides them; ``closely`` also
        each premise of a property that has several."""
        chosen = list(properties)
        formulas: list[Condition] = []
        step_formulas: list[Condition] = []

        def number(formula: Condition, among: list[Condition]) -> int:
            among.append(formula)
            return len(among) - 1

        kinds = ("always", "step", "sometimes", "deadlock", "leads_to")
        of_kind = {kind: [p for p in chosen if p.kind == kind] for kind in kinds}
        states = {number(Not(p.formula), formulas): p for p in of_kind["always"]}
        goals = {number(p.formula, formulas): p for p in of_kind["sometimes"]}
        may_end = {number(p.formula, formulas): p for p in of_kind["deadlock"]}
        implications = [p for p in of_kind["always"] + of_kind["step"] + of_kind["leads_to"] if p.premise is not None]
        of_states = [p for p in implications if p.premise is not None and not suite.protocol.next_variables_of(p.premise)]
        premises = {number(p.premise, formulas): p for p in of_states if p.premise is not None}
        leads = [
            Lead(p, number(premise, formulas), number(conclusion, formulas))
            for p in of_kind["leads_to"]
            for premise, conclusion in p.leads
        ]
        waits = {
            number(Or([And(premise, Not(conclusion)) for premise, conclusion in p.leads]), formulas): p
            for p in of_kind["leads_to"]
        }
        steps = {number(Not(p.judged), step_formulas): p for p in of_kind["step"]}
        parts = {
            number(premise, formulas): (p, place, len(several))
            for p in (of_kind["always"] + of_kind["step"] if closely else ())
            for several in [premises_of(suite.protocol, p)]
            if len(several) > (p.premise is not None)
            for place, premise in enumerate(several, start=1)
        }
        kernel = Kernel(within or suite.protocol, formulas, step_formulas)
        return cls(suite, kernel, states, steps, goals, premises, may_end, tuple(leads), waits, parts)

    def alarms(self) -> tuple[list[int], list[int]]:
        """The formulas, over a state and over a step, whose truth is a violation that is not expected."""
        return (
            [number for number, p in self.states.items() if not p.strict],
            [number for number, p in self.steps.items() if not p.strict],
        )

    def controls(self) -> list[int]:
        """The formulas whose truth is the expected violation of a negative control."""
        return [number for number, p in self.states.items() if p.strict]

    def sought(self) -> Sought:
        """What an exhaustive search of these properties looks for."""
        alarm, step_alarm = self.alarms()
        may_end, stops = next(iter(self.may_end), None), bool(self.may_end)
        return Sought(alarm, step_alarm, self.controls(), stop_on_deadlock=stops, may_end=may_end)

    def vacuous(self, seen: Iterable[int]) -> list[Property]:
        """The properties whose premise was never met."""
        met = set(seen)
        return [p for number, p in self.premises.items() if number not in met]

    def suspicions(self, enabled: Iterable[int], seen: Iterable[int], constant: Collection[str] = ()) -> list[Suspicion]:
        """What makes success suspicious: actions that were never enabled, variables that never changed although an
        action could change them, and implications whose premise was never met.

        ``enabled`` counts, for each action of the kernel, the states in which it was enabled; ``constant`` are the names of the
        variables that had the same value in all states. Of what a slice leaves out nothing is said.
        """
        counts: dict[str, int] = {}
        actions = {action.name: action for action in reversed(self.kernel.actions)}
        for action, count in zip(self.kernel.actions, enabled, strict=True):
            counts[action.name] = counts.get(action.name, 0) + count
        inside = {action.label for action in self.kernel.actions}
        in_part = {action.name for action in self.suite.protocol.actions if action.label not in inside}
        suspicions = [
            Suspicion("never-enabled", name, f"action {name} was never enabled", actions[name].location)
            for name, count in counts.items()
            if not count and name not in in_part
        ]
        for family, action in frozen(self.suite, constant):
            sentence = f"{family} never changed, although {action.name} could change it"
            suspicions.append(Suspicion("never-changes", family, sentence, action.location))
        met, vacuous = set(seen), self.vacuous(seen)
        suspicions += [Suspicion("never-met", p.name, f"the premise of {p.name} was never met", p.location) for p in vacuous]
        suspicions += [
            Suspicion("never-met", p.name, f"the premise of {p.name} was never met without its conclusion", p.location)
            for number, p in self.waits.items()
            if number not in met and p not in vacuous
        ]
        return suspicions + [
            Suspicion("never-met", p.name, f"premise {place} of {count} of {p.name} was never met", p.location)
            for number, (p, place, count) in self.parts.items()
            if number not in met and p not in vacuous
        ]
