"""The jars of a release: fetched by Maven, the artifacts checked against pinned checksums, kept in the user's cache."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.conformance.java_side.cache import ensure_folder, user_cache
from fencepost.checks.conformance.java_side.causes import of_maven
from fencepost.checks.conformance.java_side.toolchain import LEAST, Toolchain, ToolchainError
from fencepost.model.releases import SYSTEMS, numbers

PINS = Path(__file__).with_name("pins")
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
ALONE = "org.apache.maven.plugins:maven-dependency-plugin:2.10:copy"
"""Takes jars without a look at their poms, whose parents need not be published; the goal of later versions reads them."""
SECONDS = 900
"""How long Maven may take: a class path is some hundred megabytes."""


@dataclass(frozen=True)
class Artifact:
    """One dependency, ``group:artifact:version``, without what ``exclusions`` (``group:artifact``) would bring along."""

    coordinates: str
    exclusions: tuple[str, ...] = ()

    @property
    def jar(self) -> str:
        """The name of its file: ``artifact-version.jar``."""
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


@dataclass(frozen=True)
class Release:
    """A release of a system: its ``name`` (``bookkeeper``), its ``version``, and the artifacts that make its class path.

    ``managed`` are poms (``group:artifact:version``) that say which versions belong together, ``settled`` artifacts whose
    version is said here. ``replaced`` are artifacts whose own poms do not resolve: Maven resolves the settled version, and
    their jars are put in its place, if it is there. An artifact in ``pins/SYSTEM-VERSION.sha256`` must be the jar that is
    pinned there; Maven verifies the checksums of all the others. ``java`` is the oldest JDK that runs its classes. ``kept`` are
    the names of artifacts whose place no build of one's own takes.
    """

    name: str
    version: str
    artifacts: tuple[Artifact, ...]
    managed: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    java: int = LEAST
    kept: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def system(self) -> str:
        """The system that the class path is of: ``pulsar`` for ``pulsar-topic``."""
        return self.name.partition("-")[0]

    @property
    def pins(self) -> Mapping[str, str]:
        """The sha256 of each of its artifacts that is pinned, by the name of the jar."""
        file = PINS / f"{self.system}-{self.version}.sha256"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
        digests = {name: digest for digest, name in (line.split() for line in lines)}
        return {a.jar: digests[a.jar] for a in self.artifacts if a.jar in digests}

    @property
    def is_build(self) -> bool:
        """Whether it is no release that is modelled, but what somebody has built and may build again."""
        return self.system in SYSTEMS and self.version not in numbers(self.system)

    @property
    def pinned(self) -> bool:
        """Whether each of its artifacts is pinned by checksum."""
        return len(self.pins) == len(self.artifacts)

    def pom(self) -> str:
        """The Maven project that has the artifacts as its dependencies."""
        managed = "".join(_element("dependency", name, "<type>pom</type><scope>import</scope>") for name in self.managed)
        managed += "".join(_element("dependency", name) for name in self.settled)
        management = f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>" if managed else ""
        settled = {_named(name): name for name in self.settled}
        resolved = {name: settled[_named(name)] for name in self.replaced}
        needed = "".join(
            _element("dependency", resolved.get(a.coordinates, a.coordinates), _excluded(a.exclusions)) for a in self.artifacts
        )
        return _project(f"{management}<dependencies>{needed}</dependencies>")


_CONFIGURED = "<configuration><artifactItems>{}</artifactItems></configuration>"


def _project(content: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>fencepost</groupId><artifactId>conformance</artifactId><version>1</version>{content}</project>\n"
    )


def _element(kind: str, coordinates: str, more: str = "") -> str:
    group, artifact, version = coordinates.split(":")
    named = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    return f"<{kind}>{named}{more}</{kind}>"


def _named(coordinates: str) -> str:
    """What an artifact is, without its version: ``group:artifact``."""
    return coordinates.rpartition(":")[0]


def _pom_of_jars(names: Iterable[str]) -> str:
    """The Maven project that copies these jars alone."""
    items = "".join(_element("artifactItem", name) for name in names)
    plugin = _element("plugin", ALONE.rpartition(":")[0], _CONFIGURED.format(items))
    return _project(f"<packaging>pom</packaging><build><plugins>{plugin}</plugins></build>")


def _excluded(names: tuple[str, ...]) -> str:
    pairs = (name.split(":") for name in names)
    each = "".join(f"<exclusion><groupId>{g}</groupId><artifactId>{a}</artifactId></exclusion>" for g, a in pairs)
    return f"<exclusions>{each}</exclusions>" if each else ""


def jars(release: Release, tools: Toolchain) -> list[Path]:
    """The class path of a release, sorted by name; fetched if it is not in the cache.

    A build that is no release is resolved each time, since it may have been built again, and kept by what is in its jars.
    Raises ToolchainError if Maven fails, or if a jar is not the one that is pinned.
    """
    if release.is_build:
        return _resolved(release, tools)
    what = f"{release.pom()}{release.replaced}{sorted(release.pins.items())}"
    key = hashlib.sha256(what.encode()).hexdigest()[:16]

    def fetch(folder: Path) -> None:
        _fetched(release, tools, folder)
        _check(release, folder)

    folder = ensure_folder(user_cache() / "jars" / f"{release.name}-{release.version}-{key}", fetch)
    return sorted(folder.glob("*.jar"))


def _resolved(release: Release, tools: Toolchain) -> list[Path]:
    cache = user_cache() / "jars"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{release.name}-", dir=cache) as folder:
        _fetched(release, tools, Path(folder))
        digest = hashlib.sha256()
        for jar in sorted(Path(folder).glob("*.jar")):
            digest.update(f"{jar.name} {hashlib.sha256(jar.read_bytes()).hexdigest()}\n".encode())

        def copied(beside: Path) -> None:
            for jar in Path(folder).glob("*.jar"):
                jar.rename(beside / jar.name)

        kept = ensure_folder(cache / f"{release.name}-{release.version}-{digest.hexdigest()[:16]}", copied)
    return sorted(kept.glob("*.jar"))


def _fetched(release: Release, tools: Toolchain, folder: Path) -> None:
    if all("*:*" in artifact.exclusions for artifact in release.artifacts):
        _maven(release, tools, folder, _pom_of_jars(artifact.coordinates for artifact in release.artifacts), ALONE)
        return
    _maven(release, tools, folder, release.pom(), PLUGIN, "-DincludeScope=runtime")
    former = {name: _jars_of(folder, name) for name in release.replaced}
    for jar in (jar for found in former.values() for jar in found):
        jar.unlink()
    if there := [name for name, found in former.items() if found]:
        _maven(release, tools, folder, _pom_of_jars(there), ALONE)


def _jars_of(folder: Path, coordinates: str) -> list[Path]:
    """The jars of an artifact in whatever version, and of none whose name only begins with the same words."""
    _, artifact, _ = coordinates.split(":")
    return [jar for jar in folder.glob(f"{artifact}-*.jar") if jar.name[len(artifact) + 1].isdigit()]


def _maven(release: Release, tools: Toolchain, folder: Path, pom: str, goal: str, *options: str) -> None:
    """Has Maven put jars into a folder."""
    project = folder / "pom.xml"
    project.write_text(pom, encoding="utf-8")
    told = ("-B", "-q", "-U", "-Dstyle.color=never", "--strict-checksums", "-f", str(project), goal)
    command = [str(tools.mvn), *told, f"-DoutputDirectory={folder}", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"Maven did not fetch the jars of {release} within {SECONDS} s; try again") from None
    except OSError as error:
        raise ToolchainError(f"Maven cannot be run: {error.strerror or error}") from error
    if done.returncode != 0:
        said = done.stdout + done.stderr
        remedy = " (is there such a release?)" if _is_missing(release, said) else ""
        raise ToolchainError(f"Maven cannot fetch the jars of {release}{remedy}: {of_maven(said)}")


def _is_missing(release: Release, said: str) -> bool:
    """Whether Maven says that an artifact of the release itself is nowhere, and not one that it needs."""
    for artifact in release.artifacts:
        group, name, version = artifact.coordinates.split(":")
        named = f"{re.escape(f'{group}:{name}')}:\\w+:{re.escape(version)}"
        if re.search(f"(Could not find artifact|Failure to find) {named}|{named} was not found in", said):
            return True
    return False


def _check(release: Release, folder: Path) -> None:
    for name, digest in sorted(release.pins.items()):
        jar = folder / name
        if not jar.exists():
            raise ToolchainError(f"{release}: {name} is pinned, and Maven did not fetch it")
        actual = hashlib.sha256(jar.read_bytes()).hexdigest()
        if actual != digest:
            raise ToolchainError(f"{release}: {name} is not the jar that is pinned: its sha256 is {actual}")
