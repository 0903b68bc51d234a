"""Numbers of a cluster, from what its processes export for Prometheus.

A bookie's latencies are summaries in milliseconds. Their sums drop what is less than a millisecond of each event
(DataSketchesOpStatsLogger.registerSuccessfulEvent of BookKeeper), so a short mean comes from the median: that of an exponential
law is its median over ln 2. A broker observes its metadata store in whole milliseconds (MetadataStoreStats of pulsar-metadata).
No release exports how often sessions are lost, or how long a broker goes on after that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.settings.files.input_files import InputError, Place
from fencepost.checks.settings.files.prometheus import Sample, samples
from fencepost.model.odds.numbers import published

_LONG_MS = 10.0
"""Milliseconds from which on a sum that drops fractions is good enough."""
_LEAST_FACTOR = 1.2
"""The factor of a number that was measured once: a minute of a process is not a year of a cluster."""
_JOURNALS = ("bookie_journal_JOURNAL_ADD_ENTRY", "bookkeeper_server_ADD_ENTRY")
_METADATA = "pulsar_metadata_store_ops_latency_ms"
_STORE = "metadata-store"
_RATE = "pulsar_rate_in"


@dataclass(frozen=True)
class Measured:
    """A number that was measured: its value in its own unit, the factor within which it is certain, and from what."""

    name: str
    value: float
    factor: float
    source: str


@dataclass(frozen=True)
class Measurements:
    """The numbers that were measured, how many topics there are (0 if that is not told), and what the metrics do not tell."""

    numbers: tuple[Measured, ...]
    topics: int
    unknown: tuple[str, ...]


def measured(paths: Sequence[Path]) -> Measurements:
    """What the metrics of some processes tell. Raises InputError."""
    journal, metadata, rates = dict[str, float](), dict[str, float](), dict[str, float]()
    for path in paths:
        read = list(samples(path))
        if not read:
            raise InputError(f"{path}: has no metrics; save what a broker or a bookie answers to /metrics", Place(path))
        read = [sample for sample in read if math.isfinite(sample.value)]
        for metric in _JOURNALS:
            mean = _mean_of_summary(read, metric)
            if mean is not None:
                journal[f"{metric} of {path.name}"] = mean
                break
        mean = _mean_of_histogram(read)
        if mean is not None:
            metadata[f"{_METADATA} of {path.name}"] = mean
        for sample in read:
            topic = sample.labels.get("topic", "")
            if sample.name == _RATE and topic and sample.value > 0 and "/__" not in topic:
                rates[topic] = rates.get(topic, 0.0) + sample.value
    found = [_put("journal", journal), _put("metadata", metadata), _put("messages", rates, f"{_RATE} of the topics")]
    numbers = tuple(each for each in found if each is not None)
    known = {each.name for each in numbers}
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


def as_table(found: Measurements) -> str:
    """The table ``[odds]`` of a file, with what the metrics do not tell."""
    lines = ["[odds]"]
    lines += [f"topics = {found.topics}"] if found.topics else []
    units = {"ms": "ms", "/s": "per_second"}
    for each in found.numbers:
        unit = units[published().of(each.name).unit]
        lines += [f"# {each.source}", f"{each.name} = {{ {unit} = {each.value:.4g}, factor = {each.factor:.3g} }}"]
    lines += ["", "# These metrics do not tell, and the odds use guesses:"]
    lines += [f"# {name}: {published().of(name).meaning}" for name in found.unknown]
    return "\n".join(lines) + "\n"
