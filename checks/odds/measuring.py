"""Numbers of a cluster, from what its processes export for Prometheus.

A bookie's latencies are summaries in milliseconds. Their sums drop what is less than a millisecond of each event
(DataSketchesOpStatsLogger.registerSuccessfulEvent of BookKeeper), so a short mean comes from the median: that of an exponential
law is its median over ln 2. A broker observes its metadata store in whole milliseconds (MetadataStoreStats of pulsar-metadata).

Lost sessions are counted by the ZooKeeper server that leads (SessionTrackerImpl.run), of all that it has. A restart is seen by
when the process started (StandardExports of Prometheus' client for Java, in brokers and bookies). Creations of ledgers that
failed are counted by BookKeeper's client (LedgerCreateOp.createComplete), which a broker exports with
bookkeeperClientExposeStatsToPrometheus=true. No release exports how long a broker goes on after a lost session.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.checks.inputs.prometheus import Sample, samples
from fencepost.model.counts import count_of
from fencepost.model.odds.numbers import MS_PER_YEAR, published

_LONG_MS = 10.0
"""Milliseconds from which on a sum that drops fractions is good enough."""
_LEAST_FACTOR = 1.2
"""The factor of a number that was measured once: a minute of a process is not a year of a cluster."""
_JOURNALS = ("bookie_journal_JOURNAL_ADD_ENTRY", "bookkeeper_server_ADD_ENTRY")
_METADATA = "pulsar_metadata_store_ops_latency_ms"
_STORE = "metadata-store"
_RATE = "pulsar_rate_in"
_EXPIRED, _SESSIONS, _UPTIME = "stale_sessions_expired", "global_sessions", "uptime"
_STARTED = "process_start_time_seconds"
_CREATIONS = "pulsar_managedLedger_client_bookkeeper_client_LEDGER_CREATE_count"
_BROKER, _BOOKIE = "pulsar_", ("bookie_", "bookkeeper_server_")
_YEAR_SECONDS = MS_PER_YEAR / 1000.0
_DAYS, _TAIL = 365.25, 0.05

UNITS = {
    **dict.fromkeys((*_JOURNALS, _METADATA, _UPTIME), "ms"),
    _RATE: "1/s",
    _STARTED: "s",
    **dict.fromkeys((_EXPIRED, _SESSIONS, _CREATIONS), "1"),
}
"""The metrics that are read, with their units; of a summary or a histogram the count has none."""


@dataclass(frozen=True)
class Measured:
    """A number that was measured: its value in its own unit, the factor within which it is certain, and from what.

    ``is_most`` says that it is less than that: what was counted has more in it.
    """

    name: str
    value: float
    factor: float
    source: str
    is_most: bool = False


@dataclass(frozen=True)
class Measurements:
    """The numbers that were measured, how many topics there are (0 if that is not told), and what the metrics do not tell."""

    numbers: tuple[Measured, ...]
    topics: int
    unknown: tuple[str, ...]


def measured(paths: Sequence[Path]) -> Measurements:
    """What the metrics of some processes tell. Raises InputError."""
    by_process, written = dict[str, list[Sample]](), dict[str, float]()
    for path in paths:
        by_process[path.name], written[path.name] = list(samples(path)), path.stat().st_mtime if path.exists() else 0.0
        if not by_process[path.name]:
            raise InputError(f"{path}: has no metrics; save what a broker or a bookie answers to /metrics", Place(path))
    return told_by(by_process, written)


def told_by(by_process: Mapping[str, Sequence[Sample]], written: Mapping[str, float]) -> Measurements:
    """What the samples of some processes tell, each by its name; ``written`` is when, in seconds since 1970, if they do not
    say."""
    journal, metadata, rates = dict[str, float](), dict[str, float](), dict[str, float]()
    ages, sessions, creations = {_BROKER: list[float](), "bookie_": list[float]()}, list[_Sessions](), [0.0, 0.0]
    for process, every in by_process.items():
        read = [sample for sample in every if math.isfinite(sample.value)]
        for prefix, found_ages in ages.items():
            found_ages += _ages(read, written.get(process, 0.0), (prefix,) if prefix == _BROKER else _BOOKIE)
        sessions += _sessions(read)
        for place, success in enumerate(("false", "true")):
            creations[place] += sum(s.value for s in read if s.name == _CREATIONS and s.labels.get("success") == success)
        for metric in _JOURNALS:
            mean = _mean_of_summary(read, metric)
            if mean is not None:
                journal[f"{metric} of {process}"] = mean
                break
        mean = _mean_of_histogram(read)
        if mean is not None:
            metadata[f"{_METADATA} of {process}"] = mean
        for sample in read:
            topic = sample.labels.get("topic", "")
            if sample.name == _RATE and topic and sample.value > 0 and "/__" not in topic:
                rates[topic] = rates.get(topic, 0.0) + sample.value
    found = [_put("journal", journal), _put("metadata", metadata), _put("messages", rates, f"{_RATE} of the topics")]
    found += [_lost_sessions(sessions), _outages(*creations), *_restarts(ages[_BROKER], ages["bookie_"])]
    numbers = tuple(each for each in found if each is not None)
    known = {each.name for each in numbers if not each.is_most}
    unknown = [name for name in published() if name not in known and published().of(name).is_guess]
    return Measurements(numbers, len(rates), tuple(unknown))


def _mean_of_summary(read: Sequence[Sample], metric: str) -> float | None:
    """The mean duration of what succeeded, in ms; None if nothing did."""
    mine = [sample for sample in read if sample.name.startswith(metric) and sample.labels.get("success") == "true"]
    count = sum(sample.value for sample in mine if sample.name == f"{metric}_count")
    if count <= 0:
        return None
    mean = sum(sample.value for sample in mine if sample.name == f"{metric}_sum") / count
    medians = [sample.value for sample in mine if sample.name == metric and sample.labels.get("quantile") == "0.5"]
    if mean >= _LONG_MS or not medians:
        return mean if mean > 0 else None
    return sum(medians) / len(medians) / math.log(2) or None


def _mean_of_histogram(read: Sequence[Sample]) -> float | None:
    """The mean duration of a write to the metadata store, in ms; None if none is there, or all took less than a millisecond."""
    is_put = {"type": "put", "status": "success"}.items()
    mine = [sample for sample in read if sample.name.startswith(_METADATA) and is_put <= sample.labels.items()]
    mine = [sample for sample in mine if sample.labels.get("name") == _STORE] or mine
    count = sum(sample.value for sample in mine if sample.name == f"{_METADATA}_count")
    whole = sum(sample.value for sample in mine if sample.name == f"{_METADATA}_sum")
    return whole / count if count > 0 and whole > 0 else None


def _put(name: str, values: Mapping[str, float], source: str = "") -> Measured | None:
    """A number from several measurements: their geometric mean, within the factor that has all of them."""
    if not values:
        return None
    mean = math.exp(math.fsum(math.log(value) for value in values.values()) / len(values))
    factor = max(max(value / mean, mean / value) for value in values.values())
    return Measured(name, mean, max(factor, _LEAST_FACTOR), source or ", ".join(values))


class _Sessions(NamedTuple):
    """What a ZooKeeper server has counted: sessions that expired, those that there are, and for how many years it has run."""

    expired: float
    there: float
    years: float


def _sessions(read: Sequence[Sample]) -> list[_Sessions]:
    values = {sample.name.removesuffix("_total"): sample.value for sample in read}
    if not {_EXPIRED, _SESSIONS, _UPTIME} <= set(values) or min(values[_SESSIONS], values[_UPTIME]) <= 0:
        return []
    return [_Sessions(values[_EXPIRED], values[_SESSIONS], values[_UPTIME] / MS_PER_YEAR)]


def _lost_sessions(servers: Sequence[_Sessions]) -> Measured | None:
    """How often one session is lost, by the server that has counted the most: only the one that leads counts."""
    if not servers:
        return None
    leads = max(servers)
    there = count_of(round(leads.there), "session")
    source = f"{_EXPIRED}: {leads.expired:g} of {there}, whoever had them, in {leads.years * _DAYS:.3g} days"
    return _of_events("expiries", leads.expired, leads.there * leads.years, source)


def _ages(read: Sequence[Sample], written: float, prefixes: tuple[str, ...]) -> list[float]:
    """For how many years each process in a file has run, if such metrics are its own: by the time of its samples, or of the
    file."""
    ages = list[float]()
    for started in (sample for sample in read if sample.name == _STARTED):
        instance = started.labels.get("instance")
        mine = [sample for sample in read if sample.labels.get("instance") == instance]
        if any(sample.name.startswith(prefixes) for sample in mine):
            now = max(sample.time for sample in mine) / 1000.0 or written
            ages += [(now - started.value) / _YEAR_SECONDS] if now > started.value else []
    return ages


def _restarts(brokers: Sequence[float], bookies: Sequence[float]) -> list[Measured | None]:
    """How often a process starts, from how long each has run: of starts at random that is as long as from one to the next."""
    found = list[Measured | None]()
    for names, ages, kind in ((("broker_kills",), brokers, "broker"), (("bookie_failures", "bookie_kills"), bookies, "bookie")):
        if ages:
            years = math.fsum(ages)
            source = f"{_STARTED}: {count_of(len(ages), kind)}, on average {years * _DAYS / len(ages):.3g} days after the start"
            rate = _of_events("", len(ages), years, source)
            found += [replace(rate, name=name, is_most=name.endswith("_kills")) for name in names]
    return found


def _outages(failed: float, done: float) -> Measured | None:
    """How often the metadata store is away, from the share of creations of a ledger that failed: each outage is as long as the
    table of numbers says, and as often fails what waits."""
    if failed + done <= 0:
        return None
    numbers = published()
    years = (failed + done) * numbers["outage"] * numbers["outage_fails"] / MS_PER_YEAR
    source = f"{_CREATIONS}: {failed:g} of {failed + done:g} creations failed; an outage being {numbers['outage'] / 1000:g} s"
    return _of_events("outages", failed, years, source)


def _of_events(name: str, count: float, exposure: float, source: str) -> Measured:
    """A rate by which so many events came in so long, with Jeffreys' prior of half an event more."""
    from scipy.stats import gamma

    low, high = (float(gamma.ppf(end, count + 0.5)) / exposure for end in (_TAIL, 1.0 - _TAIL))
    return Measured(name, math.sqrt(low * high), max(math.sqrt(high / low), _LEAST_FACTOR), source)


def as_table(found: Measurements) -> str:
    """The table ``[odds]`` of a file, with what the metrics do not tell."""
    lines = ["[odds]"]
    lines += [f"topics = {found.topics}"] if found.topics else []
    units = {"ms": "ms", "/s": "per_second", "/year": "per_year"}
    for each in found.numbers:
        unit, at_most = units[published().of(each.name).unit], "# at most, as planned restarts are among them: "
        row = f"{each.name} = {{ {unit} = {each.value:.4g}, factor = {each.factor:.3g} }}"
        lines += [f"# {each.source}", at_most * each.is_most + row]
    lines += ["", "# These metrics do not tell, and the odds use guesses:"]
    lines += [f"# {name}: {published().of(name).meaning}" for name in found.unknown]
    return "\n".join(lines) + "\n"
