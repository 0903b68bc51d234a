"""A term exists once, never changes, has one digest in every process, and no truth that Python could see."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import pytest

from fencepost.model.terms import nodes
from fencepost.model.terms.nodes import Function, bits, constant, literal, number
from fencepost.model.terms.sorts import BOOL, INT, bits_sort, names_sort, things_sort
from fencepost.model.terms.values import conditional, for_all

A, N = constant("a", BOOL), constant("n", INT)
SET = constant("s", bits_sort(3))
MOOD, COLOUR = constant("mood", names_sort(("good", "bad"))), constant("colour", names_sort(("red", "green")))


def test_what_is_written_alike_is_the_same() -> None:
    assert (N + 1 <= 3) is (N + 1 <= 3)
    assert (N + 1 <= 3) is not (1 + N <= 3)
    assert literal(names_sort(("x", "y")), 1) is not number(1)
    assert constant("n", BOOL) is not N


def test_a_term_goes_when_nobody_holds_on_to_it() -> None:
    before = len(nodes._KNOWN)
    kept = [N + place for place in range(1000, 1100)]
    assert len(nodes._KNOWN) >= before + 200
    del kept
    gc.collect()
    assert len(nodes._KNOWN) <= before


def test_the_digest_is_that_of_the_text_and_of_the_sorts() -> None:
    assert (MOOD == "good").digest != (COLOUR == "red").digest
    assert literal(names_sort(("x", "y")), 1).digest != literal(names_sort(("x", "z")), 1).digest
    assert (N + 1).digest != (1 + N).digest
    assert for_all([N], N > 0).digest != (N > 0).digest


PROGRAM = """
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.sorts import INT, bits_sort, names_sort
n, s = constant("n", INT), constant("s", bits_sort(3))
print(((n + 1 == 3) & s.has(2) | (constant("mood", names_sort(("good", "bad"))) == "bad")).digest.hex())
"""


def test_the_digest_is_the_same_in_every_process() -> None:
    ran = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    here = ((N + 1 == 3) & SET.has(2) | (MOOD == "bad")).digest.hex()
    assert ran == [f"{here}\n"] * 2


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: N == "much", "n is a number, and 'much' is none"),
        (lambda: N + True, "n is a number, and True is none"),
        (lambda: A & N, "n is no formula"),
        (lambda: MOOD == "angry", "mood is never 'angry': it is one of good, bad"),
        (lambda: MOOD == N, "mood is never n: it is one of good, bad"),
        (lambda: N == MOOD, "n is a number, and mood is none"),
        (lambda: MOOD == COLOUR, "mood is one of good, bad, and colour one of red, green"),
        (lambda: conditional(A, MOOD, COLOUR), "mood is one of good, bad, and colour one of red, green"),
        (lambda: conditional(A, N, SET), "n is of sort Int, and s of sort BitVec\\(3\\)"),
        (lambda: SET | bits(1, 4), "s is a subset of 3 members, and \\{0\\} one of 4"),
        (lambda: SET.has(3), "3 cannot be in s, a subset of 3 members from 0"),
        (lambda: SET.has(A), "a is no member of s"),
        (lambda: Function("f", INT, BOOL)(A), "f is a function of Int, and a is none"),
        (lambda: bool(A), "write And, Or, Not, If"),
        (lambda: N in (1, N), "write And, Or, Not, If"),
    ],
)
def test_what_does_not_fit_is_refused(write: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        write()


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (N + 1 == 3, "n + 1 == 3"),
        ((N + 1) * 2 <= -N, "(n + 1) * 2 <= -n"),
        (SET.has(1), "s.has(1)"),
        ((SET | {0, 2}) == {1}, "(s | {0, 2}) == {1}"),
        (MOOD != "bad", "mood != 'bad'"),
        (~A & (N > 1), "And(Not(a), n > 1)"),
        (conditional(A, MOOD, literal(MOOD.sort, 1)), "If(a, mood, 'bad')"),
        (for_all([N], N > 0), "all_of(n > 0 for n)"),
        (Function("f", INT, things_sort("thing"))(N + 1), "f(n + 1)"),
    ],
)
def test_a_term_is_written_in_the_words_of_the_language(term: Any, text: str) -> None:
    assert str(term) == text


def test_a_long_term_is_cut() -> None:
    term = N
    for _ in range(100):
        term = term + term
    assert len(str(term)) < 1000
