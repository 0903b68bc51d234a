"""The options that several commands have are the same in each, and no number that they take ends in a traceback."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.arguments import whole_line
from fencepost.checks.engines.results.verdicts import ExitStatus
from tests.command import fencepost

SHARED = {
    *("--set", "--size", "--bug", "--steps", "--seed", "--strategy", "--workers", "--memory"),
    *("--pulsar", "--shedder", "--placement", "--hours", "--quiet"),
}


VOCABULARY = {
    "--against": ("FILE", "POLICY"),  # what to compare --conf with
    "--all": (None,),  # every line, not only those that need attention
    "--bookies": ("N",),
    "--bookkeeper": ("RELEASE",),
    "--bookkeeper-client": ("RELEASE",),
    "--brokers": ("N",),
    "--budget": ("SECONDS",),  # of the whole run
    "--bundle": ("LOWER_UPPER", "NAME"),
    "--bundles": ("N",),
    "--cases": ("N",),
    "--as": ("RELEASE",),  # that a build of one's own is taken for
    "--classes": ("DIR",),  # of one's own build
    "--cluster-name": ("NAME",),
    "--conf": ("FILE", "POLICY"),  # the configuration that is judged
    "--bug": ("NAME",),
    "--format": (None,),
    "--hours": ("H",),
    "--html": ("PAGE",),
    "--kafka": ("RELEASE",),
    "--jars": ("DIR",),  # of one's own build
    "--limit": ("N",),  # of states
    "--load": ("PERCENT",),
    "--master": ("URL",),
    "--memory": ("GIB",),
    "--metrics": ("FILE",),
    "--namespaces": ("N",),
    "--odds": ("FILE", None),  # of the ways that are found, or of many faults of a finding
    "--out": ("DIR", "FILE", "PAGE"),  # where the result is written
    "--placement": ("NAME",),
    "--processes": (None,),
    "--property": ("NAME",),
    "--protocol": ("FILE.py",),  # that has a trace's protocol
    "--pulsar": ("RELEASE",),  # that the model follows
    "--quiet": (None,),
    "--rates": ("FILE",),
    "--release": ("RELEASE",),  # of the real code
    "--token-file": ("FILE",),  # of an administrator
    "--runs": ("N",),
    "--record": (None,),
    "--scenario": ("NAME",),
    "--seed": ("S",),
    "--set": ("NAME=VALUE",),
    "--shedder": ("NAME",),
    "--size": (None,),
    "--snapshot": ("FILE",),
    "--sockets": (None,),
    "--spark-conf": ("NAME=VALUE",),
    "--steps": ("N",),
    "--storage": ("KIND",),
    "--strategy": (None,),
    "--strict": (None,),
    "--tables": ("DIR",),  # of fencepost ingest
    "--time-limit": ("SECONDS",),  # --budget by another name
    "--topics": ("FILE", "N"),
    "--topics-per-bundle": ("N",),
    "--trace": ("FILE",),
    "--trace-dir": ("DIR",),  # --out by another name, where that is for traces
    "--walks": ("N",),
    "--without": ("NAME",),
    "--workers": ("N",),
}
"""The options of several commands, and what their values are called: one vocabulary over all commands."""

OTHER_NAMES = {"--budget": "--time-limit", "--out": "--trace-dir"}
"""Options of which some or all commands know a second name, never the second alone."""


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options of a command and of all below it, without those that are hidden."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options(below)
        elif action.help is not argparse.SUPPRESS:
            yield action


def test_an_option_of_several_commands_takes_the_same_in_each() -> None:
    taken = defaultdict(list)
    for option in _options(whole_line()):
        for name in set(option.option_strings) & SHARED:
            kind = getattr(option.type, "__qualname__", None)
            taken[name].append((kind, option.nargs, None if option.choices is None else tuple(option.choices)))
    assert set(taken) == SHARED
    assert {name for name, several in taken.items() if len(several) == 1 or len(set(several)) > 1} == set()


def test_all_commands_share_one_vocabulary() -> None:
    uses = defaultdict(list)
    for option in _options(whole_line()):
        for name in option.option_strings:
            uses[name].append(option)
    shared = {name: options for name, options in uses.items() if len(options) > 1 and name not in ("-h", "--help")}
    values = {name: {option.metavar for option in options} for name, options in shared.items()}
    assert values == {name: set(names) for name, names in VOCABULARY.items()}
    for name, other in OTHER_NAMES.items():
        assert all(name in option.option_strings for option in shared[other])


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
    asked = "check election --by exhaustive --set brokers=2 --memory 0.0001 --quiet --json -"
    assert main(asked.split()) == ExitStatus.INCONCLUSIVE
    printed, stderr = capsys.readouterr()
    assert stderr == ""
    verdicts = json.loads(printed)["verdicts"]
    assert len(verdicts) > 10
    assert {verdict["verdict"] for verdict in verdicts} == {"inconclusive"}
    assert {verdict["note"][:27] for verdict in verdicts} == {"0.10 MiB of memory is too l"}


def test_an_earlier_spelling_is_hidden_and_understood() -> None:
    asked = whole_line().parse_args(["check", "ledger", "--bug", "closes_at_lac", "--defect", "ignores_fence"])
    assert asked.bug == ["closes_at_lac", "ignores_fence"]
    assert whole_line().parse_args(["check", "ledger"]).bug == []
    assert "--defect" not in fencepost("check", "--help").stdout
