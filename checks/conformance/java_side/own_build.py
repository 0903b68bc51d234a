"""What an engineer has built: classes and jars that take the place of a release's on its class path."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.conformance.java_side.classfiles import class_of
from fencepost.checks.conformance.java_side.toolchain import ToolchainError

_BESIDES = ("-sources.jar", "-javadoc.jar", "-tests.jar", "-test-sources.jar", "-test.jar", "-scaladoc.jar")
"""What a build by Maven or, of Kafka, by Gradle leaves beside the jar of an artifact."""


@dataclass(frozen=True)
class OwnBuild:
    """A folder of jars, and folders of classes that precede these, each with the packages as folders in it.

    A jar takes the place of the one of the same artifact, whatever the version; the folders of classes come first of all.
    """

    jars: Path | None = None
    classes: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.jars or self.classes)

    def __str__(self) -> str:
        jars = [f"jars of {self.jars}"] if self.jars else []
        return " and ".join([*(f"classes of {folder}" for folder in self.classes), *jars])

    def over(self, path: Sequence[Path], what: str, kept: Collection[str] = ()) -> list[Path]:
        """The class path ``path`` of ``what`` with this build in it, except the artifacts that are ``kept`` as they are.

        Raises ToolchainError if a folder has nothing of what it should have, or changes nothing on this class path.
        """
        own = [jar for jar in self._jars() if not any(_is_artifact(_artifact(jar), name) for name in kept)]
        artifacts = {_artifact(jar) for jar in own}
        replaced = [jar for jar in path if any(_is_artifact(name, _artifact(jar)) for name in artifacts)]
        if self.jars and not replaced:
            raise ToolchainError(f"no jar of {self.jars} takes the place of one of {what}: its artifacts have other names")
        rest = [jar for jar in path if jar not in replaced]
        folders = [folder.resolve() for folder in self.classes]
        for folder in folders:
            names = _names_of(folder)
            if not any(_has(jar, names) for jar in (*own, *rest)):
                raise ToolchainError(f"no class of {folder} is one of {what}: it would change nothing")
        return [*folders, *own, *rest]

    def digest(self) -> str:
        """The sha256 of all that is in it."""
        together = hashlib.sha256()
        for file in (*self._jars(), *(file for folder in self.classes for file in sorted(folder.rglob("*.class")))):
            together.update(f"{file}\n".encode())
            together.update(file.read_bytes())
        return together.hexdigest()

    def _jars(self) -> list[Path]:
        if self.jars is None:
            return []
        found = sorted(jar.resolve() for jar in self.jars.glob("*.jar") if not jar.name.endswith(_BESIDES))
        if not found:
            raise ToolchainError(f"{self.jars}: there is no jar in it; give the folder that has the jars that you have built")
        return found


def _artifact(jar: Path) -> str:
    """The name of a jar without its version."""
    return re.sub(r"-\d.*", "", jar.stem)


def _is_artifact(own: str, artifact: str) -> bool:
    """Whether ``own`` is the artifact, as Maven names its jar or, with its group before it, as a distribution does."""
    return own == artifact or (own.endswith(f"-{artifact}") and "." in own.removesuffix(artifact))


def _names_of(folder: Path) -> list[str]:
    """The paths of the classes in a folder, which is the one above their packages. Raises ToolchainError if it is not."""
    names = []
    for file in sorted(folder.rglob("*.class")):
        name, meant = file.relative_to(folder).as_posix(), _path_of(file)
        if name != meant:
            raise ToolchainError(f"{file} is {meant.removesuffix('.class')}: give the folder above {meant.partition('/')[0]}/")
        names.append(name)
    if not names:
        raise ToolchainError(f"{folder}: there is no class in it; compile with javac -d {folder}")
    return names


def _path_of(file: Path) -> str:
    try:
        return class_of(file.read_bytes()).name.replace(".", "/") + ".class"
    except (ValueError, KeyError) as error:
        raise ToolchainError(f"{file} is no class: {error}") from error


def _has(jar: Path, names: Sequence[str]) -> bool:
    with zipfile.ZipFile(jar) as file:
        held = set(file.namelist())
    return any(name in held for name in names)
