"""A case: what both the model and a class of Pulsar are asked. A rule: how to ask it, how to compare, what is rather asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.configuration import RELEASES, Configuration, Version, defaults
from fencepost.model.balance.load_data import LoadData, LocalBrokerData

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")


@dataclass(frozen=True)
class Case:
    """One question: of which rule, of which ``subject`` (a strategy, an algorithm), with which settings.

    ``rounds`` are the loads that the subject meets one after the other; ``more`` is what the rule needs besides.
    """

    rule: str
    subject: str
    conf: Configuration
    rounds: tuple[LoadData, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


class Rule(ABC):
    """Something that the model and the code both decide. ``mirrors`` names the classes and methods that are asked."""

    name: ClassVar[str]
    mirrors: ClassVar[str]
    releases: ClassVar[Sequence[Version]] = RELEASES

    @abstractmethod
    def draw(self, random: Random, release: Version) -> Case:
        """A case at random, for a release."""

    @abstractmethod
    def request(self, case: Case) -> Mapping[str, object]:
        """The case as the harness reads it."""

    @abstractmethod
    def differences(self, case: Case, answer: Answer) -> list[str]:
        """In what the model differs from the code's answer; empty if in nothing."""

    def smaller(self, case: Case) -> Iterator[Case]:
        """Cases that are a little simpler, the boldest cuts first: fewer rounds, settings, brokers and bundles."""
        yield from _fewer_rounds(case)
        yield from _fewer_settings(case)
        for number, load in enumerate(case.rounds):
            for less in _smaller_loads(load):
                yield replace(case, rounds=(*case.rounds[:number], less, *case.rounds[number + 1 :]))


def _fewer_rounds(case: Case) -> Iterator[Case]:
    if len(case.rounds) > 1:
        for number in range(len(case.rounds)):
            yield replace(case, rounds=case.rounds[:number] + case.rounds[number + 1 :])


def _fewer_settings(case: Case) -> Iterator[Case]:
    usual = defaults(case.conf.pulsar_version)
    for setting in fields(Configuration)[1:]:
        value = getattr(usual, setting.name)
        if getattr(case.conf, setting.name) != value and setting.name != "loadManagerClassName":
            yield replace(case, conf=replace(case.conf, **{setting.name: value}))


def _smaller_loads(load: LoadData) -> Iterator[LoadData]:
    for broker in load.brokers:
        yield replace(load, brokers={name: report for name, report in load.brokers.items() if name != broker})
    for bundle in load.bundles:
        yield replace(load, bundles={name: data for name, data in load.bundles.items() if name != bundle})
    for key in ("recently_unloaded", "recently_unloaded_brokers", "preallocated", "loads"):
        for name in getattr(load, key):
            left = {other: value for other, value in getattr(load, key).items() if other != name}
            yield _changed(load, key, left)
    for broker, report in load.reports.items():
        for less in _smaller_reports(report):
            yield replace(load, brokers={**load.brokers, broker: less})
    for bundle, data in load.bundles.items():
        for term in ("shortTermData", "longTermData"):
            average = getattr(data, term)
            for name, value in _rounder(average):
                rounder = _changed(data, term, _changed(average, name, value))
                yield replace(load, bundles={**load.bundles, bundle: rounder})


def _smaller_reports(report: LocalBrokerData) -> Iterator[LocalBrokerData]:
    plain = LocalBrokerData()
    for bundle in report.spoken_of:
        left = {name: stats for name, stats in report.lastStats.items() if name != bundle}
        yield replace(report, bundles=tuple(name for name in report.bundles if name != bundle), lastStats=left)
    for name in ("cpu", "memory", "directMemory", "bandwidthIn", "bandwidthOut", "brokerVersionString", "numTopics"):
        if getattr(report, name) != getattr(plain, name):
            yield replace(report, **{name: getattr(plain, name)})
    for name, value in _rounder(report):
        yield _changed(report, name, value)
    for bundle, stats in report.lastStats.items():
        for name, value in _rounder(stats):
            yield replace(report, lastStats={**report.lastStats, bundle: _changed(stats, name, value)})


def _changed(record: R, name: str, value: object) -> R:
    return replace(record, **{name: value})


def _rounder(record: DataclassInstance) -> Iterator[tuple[str, float]]:
    """The numbers of a record that are not 0, each as 0, and with one digit that is not 0."""
    for each in fields(record):
        value = getattr(record, each.name)
        if isinstance(value, float) and value:
            yield each.name, 0.0
            short = float(f"{value:.0e}")
            if short != value:
                yield each.name, short
