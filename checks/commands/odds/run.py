"""``fencepost odds``: computes the odds of the ways that are asked for, and prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fencepost.checks.commands.odds.request import OddsRequest
from fencepost.checks.console.printing import in_format, width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.odds.transitions import transitions
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.odds.answering import Means, odds_of
from fencepost.checks.odds.measuring import Measurements
from fencepost.checks.odds.operator import with_file, with_settings
from fencepost.checks.odds.solving import Drawer, Solver, Walker, instance, repair_of
from fencepost.checks.odds.ways import BOUNDED, Fleet, Way, ways
from fencepost.checks.reports.odds import as_json, as_text, numbers_as_json, numbers_as_text
from fencepost.model.language.mistakes import guess
from fencepost.model.odds.clocks import UnclockedError
from fencepost.model.odds.numbers import Numbers, published
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError
from fencepost.traces.files.writing import write_text

MEASURE, NUMBERS = "measure", "numbers"


def run(asked: OddsRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    try:
        if tuple(asked.names) == (MEASURE,):
            return _measured(asked)
        return _listed(asked) if tuple(asked.names) == (NUMBERS,) else _solved(asked)
    except UnclockedError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.USAGE


def _measured(asked: OddsRequest) -> ExitStatus:
    from fencepost.checks.odds.measuring import as_table, measured

    if asked.tables is not None:
        print(as_table(_measured_in(asked, asked.tables)), end="")
        return ExitStatus.HOLDS
    if not asked.metrics:
        raise RegistryError("measure needs --metrics FILE: what a broker or a bookie exports for Prometheus; or --tables DIR")
    print(as_table(measured(asked.metrics)), end="")
    return ExitStatus.HOLDS


def _measured_in(asked: OddsRequest, folder: Path | str) -> Measurements:
    from fencepost.checks.history.odds import measured_in
    from fencepost.checks.history.session import history_session, tables_at
    from fencepost.traces.exploration.folder import FolderError
    from fencepost.traces.exploration.java import SparkError
    from fencepost.traces.exploration.places import PlaceError

    try:
        with history_session(asked.master or "local[*]") as spark:
            tables = tables_at(spark, folder)
            tables.require()
            return measured_in(tables, asked.cluster_name)
    except (FolderError, PlaceError) as error:
        raise InputError(str(error)) from error
    except SparkError as error:
        raise RegistryError(str(error)) from error


def _listed(asked: OddsRequest) -> ExitStatus:
    numbers, _ = _numbers(asked)
    print(
        in_format(asked.format, text=lambda: numbers_as_text(numbers, width()), json=lambda: numbers_as_json(numbers)), end=""
    )
    return ExitStatus.HOLDS


def _numbers(asked: OddsRequest) -> tuple[Numbers, Fleet]:
    """The numbers and the fleet that settings and an operator's file make. Raises InputError."""
    numbers, fleet = published(), Fleet()
    if asked.conf:
        numbers = with_settings(numbers, tuple(asked.conf))
    return with_file(numbers, fleet, asked.numbers) if asked.numbers is not None else (numbers, fleet)


def _solved(asked: OddsRequest) -> ExitStatus:
    if asked.metrics:
        raise RegistryError("--metrics is for measure: fencepost odds measure --metrics FILE")
    numbers, fleet = _numbers(asked)
    fleet = replace(fleet, topics=asked.topics or fleet.topics, bookies=asked.bookies or fleet.bookies)
    known = ways(fleet)
    names = _names(asked, known)
    changed = {names[0]: _with(known[names[0]], asked)} if asked.set else {}
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("odds")
    with (
        _on_spark(asked, changed) as (walker, drawer),
        interruptible() as interrupt,
    ):  # Spark has a handler of its own, and comes first
        solver = Solver(asked.workers, changed)
        means = Means(solver, asked.draws, asked.walks, asked.seed, walker, drawer, reporter.telling, interrupt)
        odds = odds_of(names, numbers, fleet, means)
    if asked.prism is not None:
        _write_chains(asked.prism, [changed.get(name, known[name]) for name in names if name in known], numbers, solver)
    reporter.end()
    print(in_format(asked.format, text=lambda: as_text(odds, width()), json=lambda: as_json(odds)), end="")
    return ExitStatus.INCONCLUSIVE if interrupt() else ExitStatus.HOLDS


def _write_chains(folder: Path, chosen: Sequence[Way], numbers: Numbers, solver: Solver) -> None:
    """Writes a model and its property for each way. Raises OSError."""
    from fencepost.checks.export.prism import PROPERTY, ctmc, model

    folder.mkdir(parents=True, exist_ok=True)
    for way in chosen:
        given = solver.with_rivals(way, numbers)
        whole = transitions(instance(way), given, way.lost, way.opens)
        chain = ctmc(whole, given, outages=way.outages, repair=repair_of(way, given))
        write_text(folder / f"{way.name}.prism", model(chain, way.name))
        write_text(folder / f"{way.name}.props", f"{PROPERTY}\n")


@contextmanager
def _on_spark(asked: OddsRequest, changed: Mapping[str, Way]) -> Iterator[tuple[Walker | None, Drawer | None]]:
    """Who makes the walks, and who solves the draws: Spark, if a master is named. Raises RegistryError if Spark gives up."""
    if asked.master is None:
        if asked.out is not None:
            raise RegistryError("--out keeps what Spark finds: add --master, such as --master local[*]")
        yield None, None
        return
    if not asked.walks and not asked.draws:
        raise RegistryError("--master is for walks and draws: add --walks N, or --draws N")
    from pyspark.errors import AnalysisException

    from fencepost.checks.odds.on_spark import draws_on_spark, on_spark
    from fencepost.traces.exploration.java import SparkError
    from fencepost.traces.exploration.session import spark_session

    try:
        with spark_session(asked.master, light=True) as spark:
            yield on_spark(spark, asked.out), draws_on_spark(spark, changed)
    except SparkError as error:
        raise RegistryError(str(error)) from error
    except AnalysisException as error:
        what = str(error.getMessage()).partition(". ")[0]
        raise RegistryError(f"{asked.out}: {what}; name another folder, or another --seed") from None


def _names(asked: OddsRequest, known: Mapping[str, Way]) -> list[str]:
    """The ways that are named, or those of the protocols that are."""
    names = list[str]()
    for name in asked.names:
        of_protocol = [way.name for way in known.values() if way.protocol == name]
        if not of_protocol and name not in known and name not in BOUNDED:
            if name in PROTOCOLS:
                raise RegistryError(f"no way to lose a message has an instance of {name}: name topic, cluster or ledger")
            every = [*known, *BOUNDED]
            meant = guess(name, [*every, "measure"])
            raise RegistryError(f"there is no way {name!r}{meant}; there are {', '.join(every)}")
        names += of_protocol or [name]
    names = list(dict.fromkeys(names)) or [*known, *BOUNDED]
    if asked.set and (len(names) != 1 or names[0] not in known):
        raise RegistryError("--set is of one way: name it, as in fencepost odds disks --set entries=4")
    return names


def _with(way: Way, asked: OddsRequest) -> Way:
    """The way with other parameters of its instance."""
    return replace(way, parameters={**way.parameters, **PROTOCOLS[way.protocol].settings(asked.set)})
