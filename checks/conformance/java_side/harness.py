"""The harnesses in Java: compiled at first use, for the jars of one release."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fencepost.checks.conformance.java_side.cache import ensure_folder, user_cache
from fencepost.checks.conformance.java_side.causes import last_cause
from fencepost.checks.conformance.java_side.jars import Release, jars
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.toolchain import Toolchain, ToolchainError, toolchain

JAVA = Path(__file__).parents[1] / "java"
SHARED = JAVA / "shared"

OVER_ZOOKEEPER = ("zookeeper",)
"""The folder that harnesses over a ZooKeeper server of their own share."""

OVER_WIRES = (*OVER_ZOOKEEPER, "wire")
"""The folders of harnesses whose clients reach that server by wires that can be cut."""

OF_PULSAR = (*OVER_WIRES, "pulsar")
"""The folders that harnesses over Pulsar's metadata share."""

OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Duser.language=en",
    "-Duser.country=US",
    f"-Dlog4j2.configurationFile={SHARED / 'quiet.properties'}",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.leakDetection.level=disabled",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
)
"""Of every JVM: quick to start, on one core, in the language whose numerals Java need not look up for every thread that it
names, and what Netty asks for."""

RELEASED = OwnBuild()
"""No build of one's own: the jars of the release as they are."""

OF_ZOOKEEPER = ("-Dzookeeper.forceSync=no", "-Dzookeeper.sasl.client=false")
"""For harnesses over a ZooKeeper server: it syncs no file, and no client looks up a name for its address, as Kerberos needs."""

EXECUTORS = "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED"
"""For harnesses that count what the threads of a store have done, which the JDK's own executors keep."""


@dataclass(frozen=True)
class Ingredients:
    """What a harness is made of: the class that is started, the sources, the release whose jars they use, and the options of
    the JVM that are its own."""

    main: str
    release: Release
    sources: tuple[Path, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Harness:
    """A compiled harness: the command that starts its JVM, which then speaks JSON lines (see ``session``), its
    ``ingredients``, and the ``arguments`` of its main class."""

    command: tuple[str, ...]
    ingredients: Ingredients | None = None
    arguments: tuple[str, ...] = ()

    def with_arguments(self, *arguments: str) -> Harness:
        """The same with arguments for its ``main``."""
        return replace(self, command=(*self.command, *arguments), arguments=(*self.arguments, *arguments))


def harness(
    folder: str | Path,
    main: str,
    release: Release,
    *,
    besides: Sequence[str] = (),
    options: Sequence[str] = (),
    tools: Toolchain | None = None,
    own: OwnBuild = RELEASED,
) -> Harness:
    """The harness of ``java/FOLDER`` with what all of them share, whose class ``main`` is started with the jars of a release.

    A ``folder`` that is a path is one of its own, wherever that is.
    ``besides`` are further folders of ``java`` that it is compiled with, ``options`` are for the JVM; ``own`` is put into the
    class path. Compiled classes are kept by the digest of sources, class path and JDK. Raises ToolchainError, with the
    compiler's first complaint if the release does not have what the harness uses.
    """
    tools = (tools or toolchain()).at_least(release.java, str(release))
    path = own.over(jars(release, tools), str(release), release.kept) if own else jars(release, tools)
    mine = folder.resolve() if isinstance(folder, Path) else JAVA / folder
    folders = [*(JAVA / each for each in (SHARED.name, *besides)), mine]
    sources = [source for each in folders for source in sorted(each.rglob("*.java"))]
    digest = hashlib.sha256("\n".join([*map(str, path), own.digest() if own else ""]).encode())
    for source in sources:
        digest.update(source.read_bytes())
    digest.update(str(tools.version).encode())

    def compiled(classes: Path) -> None:
        _compile(sources, path, classes, release, tools)

    name = f"{mine.name}-{release.name}-{release.version}-{digest.hexdigest()[:16]}"
    classes = ensure_folder(user_cache() / "classes" / name, compiled)
    together = os.pathsep.join([str(classes), *(str(jar) for jar in path)])
    command = (str(tools.java), *OPTIONS, *options, "-cp", together, main)
    return Harness(command, Ingredients(main, release, tuple(sources), tuple(options)))


def _compile(sources: Sequence[Path], path: Sequence[Path], classes: Path, release: Release, tools: Toolchain) -> None:
    # the class path of a large release is longer than some systems take on a command line
    arguments = classes / "arguments"
    words = ["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", classes, "-cp", os.pathsep.join(map(str, path)), *sources]
    arguments.write_text("\n".join('"' + str(word).replace("\\", "\\\\") + '"' for word in words), encoding="utf-8")
    try:
        done = subprocess.run([tools.javac, f"@{arguments}"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolchainError(f"javac cannot be run: {error}") from error
    finally:
        arguments.unlink()
    if done.returncode != 0:
        message = next((line for line in done.stderr.splitlines() if "error:" in line), last_cause(done.stderr))
        raise ToolchainError(f"the harness does not fit {release}: {message}")
