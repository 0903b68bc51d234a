"""Many cases: drawn, asked of both, compared, and of each rule that differs one case made small."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.configuration import Version

BATCH = 50
"""Cases that are asked at a time: a line of JSON each way costs more than a case."""
TRIES = 2000
"""Smaller cases that are tried at most to make one small."""

Ask = Callable[[Sequence[Mapping[str, object]]], Sequence[Answer]]
"""What asks the code: requests to answers."""


@dataclass(frozen=True)
class Find:
    """A case in which the two differ, made small, and in what."""

    rule: str
    number: int
    case: Case
    differences: tuple[str, ...]


@dataclass
class Result:
    """What came of it: cases by rule, those that differ by rule, and a find for each rule that does."""

    cases: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def count(self) -> int:
        """How many cases were compared."""
        return self.cases.total()


def campaign(
    rules: Sequence[Rule],
    release: Version,
    ask: Ask,
    *,
    cases: int,
    seed: int,
    progress: Callable[[Result], None] = lambda result: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Compares so many cases, the rules that the release has in turn; a case is a function of seed, release and its number."""
    asked = [rule for rule in rules if release in rule.releases]
    result, began = Result(), time.monotonic()
    for first in range(0, cases, BATCH):
        if should_stop():
            result.interrupted = True
            break
        batch = [_drawn(asked, release, seed, number) for number in range(first, min(first + BATCH, cases))]
        answers = ask([rule.request(case) for _, rule, case in batch])
        for (number, rule, case), answer in zip(batch, answers, strict=True):
            result.cases[rule.name] += 1
            differences = compared(rule, case, answer)
            if differences:
                result.differing[rule.name] += 1
                if result.differing[rule.name] == 1:
                    result.finds.append(small(rule, number, case, differences, ask, should_stop))
        result.seconds = time.monotonic() - began
        progress(result)
    return result


def compared(rule: Rule, case: Case, answer: Answer) -> list[str]:
    """In what the two differ. That the model fails where the class answers is a difference, too."""
    try:
        return rule.differences(case, answer)
    except Exception as error:
        if "throws" in answer:
            return [f"the class throws {answer['throws']}: {answer['message']}"]
        return [f"the model fails: {type(error).__name__}: {error}"]


def small(
    rule: Rule, number: int, case: Case, differences: list[str], ask: Ask, should_stop: Callable[[], bool] = lambda: False
) -> Find:
    """The case with as little in it as still differs."""
    tried = 0
    smaller: tuple[Case, list[str]] | None = (case, differences)
    while smaller is not None and tried < TRIES and not should_stop():
        case, differences = smaller
        smaller = None
        for batch in _batches(rule.smaller(case)):
            tried += len(batch)
            pairs = zip(batch, ask([rule.request(less) for less in batch]), strict=True)
            smaller = next(((less, off) for less, answer in pairs if (off := compared(rule, less, answer))), None)
            if smaller is not None or tried >= TRIES:
                break
    return Find(rule.name, number, case, tuple(differences))


def _drawn(rules: Sequence[Rule], release: Version, seed: int, number: int) -> tuple[int, Rule, Case]:
    rule = rules[number % len(rules)]
    return number, rule, rule.draw(Random(f"{seed}/{release}/{number}"), release)


def _batches(cases: Iterator[Case]) -> Iterator[list[Case]]:
    batch: list[Case] = []
    for case in cases:
        batch.append(case)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
