"""``fencepost policy check``: the properties of a shedder on random loads, and for what breaks one the smallest load found."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fencepost.checks.commands.policy.request import CheckShedderRequest
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.snapshot import as_snapshot
from fencepost.checks.policy.strategies import keep_input, remembered
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.deviation_shedder import NoBrokers
from fencepost.model.balance.load_data import LoadData, Traffic
from fencepost.model.balance.shedding import Shedder
from fencepost.model.balance.user_policy import PolicyFault
from fencepost.properties.balance.answers import EXPECTED, Answer, properties_of
from fencepost.properties.balance.random_loads import random_load
from fencepost.traces.files.writing import write_text


@dataclass(frozen=True)
class Breach:
    """A load that breaks a property: in which round of it, and how."""

    load: LoadData
    round: int
    reason: str


@dataclass
class Tally:
    """What the sample showed: how many loads and unloads were looked at, and the breaches by property."""

    loads: int = 0
    unloads: int = 0
    breaches: dict[str, Breach] = field(default_factory=dict)
    cut_short: bool = False


def check_shedder(asked: CheckShedderRequest, name: str, shedder: Shedder, conf: Configuration) -> ExitStatus:
    """Checks the shedder, prints a verdict on each property, keeps the loads that break one; returns the exit status."""
    reporter = Reporter(quiet=asked.quiet, stream=sys.stderr)
    reporter.begin(name)
    with interruptible() as stop:
        tally = Tally()
        for number in range(asked.loads):
            if stop():
                tally.cut_short = True
                break
            try:
                _look(tally, name, shedder, conf, random_load(conf, asked.seed, number))
            except PolicyFault as fault:
                reporter.end()
                if asked.out is None:
                    fault.add_note(f"asked with load {number}, which --out DIR keeps{remembered(fault)}")
                else:
                    keep_input(fault, asked.out / "fault.json")
                raise
            reporter.telling(f"{number + 1:,} of {asked.loads:,} loads, {tally.unloads:,} unloads")
    reporter.end()
    smallest = {p: _smallest(breach, p, name, shedder, conf) for p, breach in tally.breaches.items()}
    files = _write_loads(smallest, asked.out)
    status = _status(tally, name, conf)
    report = in_format(
        asked.format,
        text=lambda: _text(tally, smallest, files, name, conf, status),
        json=lambda: json.dumps(_json(tally, smallest, files, name, conf, status), indent=2) + "\n",
    )
    print(report, end="")
    return status


def rounds_needed(conf: Configuration) -> int:
    """How many rounds on the same load let every shedder act that counts hits before it does."""
    hits = (conf.loadBalancerAvgShedderHitCountHighThreshold, conf.loadBalancerAvgShedderHitCountLowThreshold)
    return max(2, *hits, conf.loadBalancerSheddingConditionHitCountThreshold + 1)


def _answers(name: str, shedder: Shedder, conf: Configuration, load: LoadData) -> Iterator[Answer]:
    for _ in range(rounds_needed(conf)):
        try:
            unloading, shedder = shedder.find_bundles_for_unloading(load, conf)
        except NoBrokers:
            return
        yield Answer(name, load, conf, unloading)


def _look(tally: Tally, name: str, shedder: Shedder, conf: Configuration, load: LoadData) -> None:
    tally.loads += 1
    for place, answer in enumerate(_answers(name, shedder, conf, load), start=1):
        tally.unloads += sum(map(len, answer.unloading.unload.values()))
        for name_of, statement in properties_of(name).items():
            breach = "" if name_of in tally.breaches else next(statement(answer), "")
            if breach:
                tally.breaches[name_of] = Breach(load, place, breach)


def _smallest(breach: Breach, statement: str, name: str, shedder: Shedder, conf: Configuration) -> Breach:
    """A smallest load, as far as leaving out one thing after the other leads, that still breaks the property."""
    while True:
        for smaller in _smaller(breach.load):
            tally = Tally()
            _look(tally, name, shedder, conf, smaller)
            if statement in tally.breaches:
                breach = tally.breaches[statement]
                break
        else:
            return breach


def _smaller(load: LoadData) -> Iterator[LoadData]:
    """The load without one broker (of three or more), without one bundle, or without one time of an unload."""
    if len(load.brokers) > 2:
        for gone in load.brokers:
            yield replace(load, brokers={name: report for name, report in load.brokers.items() if name != gone})
    for bundle in load.bundles:
        bundles = {name: average for name, average in load.bundles.items() if name != bundle}
        yield replace(load, bundles=bundles)
    for broker, report in load.reports.items():
        for bundle in report.bundles:
            left = {name: stats for name, stats in report.lastStats.items() if name != bundle}
            less = replace(report, bundles=tuple(left), lastStats=left)
            bundles = {name: average for name, average in load.bundles.items() if name != bundle}
            yield replace(load, brokers={**load.brokers, broker: less}, bundles=bundles)
    for bundle in load.recently_unloaded:
        recent = {name: time for name, time in load.recently_unloaded.items() if name != bundle}
        yield replace(load, recently_unloaded=recent)


def _is_expected(statement: str, name: str, conf: Configuration) -> bool:
    expected = EXPECTED.get((statement, name))
    return expected is not None and conf.pulsar_version in expected.versions


def _status(tally: Tally, name: str, conf: Configuration) -> ExitStatus:
    if any(not _is_expected(statement, name, conf) for statement in tally.breaches):
        return ExitStatus.SAFETY
    return ExitStatus.INCONCLUSIVE if tally.cut_short or not tally.unloads else ExitStatus.HOLDS


def _write_loads(breaches: dict[str, Breach], folder: Path | None) -> dict[str, Path]:
    """Writes each load as a snapshot, if a folder is given; OSError if it cannot be written."""
    if folder is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for statement, breach in breaches.items():
        files[statement] = folder / f"{statement}.json"
        write_text(files[statement], json.dumps(as_snapshot(breach.load), indent=2) + "\n")
    return files


def _verdict(statement: str, tally: Tally, name: str, conf: Configuration) -> str:
    if statement not in tally.breaches:
        return "sampled" if tally.unloads else "inconclusive"
    return "expected" if _is_expected(statement, name, conf) else "violated"


def _text(
    tally: Tally, breaches: dict[str, Breach], files: dict[str, Path], name: str, conf: Configuration, status: ExitStatus
) -> str:
    looked = f"{tally.loads:,} random loads, {rounds_needed(conf)} rounds each, {tally.unloads:,} unloads"
    lines = [f"{name}, Pulsar {conf.pulsar_version}: {looked}"]
    for statement, function in properties_of(name).items():
        lines.append(f"  {_verdict(statement, tally, name, conf):<13}{statement}: {(function.__doc__ or '').splitlines()[0]}")
        if statement in breaches:
            lines += [f"    {line}" for line in _breach_lines(breaches[statement], statement, name, conf)]
        if statement in files:
            lines.append(f"    load: {files[statement]}")
    if not tally.unloads:
        lines.append("nothing was ever unloaded, so nothing is claimed; the thresholds may be too high for any load")
    if tally.cut_short:
        lines.append("interrupted; nothing is claimed of the loads that were not looked at")
    return "\n".join([*lines, f"{_in_words(status, is_broken=bool(breaches))} (exit {int(status)})"]) + "\n"


def _in_words(status: ExitStatus, *, is_broken: bool) -> str:
    """The verdict on all of it."""
    if status == ExitStatus.HOLDS:
        return "rules are broken only as expected" if is_broken else "no rule is broken"
    return "a rule is broken" if status == ExitStatus.SAFETY else "nothing is claimed"


def _breach_lines(breach: Breach, statement: str, name: str, conf: Configuration) -> list[str]:
    """How a property is broken: the brokers and their bundles, in the round in which it happens."""
    lines = [f"in round {breach.round}: {breach.reason}"]
    if _is_expected(statement, name, conf):
        lines.append(f"expected: {EXPECTED[statement, name].why}")
    for broker, report in breach.load.reports.items():
        lines.append(f"{broker}: {report.cpu.usage:g} %, {_carried(report)}, bundles: {len(report.bundles)}")
        lines += [f"  {bundle}: {_carried(stats)}" for bundle, stats in report.lastStats.items()]
    for bundle, average in breach.load.bundles.items():
        lines.append(f"{bundle}: {_carried(average.shortTermData)} on average")
    return [*lines, *(f"{bundle}: unloaded recently" for bundle in breach.load.recently_unloaded)]


def _carried(traffic: Traffic) -> str:
    return f"{traffic.rate:g} msg/s, {traffic.throughput:g} bytes/s"


def _json(
    tally: Tally, breaches: dict[str, Breach], files: dict[str, Path], name: str, conf: Configuration, status: ExitStatus
) -> dict[str, object]:
    verdicts = []
    for statement in properties_of(name):
        breach = breaches.get(statement)
        verdicts.append(
            {
                "property": statement,
                "verdict": _verdict(statement, tally, name, conf),
                "said": breach.reason if breach else None,
                "round": breach.round if breach else None,
                "load": as_snapshot(breach.load) if breach else None,
                "file": str(files[statement]) if statement in files else None,
            }
        )
    return {
        "shedder": name,
        "loads": tally.loads,
        "unloads": tally.unloads,
        "status": int(status),
        "verdicts": verdicts,
    }
