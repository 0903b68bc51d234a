"""The options that several commands have are the same in each, and no number that they take ends in a traceback."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.arguments import _parser
from fencepost.checks.engines.results.verdicts import ExitStatus

SHARED = {
    *("--set", "--size", "--defect", "--steps", "--seed", "--strategy", "--workers", "--memory"),
    *("--pulsar", "--shedder", "--placement", "--hours", "--quiet"),
}


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options of a command and of all below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options(below)
        else:
            yield action


def test_an_option_of_several_commands_takes_the_same_in_each() -> None:
    taken = defaultdict(list)
    for option in _options(_parser()):
        for name in set(option.option_strings) & SHARED:
            kind = getattr(option.type, "__qualname__", None)
            taken[name].append((kind, option.nargs, None if option.choices is None else tuple(option.choices)))
    assert set(taken) == SHARED
    assert {name for name, several in taken.items() if len(several) == 1 or len(set(several)) > 1} == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("check --seed -1", "'-1' is not a whole number from 0 on"),
        ("check --walks 4611686018427387904", "'4611686018427387904' is 2^62 or more"),
        ("check --memory 0", "'0' is not a positive number"),
        ("check --budget nan", "'nan' is not a positive number"),
        ("explore trace run --walk -1", "'-1' is not a whole number from 0 on"),
        ("teeth --workers 0", "'0' is not a whole number from 1 on"),
        ("teeth --least 101", "'101' is not a percentage from 0 to 100"),
        ("policy check --seed x", "'x' is not a whole number from 0 on"),
    ],
)
def test_a_number_out_of_its_range_is_wrong_usage(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments.split())
    assert end.value.code == ExitStatus.USAGE
    assert message in capsys.readouterr().err


def test_with_a_memory_too_small_to_begin_with_every_property_is_inconclusive(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "check election --by exhaustive --set brokers=2 --memory 0.0001 --quiet --format json"
    assert main(asked.split()) == ExitStatus.INCONCLUSIVE
    printed, stderr = capsys.readouterr()
    assert stderr == ""
    verdicts = json.loads(printed)["verdicts"]
    assert len(verdicts) > 10
    assert {verdict["verdict"] for verdict in verdicts} == {"inconclusive"}
    assert {verdict["note"][:27] for verdict in verdicts} == {"0.10 MiB of memory is too l"}
