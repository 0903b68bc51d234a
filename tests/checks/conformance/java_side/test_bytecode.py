"""Methods are compared by what they do: not by lines and numbers that a compiler gives, and with what they call."""

from __future__ import annotations

import subprocess

import pytest

from fencepost.checks.conformance.java_side.bytecode import Change, compare, read
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real bytecode")

BEFORE = """
package a;
public class Box {
  enum Colour { RED, BLUE }
  interface Say { String of(int x); }
  int same(int x) { return x + 1; }
  Say lambda() { return x -> "a" + x; }
  Say other() { return x -> "b" + x; }
  Say inner() { return new Say() { public String of(int x) { return "c" + x; } }; }
  int chosen(Colour c) { switch (c) { case RED: return 1; default: return 2; } }
  synchronized int held() { return 1; }
  int caller() { return called(1) + called("1"); }
  int called(int x) { return x; }
  int called(String x) { return 2; }
  Say calls() { return x -> "d" + called(x); }
  int gone() { return 1; }
  static class Large extends Box { int own() { return 1; } }
}
"""

AFTER = """
package a;

// further down, with what shifts the numbers of lambdas and of anonymous classes
public class Box {
  enum Colour { RED, BLUE }
  interface Say { String of(int x); }
  Say further() { return x -> "new" + x; }
  Say another() { return new Say() { public String of(int x) { return "new"; } }; }
  int same(int y) { return y + 1; }
  Say lambda() { return x -> "a" + x; }
  Say other() { return x -> "B" + x; }
  Say inner() { return new Say() { public String of(int x) { return "c" + x; } }; }
  int chosen(Colour c) { switch (c) { case RED: return 1; default: return 2; } }
  int held() { return 1; }
  int caller() { return called(1) + called("1"); }
  int called(int x) { return x; }
  int called(String x) { return 3; }
  Say calls() { return x -> "d" + called(x); }
  static class Large extends Box { int own() { return 1; } }
}
"""

METHODS = ("same", "lambda", "other", "inner", "chosen", "held", "caller", "called", "calls", "gone", "further", "never")


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Change]:
    java, methods = tools(), [*(f"Box.{name}" for name in METHODS), "Box.Large.own", "Box.Large.same", "Box.Large.held"]
    codes = []
    for name, source in (("before", BEFORE), ("after", AFTER)):
        folder = tmp_path_factory.mktemp(name)
        (folder / "Box.java").write_text(source, encoding="utf-8")
        subprocess.run([java.javac, "-d", folder / "out", folder / "Box.java"], check=True, timeout=120)
        jar = java.javac.with_name("jar")
        subprocess.run([jar, "cf", folder / "box.jar", "-C", folder / "out", "."], check=True, timeout=120)
        codes.append(read([folder / "box.jar"], methods, java))
    return compare(*codes, methods)


@pytest.mark.parametrize(
    ("method", "outcome"),
    {
        **dict.fromkeys(("Box.same", "Box.lambda", "Box.inner", "Box.chosen", "Box.Large.own", "Box.Large.same"), "same"),
        **dict.fromkeys(("Box.other", "Box.held", "Box.called", "Box.Large.held"), "changed"),
        "Box.gone": "gone",
        "Box.further": "new",
        "Box.never": "nowhere",
    }.items(),
)
def test_what_became_of_a_method(changes: dict[str, Change], method: str, outcome: str) -> None:
    assert (changes[method].outcome, changes[method].callees) == (outcome, ())
    assert changes[method].is_same is (outcome == "same")


@pytest.mark.parametrize("method", ["Box.caller"])
def test_a_method_is_not_the_same_where_what_it_calls_is_not(changes: dict[str, Change], method: str) -> None:
    assert changes[method] == Change(method, "same", ("called",))
    assert not changes[method].is_same


def test_of_what_has_one_name_that_counts_which_is_called(changes: dict[str, Change]) -> None:
    assert changes["Box.calls"].is_same
