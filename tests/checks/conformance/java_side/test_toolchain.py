"""What real code needs is looked for, and what is not there is told in one line with the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain


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


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    for name in ("javac", "java", "mvn"):
        program(tmp_path, name, "javac 21")
    with pytest.raises(ToolchainError, match="JAVA_HOME is /nowhere, and there is no bin/java in it"):
        toolchain({"PATH": str(tmp_path), "JAVA_HOME": "/nowhere"})


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


def test_a_release_takes_the_oldest_installed_jdk_that_runs_its_classes(tmp_path: Path) -> None:
    for version in ("11", "21", "25"):
        jdk(tmp_path / "jvm" / version / "bin", version)
    installed = (str(tmp_path / "jvm" / "*"),)
    tools = toolchain(jdk(tmp_path / "own", "17.0.1"))
    assert tools.at_least(17, "this", installed) is tools
    newer = tools.at_least(21, "that", installed)
    assert (newer.version, newer.java, newer.mvn) == (21, tmp_path / "jvm" / "21" / "bin" / "java", tools.mvn)
    assert tools.at_least(22, "that", installed).version == 25


def test_a_jdk_that_is_too_old_is_told_with_the_remedy(tmp_path: Path) -> None:
    tools = toolchain(jdk(tmp_path / "own", "17"))
    folder = f"{tmp_path}/jvm/*"
    with pytest.raises(ToolchainError) as error:
        tools.at_least(21, "pulsar-topic 5.0.1", (folder,))
    wrong = f"pulsar-topic 5.0.1 needs JDK 21 or newer, and {tools.javac} is of 17"
    assert str(error.value) == f"{wrong}: set JAVA_HOME to one, or install it in one of {folder}"


def jdk(folder: Path, version: str) -> dict[str, str]:
    """An environment with a JDK that says it is of that version."""
    for name in ("javac", "java", "mvn"):
        program(folder, name, f"javac {version}")
    return {"PATH": str(folder)}
