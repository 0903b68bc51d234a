"""What can be held against real code: a protocol, the releases that it is held against, and the instances of its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fencepost.checks.conformance.java_side.harness import RELEASED, Harness, harness
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases, followed, numbers
from fencepost.properties.registry import Entry, RegistryError, Value


@dataclass(frozen=True)
class Asked:
    """What the command line says of the real code: the release, the ``storage`` of bookies, whether a kill is to be that of
    a process (``processes``), and whether ZooKeeper is reached through its ``sockets``, where calls can take their place.

    ``own`` is what takes the place of the release's jars; ``like`` is the modelled release that the code is held against, the
    one that it is or follows unless another is named."""

    release: str
    storage: str = ""
    processes: bool = False
    sockets: bool = False
    own: OwnBuild = RELEASED
    like: str = ""

    def model_of(self, system: str) -> str:
        """The modelled release that the code is held against."""
        return self.like or followed(system, self.release)

    def is_own(self, system: str) -> bool:
        """Whether the code is no release's as it was published: a build of one's own, which nothing pins."""
        return bool(self.own) or self.release not in numbers(system)

    def origin(self, system: str) -> str:
        """What code it is, and whose model it is held against, unless it is a release's as it was published, and that model is
        its own."""
        like = self.model_of(system)
        if not self.is_own(system) and like == self.release:
            return ""
        code = str(self.own) or f"{self.release}, which is no release that is modelled"
        pinned = f"own build, not pinned: {code}; " if self.is_own(system) else ""
        return f"{pinned}the model is that of {system} {like} (--as names another)"

    @property
    def options(self) -> tuple[str, ...]:
        """Of the harness' JVM."""
        return ("-Dfencepost.sockets=true",) if self.sockets else ()


A = TypeVar("A", bound=Adapter)


@dataclass(frozen=True)
class Bench(Generic[A]):
    """How a harness is started: its ``folder`` and ``main`` class, the ``release`` of a number, and the ``adapter`` that speaks
    with it; ``besides`` and ``options`` are as ``harness`` takes them."""

    folder: str
    main: str
    release: Callable[[str], Release]
    adapter: Callable[[Session], A]
    besides: Sequence[str] = ()
    options: Sequence[str] = ()

    def harness(self, number: str, *options: str, own: OwnBuild = RELEASED) -> Harness:
        """The compiled harness for the release of that number, with further options of its JVM. Raises ToolchainError."""
        mine = (*self.options, *options)
        return harness(self.folder, self.main, self.release(number), besides=self.besides, options=mine, own=own)

    def __call__(self, asked: Asked, *, keep_log: bool = False) -> A:
        """A harness with nothing in it yet. Raises ToolchainError or SessionError."""
        return self.adapter(Session(self.harness(asked.release, *asked.options, own=asked.own), keep_log=keep_log))


@dataclass(frozen=True)
class Target:
    """A protocol with the code that it mirrors.

    ``releases`` are those that it is tried with, the usual one first; any other may be asked for. ``start`` starts a harness
    for what is asked; ``instances`` are the parameters of the instances that runs take in turn; ``weights`` makes steps, by the
    names of their actions, likelier or less likely than the others; ``storages`` are the choices of ``--storage``; ``settings``
    are parameters that every instance has, as the harness can do nothing else; ``processes`` is whether kills can be those of a
    process. ``storage_in_model`` is whether the protocol has the storage as a parameter, too; then an instance that names one
    is for that alone.
    """

    name: str
    protocol: str
    system: str
    releases: tuple[str, ...]
    start: Callable[[Asked], Adapter]
    instances: tuple[Mapping[str, Value], ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    storages: tuple[str, ...] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    processes: bool = False
    storage_in_model: bool = False

    def released(self, release: str) -> Releases:
        """That release as the protocols know it; the one that it follows where it is not modelled."""
        return Releases.of(**{self.system: followed(self.system, release)})

    def instances_on(self, storage: str) -> tuple[Mapping[str, Value], ...]:
        """The instances that runs take in turn on a storage."""
        return tuple(self.on(each, storage) for each in self.instances if self.storage_of(each) in ("", storage))

    def on(self, parameters: Mapping[str, Value], storage: str) -> Mapping[str, Value]:
        """The parameters, with the storage where the protocol has it."""
        return {**parameters, "storage": storage} if self.storage_in_model else parameters

    def storage_of(self, parameters: Mapping[str, Value]) -> str:
        """The storage that parameters name, where the protocol has it; empty if none."""
        return str(parameters.get("storage", "")) if self.storage_in_model else ""

    def bugs_of(self, entry: Entry, release: str) -> list[str]:
        """The known bugs of a release that the model has, because the release does."""
        known = entry.bugs_of(self.released(release))
        return [name for name in entry.held if name in known]

    def model(self, entry: Entry, release: str, parameters: Mapping[str, Value], bugs: Iterable[str] | None = None) -> Protocol:
        """An instance that behaves as the release does, with its bugs that are ``held``, or with these bugs and no others.

        What ``parameters`` says goes before what the release does. Raises RegistryError for what the harness cannot do, and
        what ``Entry.build`` raises.
        """
        for name, value in self.settings.items():
            if parameters.get(name, value) != value:
                raise RegistryError(f"{self.name} is held against the code with {name}={value} only, not {parameters[name]}")
        releases = self.released(release)
        if bugs is None:
            bugs = self.bugs_of(entry, release)
        behaviour = {name: value for name, value in entry.behaviour(releases).items() if name not in parameters}
        return entry.build({**self.settings, **parameters, **behaviour}, bugs)
