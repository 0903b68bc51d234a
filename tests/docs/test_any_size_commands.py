"""Each command with ``--any`` that a document mentions within a sentence runs to its end and proves something.

Those in blocks are run with their blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fencepost.properties.protocols import PROTOCOLS
from tests.command import fencepost
from tests.docs.examples import BLOCK, DOCUMENTS, ROOT

MENTIONED = re.compile(r"`(?:fencepost )?check (?P<protocol>[a-z_]+) (?P<options>[^`]*--any [^`]+)`")


def mentioned() -> Iterator[str]:
    """The commands in the sentences of all documents, each once and without the name of the program."""
    texts = (BLOCK.sub("", document.read_text(encoding="utf-8")) for document in DOCUMENTS)
    commands = {f"check {found['protocol']} {found['options']}" for text in texts for found in MENTIONED.finditer(text)}
    yield from sorted(commands | {"check election --any brokers --set closes=1"})


@pytest.mark.long
@pytest.mark.parametrize("command", [*mentioned()])
def test_a_command_that_a_sentence_shows_ends_with_a_proof(command: str) -> None:
    ran = fencepost(*command.split(), "--quiet")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.search(r"^\d+ proved for any size: ", ran.stdout, re.MULTILINE)


def test_several_commands_are_found() -> None:
    assert {command.split()[1] for command in mentioned()} >= {"election", "unload", "kafka_controller"}


def test_the_reference_names_all_that_can_be_of_any_size() -> None:
    (row,) = re.findall(r"^- `--any`, .*$", (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8"), re.MULTILINE)
    shown = {
        protocol: re.findall(r"`(\w+)`", names) for names, protocol in re.findall(r"((?:`\w+`(?:, | and )?)+) of `(\w+)`", row)
    }
    assert shown == {name: list(entry.general.sizes) for name, entry in PROTOCOLS.items() if entry.general}


@pytest.mark.long
def test_a_command_that_judges_nothing_does_not_pass() -> None:
    ran = fencepost("check", "election", "--any", "brokers", "--property", "leader_emerges", "--quiet")
    assert ran.returncode == 75
    assert ran.stdout.rstrip().endswith("no verdicts: nothing was checked (exit 75)")


@pytest.mark.long
def test_what_is_judged_in_no_part_is_not_told_of_as_a_failure() -> None:
    """One broker, which is a part of its own, obeys no zombie: there the control of several brokers is a property."""
    ran = fencepost("check", "kafka_controller", "--any", "brokers", "--property", "epochs_rise", "--quiet")
    assert (ran.returncode, "no_older_after_newer" in ran.stdout) == (0, False)
    assert "2 proved for any size: everything holds (exit 0)" in ran.stdout
