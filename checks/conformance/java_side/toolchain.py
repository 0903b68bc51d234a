"""The Java and the Maven that run real code: found, not installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LEAST = 17
"""The oldest JDK that the harnesses are written for."""

REMEDY = (
    f"install a JDK {LEAST} or newer and Maven (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven), or set JAVA_HOME"
)


class ToolchainError(Exception):
    """What real code needs to run is not there or does not work; the message is one line that says what to do."""


@dataclass(frozen=True)
class Toolchain:
    """The programs: ``java`` and ``javac`` of one JDK, of feature release ``version``, and ``mvn``."""

    java: Path
    javac: Path
    mvn: Path
    version: int

    def up_to(self, newest: int, what: str) -> Toolchain:
        """The same, for ``what`` needs a JDK no newer than that. Raises ToolchainError."""
        if self.version > newest:
            remedy = f"set JAVA_HOME to JDK {LEAST} (Debian, Ubuntu: apt install openjdk-17-jdk-headless)"
            wrong = f"{what} needs a JDK from {LEAST} to {newest}, and {self.javac} is of {self.version}"
            raise ToolchainError(f"{wrong}: {remedy}")
        return self


def toolchain(environment: Mapping[str, str] | None = None) -> Toolchain:
    """The JDK of JAVA_HOME if that is one, else the one whose ``javac`` is on the path, and the Maven on the path.

    Raises ToolchainError.
    """
    around = os.environ if environment is None else environment
    path = around.get("PATH", "")
    home = around.get("JAVA_HOME")
    of_home = Path(home) / "bin" / "javac" if home else None
    program = str(of_home) if of_home and of_home.exists() else shutil.which("javac", path=path)
    if program is None:
        raise ToolchainError(f"conformance needs a JDK, and there is no javac: {REMEDY}")
    javac = Path(program)
    version = _version(javac)
    if version is None:
        raise ToolchainError(f"conformance needs a JDK, and {javac} cannot be run: {REMEDY}")
    if version < LEAST:
        raise ToolchainError(f"conformance needs JDK {LEAST} or newer, and {javac} is of {version}: {REMEDY}")
    java = javac.with_name("java")
    if not java.exists():
        raise ToolchainError(f"conformance needs a JDK, and beside {javac} there is no java: {REMEDY}")
    mvn = shutil.which("mvn", path=path)
    if mvn is None:
        raise ToolchainError(f"conformance needs Maven to fetch the jars of a release, and there is no mvn: {REMEDY}")
    return Toolchain(java, javac, Path(mvn), version)


def _version(javac: Path) -> int | None:
    """The feature release of a compiler, e.g. 17 (8 for 1.8); None if it cannot be run."""
    try:
        done = subprocess.run([javac, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"javac (?:1\.)?(\d+)", done.stdout + done.stderr)
    return int(match[1]) if match else None
