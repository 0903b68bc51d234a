"""One run of a protocol on real code: step by step, and after each step both sides are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fencepost.checks.conformance.running.adapter import Adapter, Departure, Deviation, Difference, Seen, Taken
from fencepost.checks.conformance.running.view import Remembered, View, Views
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Action
from fencepost.traces.trace import State, Trace, trace_of_raw

Verdict = Literal["agrees", "differs", "departs", "not covered"]


class _NotCovered(Exception):
    """A step of a trace cannot be tried."""


Choose = Callable[[State, Sequence[Action], Seen], Action | None]
"""Chooses the next step from those that are enabled, given what the code shows; None ends the run."""


@dataclass(frozen=True)
class Outcome:
    """What one run showed: it *agrees* at every step, or *differs* after the last one (``differences``), or the code *departs*
    there (``why``), or it goes on with what is *not covered* (``why``). ``known`` names the deviation that explains it, if one
    does. ``seen`` is what the code showed last.
    """

    trace: Trace
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    why: str = ""
    known: str = ""
    seen: Seen | None = None

    @property
    def last(self) -> str:
        """The last step, as traces show it; empty if there is none."""
        return self.trace.steps[-1].action if self.trace.steps else ""

    @property
    def explained(self) -> bool:
        """Whether nothing is found: no difference, or one that a known deviation explains."""
        return self.verdict in ("agrees", "not covered") or bool(self.known)

    @property
    def kind(self) -> tuple[str, ...]:
        """What makes two outcomes the same find: how it ended, at which action, in what, without the parameters."""
        bare = sorted({d.kind + " " + d.what.partition("[")[0].partition(" of ")[0] for d in self.differences})
        if any(d.kind != "value" for d in self.differences):
            bare = sorted({" ".join([d.kind, *_words(d.what)]) for d in self.differences})
        return (self.verdict, self.last.partition("(")[0], *bare, " ".join(_words(self.why)), self.known)

    def __str__(self) -> str:
        steps = count_of(len(self.trace.steps), "step")
        if self.verdict == "agrees":
            return f"agrees at each of {steps}"
        if self.verdict == "not covered":
            return f"agrees at each of {steps}; what follows is not covered: {self.why}"
        why = self.why or "; ".join(map(str, self.differences))
        known = f" (known: {self.known})" if self.known else ""
        return f"{self.verdict} after {steps}, at {self.last or 'the start'}: {why}{known}"


def _words(text: str) -> list[str]:
    """The words of a text without members of universes and numbers, so that like finds are alike."""
    return [word for word in re.split(r"[\s,()]+", text) if word and not re.search(r"\d", word)]


class Pair:
    """An instance of a protocol, compiled, beside an adapter for it."""

    def __init__(self, kernel: Kernel, adapter: Adapter) -> None:
        self.kernel, self.adapter = kernel, adapter
        self.protocol = kernel.protocol
        self.views = Views(self.protocol)
        self.numbers = {action.label: number for number, action in enumerate(kernel.actions)}
        self._shown = [(each.name, Remembered(self.views, each.model), each.code) for each in adapter.observables]
        self._expected = Remembered(self.views, adapter.expected)
        self._eager = frozenset(n for n, action in enumerate(kernel.actions) if action.name in adapter.eager)

    def follow(self, labels: Iterable[str], *, lenient: bool = False) -> Outcome:
        """Takes the steps with these labels, except for those that the code takes by itself: they are taken when it takes them.

        A step that is not enabled when its turn comes, because the code has gone on by itself meanwhile, or that the adapter
        does not take, ends the run as not covered, or, if ``lenient``, is left out.
        """
        script = [label for label in labels if label not in self.numbers or self.numbers[label] not in self._eager]
        return self._run(_Script(script, lenient), "a trace")

    def choose(self, choose: Choose, steps: int, *, found_by: str, seed: int | None) -> Outcome:
        """Takes up to so many steps as they are chosen, and those between them that the code takes by itself."""
        return self._run(_Free(choose, steps), found_by, seed)

    def _run(self, plan: _Script | _Free, found_by: str, seed: int | None = None) -> Outcome:
        kernel = self.kernel
        packed = kernel.initial()[0]
        states = [kernel.packing.unpack(packed)]
        actions: list[int] = []
        last: Taken | None = None

        def outcome(verdict: Verdict, seen: Seen | None, differences: Sequence[Difference] = (), why: str = "") -> Outcome:
            trace = trace_of_raw(kernel, states, actions, found_by=found_by, seed=seed)
            known = self._known(last, differences, why) if verdict in ("differs", "departs") else None
            return Outcome(trace, verdict, tuple(differences), why, known.name if known else "", seen)

        def step(number: int) -> None:
            nonlocal packed
            packed = kernel.apply(packed, number)
            actions.append(number)
            states.append(kernel.packing.unpack(packed))

        seen = self.adapter.begin(self.protocol)
        while True:
            enabled = kernel.enabled(packed)
            while due := self._due(enabled, states[-1]):
                step(due[0])
                enabled = kernel.enabled(packed)
            view = self.views.of(states[-1])
            if last is not None:
                last = replace(last, after=view)
            if differences := self.compare(view, seen):
                return outcome("differs", seen, differences)
            try:
                number = plan.next(self, states[-1], enabled, seen)
            except _NotCovered as reason:
                return outcome("not covered", seen, why=str(reason))
            if number is None:
                return outcome("agrees", seen)
            step(number)
            last = Taken(kernel.actions[number], view, self.views.of(states[-1]))
            try:
                seen = self.adapter.take(last)
            except Departure as departure:
                return outcome("departs", None, why=str(departure))

    def _due(self, enabled: Iterable[int], state: State) -> list[int]:
        """The steps that the code takes by itself in a state."""
        eager = [number for number in enabled if number in self._eager]
        return eager and [n for n in eager if self.adapter.takes_by_itself(self.kernel.actions[n], self.views.of(state))]

    def allowed_only(self, action: Action, state: State, seen: Seen) -> str:
        """The name of the allowance because of which the code does not take an enabled step; empty if it should."""
        view = self.views.of(state)
        return next((a.name for a in self.adapter.allowances if a.applies(action, view, seen)), "")

    def compare(self, view: View, seen: Seen) -> list[Difference]:
        """Everything in which the code is not as the state has it."""
        differences = []
        for name, of_model, of_code in self._shown:
            model, code = of_model(view.state), of_code(seen.values)
            if model is not None and code is not None and model != code:
                differences += list(_parted(name, model, code))
        return differences + self._expected(view.state).faults(seen.requests)

    def _known(self, last: Taken | None, differences: Sequence[Difference], why: str) -> Deviation | None:
        if last is None:
            return None
        return next((d for d in self.adapter.deviations if d.applies(last, differences, why)), None)


def _parted(name: str, model: object, code: object) -> Iterator[Difference]:
    """The members in which two mappings differ, or the two values as they are."""
    if isinstance(model, dict) and isinstance(code, dict):
        for key in sorted({*model, *code}, key=str):
            if key in model and key in code and model[key] is not None and model[key] != code[key]:
                yield Difference(f"{name}[{key}]", model[key], code[key])
    else:
        yield Difference(name, model, code)


@dataclass
class _Script:
    """The steps of a trace, in their order."""

    labels: list[str]
    lenient: bool
    place: int = 0

    def next(self, pair: Pair, state: State, enabled: Sequence[int], seen: Seen) -> int | None:
        while self.place < len(self.labels):
            label = self.labels[self.place]
            self.place += 1
            number = pair.numbers.get(label)
            if number is not None and number in enabled:
                if pair.kernel.actions[number].name not in pair.adapter.covered:
                    if self.lenient:
                        continue
                    raise _NotCovered(f"the adapter does not take {label}")
                if self.lenient and pair.allowed_only(pair.kernel.actions[number], state, seen):
                    continue
                return number
            if not self.lenient:
                raise _NotCovered(f"{label} is not enabled when the code has taken what it takes by itself")
        return None


@dataclass
class _Free:
    """Steps as they are chosen, up to a number of them."""

    choose: Choose
    left: int

    def next(self, pair: Pair, state: State, enabled: Sequence[int], seen: Seen) -> int | None:
        if self.left == 0:
            return None
        self.left -= 1
        actions = [pair.kernel.actions[n] for n in enabled if pair.kernel.actions[n].name in pair.adapter.covered]
        chosen = self.choose(state, actions, seen)
        return None if chosen is None else pair.numbers[chosen.label]
