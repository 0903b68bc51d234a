"""Traces as text: what a person reads."""

import re

import pytest

from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import actors, show

EXPECTED = """\
protocol  lock
instance  clients=2 turns=3 fair=no mode=plain
bugs      takes_held
property  one_holder
          At most one client holds the lock.
found by  random walk 7, seed 3

initially
  colour  green

  1  c0   take(c0)    holders {} -> {c0}; taken 1152921504606846976 -> 1152921504606846977; phase[c0] idle -> holding;
                      seen[c0, c0] no -> yes
  2  net  fault: cut  holders {c0} -> {}; phase[c0] holding -> idle
  3  c0   take(c0)    holders {} -> {c0}; taken 1152921504606846977 -> 1152921504606846978; phase[c0] idle -> holding
  4  c1   take(c1)    holders {c0} -> {c0, c1}; taken 1152921504606846978 -> 1152921504606846979;
                      phase[c1] idle -> holding; seen[c1, c0] no -> yes

  one_holder does not hold in the last state
    not (c0 in holders and c1 in holders)
      holders {c0, c1}
"""


def test_the_whole_text(trace: Trace, broken: Protocol, protocols: dict[str, Entry]) -> None:
    assert show(trace, broken, violated=protocols["lock"].suite(broken).named("one_holder")) == EXPECTED


def test_what_a_step_violates(trace: Trace, broken: Protocol, protocols: dict[str, Entry]) -> None:
    text = show(trace, broken, violated=protocols["lock"].suite(broken).named("taken_by_one"))
    assert text.splitlines()[-3:] == [
        "  taken_by_one does not hold of the last step",
        "    holders = {} or taken' = taken",
        "      holders {c0}; taken 1152921504606846978 -> 1152921504606846979",
    ]


@pytest.mark.parametrize(
    ("actor", "steps"),
    [
        ("c0", [("1", "take(c0)"), ("2", "fault:"), ("3", "take(c0)"), ("4", "take(c1)")]),
        ("c1", [("4", "take(c1)")]),
        ("net", [("2", "fault:")]),
    ],
)
def test_one_actor_alone(trace: Trace, broken: Protocol, actor: str, steps: list[tuple[str, str]]) -> None:
    text = show(trace, broken, actor=actor)
    shown = [line.split() for line in text.splitlines() if re.match(r"  \d+  ", line)]
    assert [(words[0], words[2]) for words in shown] == steps
    if actor == "c0":
        assert " ".join(shown[3][3:]) == "seen[c1, c0] no -> yes"


def test_who_takes_steps(broken: Protocol) -> None:
    assert actors(broken) == ["c0", "c1", "net"]


def test_the_full_initial_state(trace: Trace, broken: Protocol) -> None:
    text = show(trace, broken, full=True)
    start = text[text.index("initially") : text.index("\n\n  1")]
    assert start.split("\n")[1:] == [
        "  holders  {}",
        "  taken    1152921504606846976",
        "  phase    idle for each",
        "  seen     no for each",
        "  colour   green",
    ]


def test_lines_wrap_and_lose_nothing(trace: Trace, broken: Protocol) -> None:
    narrow = show(trace, broken, width=76)
    assert max(len(line) for line in narrow.splitlines()) <= 76
    assert narrow.split() == show(trace, broken).split()


def test_plain_text_is_ascii_without_colours(trace: Trace, broken: Protocol) -> None:
    text = show(trace, broken, full=True)
    assert text.isascii()
    assert "\x1b" not in text


def test_colours_only_add_escapes(trace: Trace, broken: Protocol) -> None:
    coloured = show(trace, broken, colour=True)
    assert "\x1b[31mfault: cut\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == show(trace, broken)


def test_a_trace_without_steps(trace: Trace, broken: Protocol) -> None:
    text = show(Trace("lock", trace.initial), broken)
    assert text.endswith("\n  no steps\n")
    assert "property  none" in text
