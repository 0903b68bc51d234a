"""The Java and the Maven that run real code: found, not installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LEAST = 17
"""The oldest JDK that the harnesses are written for."""

REMEDY = (
    f"install a JDK {LEAST} or newer and Maven (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven), or set JAVA_HOME"
)

FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
"""Where JDKs are usually installed."""


class ToolchainError(Exception):
    """What real code needs to run is not there or does not work; the message is one line that says what to do."""


@dataclass(frozen=True)
class Toolchain:
    """The programs: ``java`` and ``javac`` of one JDK, of feature release ``version``, and ``mvn``."""

    java: Path
    javac: Path
    mvn: Path
    version: int

    def at_least(self, version: int, what: str, folders: Sequence[str] = FOLDERS) -> Toolchain:
        """The same if its JDK is of that version or newer, else with the oldest of the usual ``folders`` that is.

        ``what`` needs it: Java refuses classes that were compiled for a newer one. Raises ToolchainError.
        """
        if self.version >= version:
            return self
        found = sorted((found, javac) for javac in _installed(folders) if (found := _version(javac) or 0) >= version)
        if not found:
            wrong = f"{what} needs JDK {version} or newer, and {self.javac} is of {self.version}"
            raise ToolchainError(f"{wrong}: set JAVA_HOME to one, or install it in one of {', '.join(folders)}")
        newer, javac = found[0]
        return replace(self, java=javac.with_name("java"), javac=javac, version=newer)


def _installed(folders: Sequence[str]) -> Iterator[Path]:
    """The compilers in these folders, whose patterns may begin with ``~``."""
    for pattern in folders:
        above, _, below = f"{Path(pattern).expanduser()}/bin/javac".partition("*")
        yield from Path(above).glob(f"*{below}")


def toolchain(environment: Mapping[str, str] | None = None) -> Toolchain:
    """The JDK of JAVA_HOME if that is one, else the one whose ``javac`` is on the path, and the Maven on the path.

    Raises ToolchainError, also for a JAVA_HOME without any Java, since Maven does not start with it.
    """
    around = os.environ if environment is None else environment
    path = around.get("PATH", "")
    home = around.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").exists():
        wrong = f"JAVA_HOME is {home}, and there is no bin/java in it"
        raise ToolchainError(f"{wrong}: set it to a JDK {LEAST} or newer, or unset it")
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
        done = subprocess.run([javac, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"javac (?:1\.)?(\d+)", done.stdout + done.stderr)
    return int(match[1]) if match else None
