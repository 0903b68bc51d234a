"""A place that cannot be written is refused in a line before anything is done, whatever command and option names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from fencepost.checks.cli import main
from fencepost.checks.commands.arguments import COMMANDS
from fencepost.checks.commands.tree import Command, Group
from fencepost.checks.console.places import require_place, writing
from fencepost.checks.console.requests import Argument, Option
from fencepost.checks.engines.results.verdicts import ExitStatus

READ = {
    *(
        "against",
        "baseline",
        "classes",
        "conf",
        "file",
        "files",
        "folder",
        "history",
        "jars",
        "load_report",
        "mapping",
        "metadata",
    ),
    *(
        "metrics",
        "numbers",
        "odds",
        "other",
        "profile",
        "protocol",
        "rates",
        "snapshot",
        "tables",
        "token_file",
        "topics",
        "trace",
    ),
}
"""The fields of requests that name files and folders which are read."""


def _commands(group: Group) -> Iterator[tuple[list[str], Command]]:
    """Every command once, with the words that lead to it; the last one may be its first argument."""
    for word, entry in {id(entry.node): (word, entry) for word, entry in group.by_name.items()}.values():
        node = entry.node
        if isinstance(node, Group):
            yield from (([word, *words], command) for words, command in _commands(node))
        else:
            yield [word], node
    if group.itself is not None:
        yield [], group.itself


def _options(command: Command) -> Iterator[tuple[Field[object], Option, str]]:
    hints = get_type_hints(command.request, include_extras=True)
    for field in fields(command.request):
        kind, *options = get_args(hints[field.name]) or (None,)
        yield from ((field, option, str(kind)) for option in options if isinstance(option, Option))


def _needed(words: list[str], command: Command, beside: str) -> Iterator[str]:
    """Words for what a command requires except the option ``beside``; none of them names anything that there is."""
    for field, option, _ in _options(command):
        value = str(next(iter(option.choices), "0x0_0x1" if field.name == "bundle" else "nowhere.html"))
        if field.default is MISSING and isinstance(option, Argument):
            yield from () if words[-1] in option.choices else (value,)
        elif (field.default is MISSING or option.either) and field.name != beside:
            yield from (f"--{field.name.replace('_', '-')}", value)


WRITING = [
    pytest.param(words, command, name, option, id=" ".join([*words, name]))
    for words, command in _commands(COMMANDS)
    for name, option in writing(command.request)
]


def test_every_option_that_names_a_file_is_known_to_read_or_to_write() -> None:
    others = {
        field.name
        for _, command in _commands(COMMANDS)
        for field, option, kind in _options(command)
        if not option.writes and ("Path" in kind or option.metavar in ("FILE", "DIR", "PAGE"))
    }
    assert others == READ
    assert len(WRITING) > 30


@pytest.mark.parametrize(("words", "command", "name", "option"), WRITING)
def test_a_place_below_a_file_is_refused_at_once(
    words: list[str], command: Command, name: str, option: Option, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain").write_text("")
    place = tmp_path / "plain" / "there.html"
    spelled = (*option.names, f"--{name.replace('_', '-')}")[0]
    status = main([*words, *_needed(words, command, name), spelled, str(place)])
    assert (status, capsys.readouterr().err) == (
        ExitStatus.SYSTEM,
        f"fencepost: {place}: cannot be written: Not a directory\n",
    )


def test_a_folder_in_the_place_of_a_file_and_the_reverse_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(OSError, match="is a directory; name a file"):
        require_place(tmp_path, "file")
    with pytest.raises(OSError, match="is a file; name a folder"):
        require_place(tmp_path / "plain", "folder")
    with pytest.raises(OSError, match="cannot be written: File name too long"):
        require_place(tmp_path / ("x" * 300), "file")
    with pytest.raises(OSError, match="cannot be written: Permission denied"):
        require_place(Path("/proc/nowhere/there"), "file")


@pytest.mark.parametrize("kind", ["file", "folder", "any"])
def test_a_place_that_can_be_written_is_left_as_it_is(kind: str, tmp_path: Path) -> None:
    require_place(tmp_path / "a" / "b" / "there", kind)
    assert not list(tmp_path.iterdir())


def test_what_there_is_may_be_replaced_and_a_pipe_written_to(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("before")
    require_place(tmp_path / "plain", "file")
    require_place(tmp_path, "folder")
    require_place(tmp_path, "any")
    os.mkfifo(tmp_path / "pipe")
    require_place(tmp_path / "pipe", "file")
    require_place(Path("-"), "file")
    assert (tmp_path / "plain").read_text() == "before"


def test_a_check_says_so_in_its_other_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.sarif"
    status = main(["check", "election", "--junit", str(tmp_path), "--sarif", str(other), "--json", "-", "--quiet"])
    assert status == ExitStatus.SYSTEM
    out, err = capsys.readouterr()
    assert err == f"fencepost: {tmp_path}: is a directory; name a file\n"
    assert "is a directory; name a file" in out
    assert "is a directory; name a file" in other.read_text()
