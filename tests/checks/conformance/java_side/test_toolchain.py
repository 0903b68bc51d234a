"""What real code needs is looked for, and what is not there is told in one line with the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain
from tests.command import fencepost


def program(folder: Path, name: str, prints: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{prints}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_jdk_on_the_path_and_maven(tmp_path: Path) -> None:
    for name in ("javac", "java", "mvn"):
        program(tmp_path, name, "javac 21.0.2")
    tools = toolchain({"PATH": str(tmp_path)})
    assert (tools.java, tools.mvn, tools.version) == (tmp_path / "java", tmp_path / "mvn", 21)


def test_java_home_goes_first(tmp_path: Path) -> None:
    for name in ("javac", "java", "mvn"):
        program(tmp_path / "path", name, "javac 21")
        program(tmp_path / "home" / "bin", name, "javac 17.0.1")
    tools = toolchain({"PATH": str(tmp_path / "path"), "JAVA_HOME": str(tmp_path / "home")})
    assert (tools.version, tools.javac, tools.mvn) == (17, tmp_path / "home" / "bin" / "javac", tmp_path / "path" / "mvn")


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        ({}, "there is no javac"),
        ({"javac": "javac 1.8.0_302", "java": "", "mvn": ""}, "is of 8"),
        ({"javac": "javac 11.0.2", "java": "", "mvn": ""}, "needs JDK 17 or newer"),
        ({"javac": "what", "java": "", "mvn": ""}, "cannot be run"),
        ({"javac": "javac 17", "mvn": ""}, "there is no java"),
        ({"javac": "javac 17", "java": ""}, "there is no mvn"),
    ],
)
def test_what_is_missing_is_told_with_the_remedy(tmp_path: Path, programs: dict[str, str], message: str) -> None:
    for name, prints in programs.items():
        program(tmp_path, name, prints)
    with pytest.raises(ToolchainError, match=message) as error:
        toolchain({"PATH": str(tmp_path)})
    assert "apt install" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("version", ["17.0.1", "24"])
def test_a_jdk_that_is_not_too_new(tmp_path: Path, version: str) -> None:
    tools = toolchain(jdk(tmp_path, version))
    assert tools.up_to(24, "this") is tools


@pytest.mark.long
def test_a_jdk_that_is_too_new_is_told_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", jdk(tmp_path, "25-ea")["PATH"])
    run = fencepost("conform", "service-unit", "--quiet")
    assert run.returncode == 153
    assert run.stdout == ""
    assert run.stderr == (
        f"fencepost: service-unit needs a JDK from 17 to 24, and {tmp_path / 'javac'} is of 25: set JAVA_HOME to JDK 17 "
        "(Debian, Ubuntu: apt install openjdk-17-jdk-headless)\n"
    )


def jdk(folder: Path, version: str) -> dict[str, str]:
    """An environment with a JDK that says it is of that version."""
    for name in ("javac", "java", "mvn"):
        program(folder, name, f"javac {version}")
    return {"PATH": str(folder)}
