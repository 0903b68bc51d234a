"""A request is filled from the command line by what its fields say, and a shell is told the same."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from fencepost.checks.commands.tree import request_of
from fencepost.checks.console.numbers import whole
from fencepost.checks.console.requests import Argument, Option, add_arguments
from tests.command import fencepost


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What every request has."""

    quiet: Annotated[bool, Option("say nothing")] = False


@dataclass(frozen=True, kw_only=True)
class Bread(Asked):
    """Bread to bake."""

    kinds: Annotated[Sequence[str], Argument("the kinds", "KIND")]
    out: Annotated[Path, Option("the shelf", "DIR")] = Path()
    loaves: Annotated[int, Option("how many", "N", whole(1))] = 3
    flour: Annotated[Literal["rye", "wheat"], Option("of what")] = "wheat"
    seeds: Annotated[Sequence[str], Option("what is on it", "SEED")] = ()
    set: Annotated[Sequence[str], Option("settings", "NAME=VALUE", several=True, hidden=("--with",))] = ()
    hot: Annotated[int | None, Option("degrees", "N", once=True, names=("--heat",))] = None
    baker: str = "nobody"


def baked(*words: str) -> Bread:
    parser = argparse.ArgumentParser(prog="bake")
    add_arguments(parser, Bread)
    return request_of(Bread, parser.parse_args(words))


def test_types_and_defaults_say_how_a_field_is_asked_for() -> None:
    assert baked("roll") == Bread(kinds=("roll",))
    words = "roll bun --out shelf --loaves 7 --flour rye --seeds a --seeds b --set x=1 y=2 --with z=3 --heat 200 --quiet"
    assert baked(*words.split()) == Bread(
        kinds=("roll", "bun"),
        out=Path("shelf"),
        loaves=7,
        flour="rye",
        seeds=("a", "b"),
        set=("x=1", "y=2", "z=3"),
        hot=200,
        quiet=True,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "the following arguments are required: KIND"),
        ("roll --loaves 0", "'0' is not a whole number from 1 on"),
        ("roll --flour oat", "invalid choice: 'oat'"),
        ("roll --heat 1 --heat 2", "--heat is given twice"),
        ("roll --out s3://shelf", "s3://shelf is a URL"),
        ("roll --baker me", "unrecognized arguments: --baker me"),
    ],
)
def test_what_does_not_fit_is_wrong_usage(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        baked(*words.split())
    assert message in capsys.readouterr().err


def test_the_help_has_own_options_first_and_every_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        baked("--help")
    shown = capsys.readouterr().out
    assert shown.index("--loaves N") < shown.index("--quiet")
    assert "how many (default: 3)" in shown
    assert "the shelf (default: this folder)" in shown
    assert "--with" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("chek", "there is no COMMAND 'chek' (did you mean check?); fencepost --help lists them"),
        ("list --eventz", "there is no option --eventz (did you mean --events?); fencepost list --help lists all options"),
        ("check --conf", "--conf: expected one argument; fencepost check --help lists all options"),
        ("check --size dep", "--size 'dep' is none of ci, standard, deep (did you mean deep?); fencepost check --help lists"),
        ("completion bash fish", "'fish' is too much; fencepost completion --help lists all options"),
        ("trace shwo x", "there is no VERB 'shwo' (did you mean show?); fencepost trace --help lists them"),
        ("policy", "which QUESTION? fencepost policy --help lists them"),
        ("", "which COMMAND? fencepost --help lists them"),
    ],
)
def test_a_word_that_there_is_not_is_named_in_one_line_with_what_may_be_meant(words: str, message: str) -> None:
    ran = fencepost(*words.split())
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


COMPLETED = {
    "che": "check",
    "check --against-p": "--against-pulsar",
    "check hash_": "hash_range",
    "check ledger book": "bookie",
    "check my_": "my_protocol.py",
    "check --never termi": "termination",
    "check --never session-loss,termi": "session-loss,termination",
    "check ledger --property no_trunc": "no_truncation",
    "reproduce fence-f": "fence-forgotten",
    "check ledger --bug fence_checked": "fence_checked_apart",
    "check --pulsar 4.0": "4.0.8",
    "check --conf broker.conf --against-pulsar 4.2": "4.2.4",
    "check --bookkeeper 4.18.0": "4.18.0",
    "check --conf bro": "broker.conf",
    "check --out fol": "folder",
    "releases order 4.0.8 5.0.1": "5.0.1",
}
"""Lines as far as they are typed, and how bash goes on with their last word."""


@pytest.fixture(scope="module")
def completed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one bash, which reads the script when it starts, offers for each line."""
    folder = tmp_path_factory.mktemp("completion")
    script = folder / "completion"
    script.write_text(fencepost("completion", "bash").stdout)
    (folder / "my_protocol.py").touch()
    (folder / "broker.conf").touch()
    (folder / "folder").mkdir()
    asked = [f"source {script}", "complete=$(complete -p fencepost | sed 's/.*-F //; s/ .*//')"]
    for line in COMPLETED:
        typed = ["fencepost", *line.split()]
        asked += [f"COMPREPLY=() COMP_WORDS=({' '.join(typed)}) COMP_CWORD={len(typed) - 1}"]
        asked += ["$complete 2>&-", 'echo "${COMPREPLY[@]}"']  # it sets options of a line that is being typed
    ran = subprocess.run(["bash", "-c", "\n".join(asked)], capture_output=True, text=True, check=True, cwd=folder)
    return dict(zip(COMPLETED, ran.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("line", COMPLETED)
def test_a_shell_completes_commands_options_names_and_files(line: str, completed: dict[str, str]) -> None:
    assert completed[line] == COMPLETED[line]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_the_same_names(shell: str) -> None:
    script = fencepost("completion", shell).stdout
    for name in ("against-pulsar", "termination", "fence_checked_apart", "no_truncation", "fence-forgotten", "5.0.0-M1"):
        assert name in script
