"""What holds of shedding whatever the loads, proved over real numbers of the arithmetic that the shedders run.

Loads are in hundredths of a percent, weights and shares in ten-thousandths. Pulsar computes with doubles, so that a load
within rounding of a bound may be on the other side of it; UniformLoadShedder also cuts amounts to whole messages or bytes,
which only makes them smaller.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.model.balance.amounts import BUGS, Amounts
from fencepost.model.language import Condition, Not, Number
from fencepost.model.terms.values import Real, real
from fencepost.properties.theorems import Bugs, Statements, Step, Theorem, Theory, Value, numbers

WHOLE = 10_000
BROKERS = 1000

usage, threshold, fullest, emptiest, mean = numbers("usage threshold fullest emptiest mean")
history, now, weight, share, brokers = numbers("history now weight share brokers")
most, least, moved = numbers("most least moved")


def theorems(bugs: Bugs = frozenset()) -> list[Theorem]:
    """The theorems, with these bugs of the arithmetic switched on."""
    statements = Statements()
    amounts = Amounts(bugs)
    for part in (_averages, _overload, _threshold, _pairs):
        part(statements, amounts)
    return statements.theorems


THEORY = Theory(
    "load_balancing",
    "the arithmetic of Pulsar's shedders: averages, thresholds, how much is shed, and whether that makes things worse",
    "for all loads from 0 to 100 % and any rate, as real numbers; any threshold, weight and share; up to 1,000 brokers",
    BUGS,
    theorems,
)


def _averages(statements: Statements, amounts: Amounts) -> None:
    between = (*_fraction(history), *_fraction(now), *_fraction(weight))
    average = amounts.averaged(_real(history), _real(now), _real(weight))

    def describe(value: Value) -> str:
        after = amounts.averaged(*(value(term) / WHOLE for term in (history, now, weight)))
        before = f"{_percent(value(history))} on average and {_percent(value(now))} now, weight {value(weight) / WHOLE:g}"
        return f"{before}: the average becomes {_percent(after * WHOLE)}"

    @statements.theorem
    def averages_stay_between() -> Iterator[Step]:
        """A usage averaged over time lies between what it was and what it is now."""
        terms = (history, now, weight)
        yield Step("rising, not below", (*between, history <= now), average >= _real(history), terms, describe)
        yield Step("rising, not above", (*between, history <= now), average <= _real(now), terms, describe)
        yield Step("falling, not below", (*between, now <= history), average >= _real(now), terms, describe)
        yield Step("falling, not above", (*between, now <= history), average <= _real(history), terms, describe)


def _overload(statements: Statements, amounts: Amounts) -> None:
    given = (*_fraction(usage), *_fraction(threshold), amounts.is_overloaded(_real(usage), _real(threshold)))
    part = amounts.beyond_the_threshold(1, _real(usage), _real(threshold))

    def describe(value: Value) -> str:
        shed = amounts.beyond_the_threshold(1, value(usage) / WHOLE, value(threshold) / WHOLE)
        return f"at {_percent(value(usage))}, threshold {_percent(value(threshold))}, {_percent(shed * WHOLE)} is to be shed"

    @statements.theorem
    def an_overloaded_broker_is_brought_below_its_threshold() -> Iterator[Step]:
        """From a threshold of 70 % on, what OverloadShedder requires to be shed brings a broker strictly below it.

        That is so if the usage is in proportion to what is carried, and if bundles of that size are there. With a threshold
        of 50 % it is not: a broker at 75 % is left at 52.5 %.
        """
        after = _real(usage) * (1 - part)
        yield Step("below", (*given, threshold >= 7000), after < _real(threshold), (usage, threshold), describe)


def _threshold(statements: Statements, amounts: Amounts) -> None:
    loads = (*_fraction(fullest), *_fraction(emptiest), *_fraction(threshold), threshold > 0, emptiest <= fullest)
    sheds = Not(amounts.is_below(_real(fullest), _real(mean), _real(threshold)))

    @statements.theorem
    def close_brokers_are_left_alone() -> Iterator[Step]:
        """ThresholdShedder sheds nothing while the fullest and the emptiest broker are less than the threshold apart."""
        given = (*loads, emptiest <= mean, mean <= fullest, fullest - emptiest < threshold)

        def describe(value: Value) -> str:
            levels = ", ".join(_percent(value(term)) for term in (emptiest, mean, fullest))
            return f"emptiest, mean and fullest broker at {levels}, threshold {_percent(value(threshold))}: the fullest sheds"

        yield Step("rests", given, Not(sheds), (fullest, emptiest, threshold), describe)

    @statements.theorem
    def a_lone_empty_broker_is_filled_from_n_thresholds_on() -> Iterator[Step]:
        """Of n brokers, one empty and the others equally full, these shed if, and only if, they are at n thresholds or more.

        So by ThresholdShedder, with 10 %, a restarted broker among six is filled once the others are at 60 %, and among
        eleven or more never.
        """
        level = _real(fullest)
        middle = level * (real(brokers) - 1) / real(brokers)
        given = (*_fraction(fullest), *_fraction(threshold), threshold > 0, brokers >= 2, brokers <= BROKERS)
        exactly = Not(amounts.is_below(level, middle, _real(threshold))) == (fullest >= brokers * threshold)

        def describe(value: Value) -> str:
            return (
                f"{value(brokers)} brokers, one empty, the others at {_percent(value(fullest))}, threshold"
                f" {_percent(value(threshold))}: they shed"
            )

        yield Step("exactly", given, exactly, (brokers, fullest, threshold), describe)


def _pairs(statements: Statements, amounts: Amounts) -> None:
    pair = (least >= 0, least <= most)

    @statements.theorem
    def a_share_of_at_most_half_turns_no_pair_round() -> Iterator[Step]:
        """What UniformLoadShedder and AvgShedder take leaves the fuller broker at least as full as the emptier, up to a half.

        More than half may leave it emptier, so that bundles come back.
        """
        amount = amounts.of_the_difference(real(most), real(least), _real(share))
        given = (*pair, *_fraction(share), 2 * share <= WHOLE, moved >= 0, amounts.fits(real(moved), amount))

        def describe(value: Value) -> str:
            return f"{value(moved)} go from {value(most)} to {value(least)}, share {value(share) / WHOLE:g}"

        yield Step("not turned", given, least + moved <= most - moved, (most, least, moved, share), describe)

    @statements.theorem
    def handing_half_the_difference_over_makes_two_brokers_even() -> Iterator[Step]:
        """What TransferShedder hands over would leave both brokers with the same load."""
        half = amounts.half(real(most), real(least))

        def describe(value: Value) -> str:
            handed = amounts.half(value(most), value(least))
            return f"{handed:g} go from {value(most)} to {value(least)}"

        yield Step("even", pair, real(most) - half == real(least) + half, (most, least), describe)


def _fraction(term: Number) -> tuple[Condition, Condition]:
    return term >= 0, term <= WHOLE


def _real(term: Number) -> Real:
    return real(term) / WHOLE


def _percent(hundredths: float) -> str:
    return f"{hundredths / 100:g} %"
