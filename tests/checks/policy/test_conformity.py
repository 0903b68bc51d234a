"""``fencepost conform policy``: what it prints and writes of what differs, without Java; and what cannot be asked."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

import pytest

from fencepost.checks.commands.conform import policy as conformity
from fencepost.checks.conformance.policy.registry import RULES
from tests.checks.policy.asking import asked as ask_policy
from tests.command import fencepost


class Disagreeing:
    """In place of the classes: sheds nothing, names nothing, and knows no rule but those of OverloadShedder."""

    def __init__(self, release: str, own: object) -> None:
        self.release = release

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def ask(self, requests: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return [{"rounds": [{"brokers": [], "bundles": [], "unload": {}} for _ in one["rounds"]]} for one in requests]


def test_what_differs_is_written_for_policy_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conformity, "Code", Disagreeing)
    monkeypatch.setattr(conformity, "toolchain", lambda: None)
    monkeypatch.setattr(conformity, "RULES", RULES[:1])
    from fencepost.checks.cli import main

    status = main(["conform", "policy", "--release", "4.2.4", "--cases", "200", "--quiet", "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert status == 12
    assert "OverloadShedder, case " in out
    assert ", the class nothing" in out
    command = next(line.strip() for line in out.splitlines() if line.strip().startswith("fencepost policy decide"))
    assert "--shedder OverloadShedder" in command
    status, printed, err = ask_policy(*shlex.split(command)[2:])
    assert (status, err) == (0, "")
    assert printed.startswith("OverloadShedder and ")
    snapshot = json.loads((tmp_path / "OverloadShedder-1.json").read_text(encoding="utf-8"))
    assert len(snapshot["brokers"]) == 1


def test_a_release_that_is_not_modelled() -> None:
    ran = fencepost("conform", "policy", "--release", "3.1")
    assert ran.returncode == 2
    assert ran.stderr.startswith("fencepost: --release 3.1: the policies are those of 2.10.1, 3.0.7, 4.0.8, 4.2.4, 5.0.0-M1")


def test_a_rule_that_there_is_not() -> None:
    ran = fencepost("conform", "policy", "--release", "2.10.1", "--rule", "AvgSheder")
    assert ran.returncode == 2
    assert ran.stderr.startswith("fencepost: --rule AvgSheder: Pulsar 2.10.1 has no such rule; there are OverloadShedder, ")


def test_rules_by_name_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(conformity, "Code", Disagreeing)
    monkeypatch.setattr(conformity, "toolchain", lambda: None)
    from fencepost.checks.cli import main

    one = ("--release", "4.2.4", "--cases", "1", "--rule", "UniformLoadShedder")
    assert main(["conform", "policy", *one, "--quiet", "--format", "json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["rules"]) == ["UniformLoadShedder"]


def test_without_java_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ran = fencepost("conform", "policy")
    assert ran.returncode == 153
    assert ran.stderr.startswith("fencepost: conformance needs a JDK, and there is no javac: ")


def test_draws_do_not_depend_on_each_other() -> None:
    rule = RULES[0]
    assert rule.draw(Random("1"), "4.2.4") == rule.draw(Random("1"), "4.2.4")
