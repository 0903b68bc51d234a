"""UniformLoadShedder: the fullest broker sheds when it is too far from the emptiest, by message rate or by throughput."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fencepost.model.balance.amounts import DELTA, RIGHT, WITH_DELTA, Amounts
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.java import INT_MAX, quotient, to_int
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.shedding import Load, Unloading, candidates, kept_back, too_few
from fencepost.model.balance.wording import rate, throughput

EPSILON = 1e-6


@dataclass(frozen=True)
class Extremes:
    """The fullest and the emptiest broker by one measure; None if no broker is above -1 or below 2147483647."""

    fullest: str | None
    most: float
    emptiest: str | None
    least: float

    def lifted(self) -> Extremes:
        """With 1.0 for a minimum of about 0."""
        return Extremes(self.fullest, self.most, self.emptiest, 1.0) if abs(self.least) <= EPSILON else self


@dataclass(frozen=True)
class UniformLoadShedder:
    """Remembers nothing. Rates have priority over throughputs.

    In 2.10 the fullest and the emptiest broker are chosen by either measure in one condition, so that a wrong one is
    possible; brokers with one bundle or none are not looked at; and either minimum suffices. Before 4.2 a bundle is accepted
    up to 1000 above what remains, in 2.10 by rates only.
    """

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, UniformLoadShedder]:
        """What should be unloaded now."""
        rates, throughputs = (_extremes_of_2_10 if conf.is_2_10 else _extremes)(data)
        by_rate = _rate_exceeded(rates, conf)
        if not by_rate and not _throughput_exceeded(throughputs, conf):
            head = f"neither {_said_rates(rates)} nor {_said_throughputs(throughputs)} are too far apart ({_bounds(conf)})"
            return Unloading(why=(head,)), self
        chosen = rates if by_rate else throughputs
        broker = chosen.fullest
        head = f"{_said_rates(rates) if by_rate else _said_throughputs(throughputs)} are too far apart ({_bounds(conf)})"
        if broker is None:
            return Unloading(why=(f"{head}, but no broker is the fullest",)), self
        required = {True: _required(rates, conf), False: _required(throughputs, conf)}
        enough = {True: required[True] >= conf.minUnloadMessage, False: required[False] >= conf.minUnloadMessageThroughput}
        why = [f"{broker}: {head}; to shed: up to {_amount(required[by_rate], by_rate)}"]
        if not (any(enough.values()) if conf.is_2_10 else enough[by_rate]):
            minimum = conf.minUnloadMessage if by_rate else conf.minUnloadMessageThroughput
            return Unloading(why=(*why, f"{broker}: that is below the minimum, {_amount(minimum, by_rate)}")), self
        report = data.reports[broker]
        if len(report.owned) <= 1:
            return Unloading(why=(*why, too_few(broker, report))), self
        amounts = WITH_DELTA if conf.before("4.2.4") and (by_rate or not conf.is_2_10) else RIGHT
        most = -1 if conf.is_2_10 else conf.maxUnloadBundleNumPerShedding
        loads = candidates(data, report, conf, by_rate=by_rate)
        taken, reasons = _fitting(required[by_rate], loads, amounts=amounts, most=most, by_rate=by_rate)
        return Unloading({broker: taken} if taken else {}, (*why, *reasons, *kept_back(data, report, conf))), self

    def with_active_brokers(self, brokers: Collection[str]) -> UniformLoadShedder:
        """The same: nothing is remembered of a broker."""
        return self


def _bounds(conf: Configuration) -> str:
    """When it acts; it does not look at what has no threshold above 0."""
    rates = conf.loadBalancerMsgRateDifferenceShedderThreshold
    throughputs = conf.loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold
    parts = [f"rates by more than {rates:g} %"] if rates > 0 else []
    parts += [f"throughputs by a factor of more than {throughputs:g}"] if throughputs > 0 else []
    return f"acts on {', '.join(parts) or 'nothing'}"


def _extremes(data: LoadData) -> tuple[Extremes, Extremes]:
    """Fullest and emptiest, separately by rate and by throughput, by strict comparison.

    Minima start at 2147483647, so that a least throughput above 2 GiB/s goes unseen.
    """
    both = []
    for values in (
        {broker: report.rate for broker, report in data.reports.items()},
        {broker: report.throughput for broker, report in data.reports.items()},
    ):
        fullest, most, emptiest, least = None, -1.0, None, float(INT_MAX)
        for broker, value in values.items():
            if value > most:
                fullest, most = broker, value
            if value < least:
                emptiest, least = broker, value
        both.append(Extremes(fullest, most, emptiest, least).lifted())
    return both[0], both[1]


def _extremes_of_2_10(data: LoadData) -> tuple[Extremes, Extremes]:
    """One fullest and one emptiest broker: a broker takes over that is beyond the last by its rate *or* by its throughput."""
    fullest, most_rate, most_throughput = None, -1.0, -1.0
    emptiest, least_rate, least_throughput = None, float(INT_MAX), float(INT_MAX)
    for broker, report in data.reports.items():
        if len(report.owned) <= 1:
            continue
        if report.rate > most_rate or report.throughput > most_throughput:
            fullest, most_rate, most_throughput = broker, report.rate, report.throughput
        if report.rate < least_rate or report.throughput < least_throughput:
            emptiest, least_rate, least_throughput = broker, report.rate, report.throughput
    return (
        Extremes(fullest, most_rate, emptiest, least_rate).lifted(),
        Extremes(fullest, most_throughput, emptiest, least_throughput).lifted(),
    )


def _rate_exceeded(rates: Extremes, conf: Configuration) -> bool:
    threshold = conf.loadBalancerMsgRateDifferenceShedderThreshold
    return threshold > 0 and quotient((rates.most - rates.least) * 100, rates.least) > threshold


def _throughput_exceeded(throughputs: Extremes, conf: Configuration) -> bool:
    threshold = conf.loadBalancerMsgThroughputMultiplierDifferenceShedderThreshold
    return threshold > 0 and quotient(throughputs.most, throughputs.least) > threshold


def _required(extremes: Extremes, conf: Configuration) -> int:
    return to_int(RIGHT.of_the_difference(extremes.most, extremes.least, conf.maxUnloadPercentage))


def _fitting(
    required: int, loads: list[Load], *, amounts: Amounts, most: int, by_rate: bool
) -> tuple[tuple[str, ...], list[str]]:
    """The bundles, the largest first, that are not larger than what remains; each subtraction truncates to an int."""
    taken: list[str] = []
    reasons: list[str] = []
    remaining = required
    for load in loads:
        line = f"  {load.bundle}: {_amount(load.amount, by_rate)}"
        if most != -1 and len(taken) >= most:
            reasons.append(f"{line}, stays: {most} bundles are unloaded")
        elif _fits(load.amount, remaining, amounts):
            taken.append(load.bundle)
            remaining += to_int(-load.amount)
            reasons.append(f"{line}, unloaded ({_amount(remaining, by_rate)} remain)")
        else:
            reasons.append(f"{line}, stays: larger than what remains")
    return tuple(taken), reasons


def _fits(amount: float, remaining: int, amounts: Amounts) -> bool:
    """Whether a bundle is not too large; with the delta, which is added to an int, none fits where the sum overflows."""
    return bool(amounts.fits(amount, remaining)) and (amounts is RIGHT or remaining <= INT_MAX - DELTA)


def _amount(amount: float, by_rate: bool) -> str:
    return rate(amount) if by_rate else throughput(amount)


def _said_rates(rates: Extremes) -> str:
    return f"the rates of {rates.fullest} ({rate(rates.most)}) and {rates.emptiest} ({rate(rates.least)})"


def _said_throughputs(throughputs: Extremes) -> str:
    most, least = throughput(throughputs.most), throughput(throughputs.least)
    return f"the throughputs of {throughputs.fullest} ({most}) and {throughputs.emptiest} ({least})"
