"""The conditions that mirrored methods carry, looked up in the sources of the releases: are they the words of the code?"""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.protocols import PROTOCOLS

pytestmark = pytest.mark.xdist_group("real pulsar")

PULSAR = ("election", "ownership", "unload", "split", "service_unit")
ARTIFACTS = ("pulsar-broker", "pulsar-metadata")


def conditions() -> set[tuple[str, str]]:
    """The methods of the protocols of Pulsar's control plane that carry a condition, each with it."""
    pairs = set()
    for name in PULSAR:
        entry = PROTOCOLS[name]
        with in_outline():
            for conditions in entry.build({}).conditions.values():
                pairs |= set(conditions.items())
    return pairs


def parts(condition: str) -> list[str]:
    """What must be there of a condition, word by word: each part, without its negation."""
    negated = [re.sub(r"^!\((.*)\)$", r"\1", part.strip()) for part in re.split(r" (?:&&|\|\|) ", condition)]
    return [part.removeprefix("!") for part in negated]


def sources(release: str, folder: Path) -> dict[str, str]:
    """The classes of a release, by their simple names, each with its text in which blanks count once."""
    classes = {}
    for artifact in ARTIFACTS:
        name = f"org.apache.pulsar:{artifact}:{release}:jar:sources"
        fetch = ["dependency:copy", f"-Dartifact={name}", f"-DoutputDirectory={folder}"]
        subprocess.run([str(toolchain().mvn), "-B", "-q", *fetch], check=True, cwd=folder, stdin=subprocess.DEVNULL)
        with zipfile.ZipFile(folder / f"{artifact}-{release}-sources.jar") as jar:
            for entry in jar.namelist():
                if entry.endswith(".java"):
                    classes[Path(entry).stem] = " ".join(jar.read(entry).decode().split())
    return classes


def test_a_condition_is_taken_apart() -> None:
    assert parts("a.equals(b) && !c.d() && !(e != f)") == ["a.equals(b)", "c.d()", "e != f"]


@pytest.mark.deep
@pytest.mark.parametrize("release", ["4.0.8", "4.2.4", "5.0.0-M1"])
def test_conditions_are_in_the_words_of_the_code(release: str, tmp_path: Path) -> None:
    classes, pairs = sources(release, tmp_path), conditions()
    assert len(pairs) > 10
    text = {method: classes[method.split(".")[0]] for method, _ in pairs}
    assert [(m, c) for m, c in sorted(pairs) if not all(part in text[m] for part in parts(c))] == []
