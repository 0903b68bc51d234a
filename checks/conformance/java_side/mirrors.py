"""What the actions of the protocols mirror, looked up in the jars of the modelled releases: is each class and method there?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.checks.conformance.java_side.classfiles import Classes
from fencepost.checks.conformance.java_side.jars import Artifact, Release, jars
from fencepost.checks.conformance.java_side.published import ALONE, class_path
from fencepost.checks.conformance.java_side.toolchain import Toolchain
from fencepost.model.releases import ONLY_IN, followed, is_since, mirrored_in, numbers
from fencepost.model.releases import release as modelled_release
from fencepost.properties.registry import Entry


@dataclass(frozen=True)
class Looked:
    """A method that some actions of a protocol mirror, and the releases of its project that have it, of those ``asked``."""

    protocol: str
    project: str
    method: str
    actions: tuple[str, ...]
    asked: tuple[str, ...]
    holders: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The releases that do not have it, though nothing says so."""
        declared = mirrored_in(self.method, self.project)
        return tuple(release for release in self.asked if release in declared.has and release not in self.holders)

    @property
    def unexpected(self) -> tuple[str, ...]:
        """The releases that have it, though it is declared that they do not."""
        declared = mirrored_in(self.method, self.project)
        return tuple(release for release in self.holders if release in declared.lacks)

    @property
    def unread(self) -> tuple[str, ...]:
        """The releases of which nothing says whether they have it, and which do not have it."""
        declared = mirrored_in(self.method, self.project)
        known = (*declared.has, *declared.lacks, *self.holders)
        return tuple(release for release in self.asked if release not in known)


def classes_of(project: str, version: str) -> Release:
    """The jars of a release of ``pulsar``, ``bookkeeper`` or ``kafka`` in which there is what the protocols mirror, and no
    others. What goes with a release that is not modelled goes with the nearest one that is."""
    modelled = followed(project, version)
    if project == "bookkeeper":
        names = [f"org.apache.bookkeeper:bookkeeper-server:{version}"]
    elif project == "kafka":
        scala = "2.13" if is_since(modelled, "3.9.1") else "2.11"
        names = [f"org.apache.kafka:kafka_{scala}:{version}", *_zookeeper(modelled)]
    else:
        own = ("pulsar-broker", "pulsar-broker-common", "pulsar-client-original", "pulsar-metadata", "managed-ledger")
        names = [f"org.apache.pulsar:{name}:{version}" for name in own]
        names += _zookeeper(modelled)
    return class_path(f"{project}-classes", version, (Artifact(name, ALONE) for name in names))


def _names(full: str, method: str) -> tuple[str, str]:
    """The names that a method of a class can have: Scala puts the class's before that of a private one which others call."""
    return method, f"{full.replace('.', '$').replace('/', '$')}$${method}"


def _zookeeper(version: str) -> list[str]:
    return [f"org.apache.zookeeper:zookeeper:{modelled_release(version).zookeeper}"]


def mirrored(entry: Entry) -> dict[str, tuple[str, ...]]:
    """Every method that an action of the protocol mirrors, with or without its bugs, and the actions that do."""
    actions: dict[str, list[str]] = {}
    for action, methods in entry.mirrors().items():
        for method in methods:
            actions.setdefault(method, []).append(action)
    return {method: tuple(actions[method]) for method in sorted(actions)}


def look_up(
    entries: Iterable[Entry],
    tools: Toolchain,
    releases: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> list[Looked]:
    """Looks the mirrored methods of protocols up in the jars of their releases, or of those of them that are named.

    A protocol that no table of releases tells of is left out. A method counts as there if the class declares it or
    inherits it from another class of these jars. Raises ToolchainError.
    """
    answers: list[Looked] = []
    for project, entry in ((entry.project, entry) for entry in entries if entry.project):
        served = (number for number in numbers(project) if modelled_release(number).served)
        asked = tuple(release for release in served if not releases or release in releases)
        methods = mirrored(entry)
        there: dict[str, list[str]] = {method: [] for method in methods}
        for release in asked:
            progress(f"{entry.name}: the classes of {project} {release}")
            with Classes(jars(classes_of(project, release), tools)) as classes:
                for method in methods:
                    name, _, own = method.rpartition(".")
                    if any(classes.has(full, each) for full in classes.named(name) for each in _names(full, own)):
                        there[method].append(release)
        answers += [
            Looked(entry.name, project, method, actions, asked, tuple(there[method])) for method, actions in methods.items()
        ]
    return answers


def unused(answers: Sequence[Looked]) -> Iterator[str]:
    """The names that are declared to be in some releases only, and that no action mirrors."""
    methods = {looked.method for looked in answers}
    return (name for name in ONLY_IN if not any(f"{method}.".startswith(f"{name}.") for method in methods))
