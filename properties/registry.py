"""The protocols that Fencepost knows by name, with their parameters, their properties and the sizes of their checks."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from typing import TypeVar

from fencepost.model.any_size.sizes import Size
from fencepost.model.language import Location, ModelError, Parameters, Protocol
from fencepost.model.language.circumstances import in_outline
from fencepost.model.language.mistakes import built, guess
from fencepost.model.releases import PULSAR, Behaviour, Releases
from fencepost.properties.any_size import General, Part
from fencepost.properties.bugs import Bug
from fencepost.properties.bugs import Value as Value
from fencepost.properties.configuration import Configuration, InCluster
from fencepost.properties.configuration import Instance as Instance
from fencepost.properties.vocabulary import Suite

__tracebackhide__ = True  # what is wrong with a model is told with a line of the model

T = TypeVar("T")

WORDS: dict[type, str] = {bool: "yes or no", int: "a number from 0 on", str: "a word"}
TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


LARGEST = 64
"""The largest number that a file can give a parameter: somebody else may have written it, and an instance of larger numbers
cannot be searched, and takes gigabytes to build."""


class RegistryError(Exception):
    """A protocol or parameter that does not exist, or a value that does not fit; the message lists what there is."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a protocol, as the signature of the function that builds it declares it."""

    name: str
    default: Value

    @property
    def type(self) -> type:
        return type(self.default)

    def __str__(self) -> str:
        return f"{self.name} ({WORDS[self.type]}, {written(self.default)} unless set)"

    def accepts(self, value: object) -> bool:
        """Whether the value has this parameter's type; a truth value is not a number."""
        return type(value) is self.type

    def parse(self, text: str) -> Value:
        """The value written as ``text``; ValueError if it is none that the parameter can have: no number is negative."""
        if self.type is int:
            if (number := int(text)) < 0:
                raise ValueError(text)
            return number
        if self.type is bool:
            if text.lower() not in TRUTH:
                raise ValueError(text)
            return TRUTH[text.lower()]
        return text


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry:
    """A protocol in the registry; one is equal to itself only.

    ``function`` builds it from keyword parameters, all with defaults, and ``bugs``; ``suite`` makes its properties;
    ``sizes`` maps the name of a size to the instances that are checked in it; ``bugs`` has what is known of each bug, such as
    a small instance in which it is caught. ``mutated`` are the instances in which mutants of it are searched by the hundred, if
    those of ``ci`` are too large for that. ``releases`` maps a release, of Pulsar, of BookKeeper or of Kafka, to the parameters
    with which the protocol behaves as it; with ``of_client`` that of BookKeeper is the release of the brokers' client.
    ``outside`` maps a release of Pulsar to the reason why the protocol says nothing of it. ``general`` tells for what of it
    there is a proof for any size. ``of_parts`` is whether its bugs are those of its parts, whose own protocols have them as
    theirs. ``largest`` is the largest number that a file can give a parameter. ``in_cluster`` says what it takes from a
    cluster's configuration, and what it is to the cluster's operator.
    """

    name: str
    summary: str
    function: Callable[..., Protocol]
    suite: Callable[[Protocol], Suite]
    sizes: Mapping[str, tuple[Instance, ...]]
    bugs: Mapping[str, Bug] = field(default_factory=dict)
    mutated: tuple[Instance, ...] = ()
    releases: Behaviour = field(default_factory=dict)
    of_client: bool = False
    outside: Mapping[str, str] = field(default_factory=dict)
    general: General | None = None
    of_parts: bool = False
    largest: int = LARGEST
    in_cluster: InCluster = field(default_factory=InCluster)

    def __post_init__(self) -> None:
        if not isinstance(self.suite, partial):  # it is one already where an entry is made of another
            object.__setattr__(self, "suite", partial(_suite, f"{self.name}: its properties", self.suite))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in the order of the signature; ModelError if it is not that of a function that builds a protocol."""
        signature = inspect.signature(self.function)
        for parameter in signature.parameters.values():
            if parameter.name != "bugs" and type(parameter.default) not in WORDS:
                remedy = "give it a default that is a number, a word, True or False"
                raise ModelError(f"{self.name}: parameter {parameter.name}: {remedy}", Location.of(self.function))
        return tuple(Parameter(p.name, p.default) for p in signature.parameters.values() if p.name != "bugs")

    def build(self, parameters: Parameters, bugs: Iterable[str] = ()) -> Protocol:
        """The instance with these parameters and bugs.

        Raises RegistryError for a parameter that is unknown or of the wrong type, and ModelError, with the reason, for
        values that do not fit each other or a bug that the protocol does not have.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in parameters.items():
            parameter = known.get(name) or self._parameter(name)
            if not parameter.accepts(value):
                raise self._unfit(parameter, repr(value))
        active = tuple(bugs)
        protocol: Protocol = built(self.name, Protocol, self.function, **parameters, bugs=active)
        protocol.actors.check()
        return protocol

    def of_file(self, parameters: Parameters, bugs: Iterable[str]) -> Protocol:
        """The instance that a file names. Raises what ``build`` raises, and RegistryError for a number above ``largest``."""
        for name, value in parameters.items():
            if type(value) is int and not 0 <= value <= self.largest:
                raise RegistryError(f"{self.name}: {name} is from 0 to {self.largest} in a file, not {str(value)[:12]}")
        return self.build(parameters, bugs)

    def of_any(self, names: Sequence[str], parameters: Parameters, bugs: Iterable[str] = ()) -> list[Part]:
        """The parts of a proof of the protocol with these parameters of any size, and the others as they are given.

        Raises what ``build`` raises, and RegistryError if there is no such proof.
        """
        general = self.general or General({}, (), lambda *_: "", "")
        for name in names:
            if name not in general.sizes:
                known = ", ".join(general.sizes)
                what = f"of any size can be {known}" if known else "there is no proof of it for any size"
                raise RegistryError(f"{self.name}: {what}, not {name}")
            if name in parameters:
                raise RegistryError(f"{self.name}: {name} is both set and of any size")
            if settled := sorted(general.sizes_with(parameters)[name].settles & parameters.keys()):
                raise RegistryError(f"{self.name}: {settled[0]} is settled by the number of {name}; leave it out")
        if why := general.refuses(parameters, names):
            raise RegistryError(f"{self.name}: {why}")
        bugs = tuple(bugs)

        def suite_of(sizes: Parameters) -> Suite:
            every = {**parameters, **sizes}
            if any(isinstance(size, Size) for size in sizes.values()):
                return self.suite(built(self.name, Protocol, self.function, **every, bugs=bugs))
            return self.suite(self.build(every, bugs))

        parts = list(general.parts(names, suite_of, parameters))
        parts[0].instance()  # what does not fit is told of an instance
        return parts

    def outline(self, parameters: Parameters) -> Suite:
        """The properties of the instance with these parameters, by name: no formula is made (see ``in_outline``).

        It is made once for each, since many ask for the same; nobody changes it. Raises what ``build`` raises.
        """
        names = tuple(sorted(parameters))
        return _outline(self, names, *(parameters[name] for name in names))

    def mirrors(self) -> Mapping[str, tuple[str, ...]]:
        """Every action that an instance of some size has, or one with a bug, and the methods that it mirrors."""
        return _mirrors(self)

    @property
    def project(self) -> str:
        """Whose releases have the bugs: ``pulsar``, ``bookkeeper`` or ``kafka``; empty if no table of releases has them."""
        return "" if self.of_parts else next((bug.project for bug in self.bugs.values()), "")

    @property
    def shown_by(self) -> Mapping[str, Mapping[str, Value]]:
        """By bug the parameters of a small instance in which it is caught."""
        return {name: bug.shown_by for name, bug in self.bugs.items()}

    @property
    def held(self) -> tuple[str, ...]:
        """The bugs that the model has when it is held against the real code of a release that has them."""
        return tuple(name for name, bug in self.bugs.items() if bug.held)

    def can_have(self, name: str, parameters: Parameters) -> bool:
        """Whether an instance with these parameters, and the usual ones besides, can have the bug."""
        return self.bugs[name].fits({p.name: p.default for p in self.parameters} | dict(parameters))

    def refusal(self, releases: Releases | None) -> str:
        """Why the protocol says nothing of these releases; empty if it does."""
        return self.outside.get(releases.pulsar, "") if releases else ""

    def bugs_of(self, releases: Releases) -> tuple[str, ...]:
        """The bugs that these releases have, in their order; none of a protocol whose bugs are those of its parts."""
        if self.of_parts or self.refusal(releases):
            return ()
        return tuple(name for name, bug in self.bugs.items() if bug.is_in(releases))

    def unread(self, releases: Releases) -> dict[str, int]:
        """By release, of these, of how many bugs nobody has read if it has them; releases with none are left out."""
        if self.of_parts or self.refusal(releases):
            return {}
        named = (bug.release(releases) for bug in self.bugs.values() if bug.is_unread(releases))
        return dict(Counter(named))

    def behaviour(self, releases: Releases) -> dict[str, Value]:
        """The parameters with which the protocol behaves as these releases do, where that changed between releases.

        RegistryError if it says nothing of them.
        """
        if why := self.refusal(releases):
            numbers = ", ".join(number for number in PULSAR if number not in self.outside)
            raise RegistryError(f"{self.name}: {why}; name another release by --pulsar: {numbers}")
        named = (releases.of_project("bookkeeper", client=self.of_client), releases.pulsar, releases.kafka)
        return {name: value for number in named for name, value in self.releases.get(number, {}).items()}

    def as_of(self, releases: Releases | None, instances: Iterable[Instance]) -> list[Instance]:
        """Of some instances those that behave as the releases do, each once; without releases all of them."""
        behaviour, distinct = self.behaviour(releases) if releases else {}, list[Instance]()
        for instance in instances:
            fits = all(instance.parameters.get(name, value) == value for name, value in behaviour.items())
            parameters = {**behaviour, **instance.parameters}
            if fits and parameters not in [other.parameters for other in distinct]:
                distinct.append(replace(instance, parameters=parameters))
        return distinct

    def settings(self, texts: Iterable[str]) -> dict[str, Value]:
        """The parameters written as ``name=value``, each at most once; RegistryError if one is wrong."""
        values: dict[str, Value] = {}
        for text in texts:
            name, equals, written = (part.strip() for part in text.partition("="))
            if not equals:
                raise RegistryError(f"{text!r} is not of the form name=value; {self._listing()}")
            parameter = self._parameter(name)
            if name in values:
                raise RegistryError(f"{name} is set twice")
            try:
                values[name] = parameter.parse(written)
            except ValueError:
                raise self._unfit(parameter, repr(written)) from None
        return values

    def instances(self, size: str) -> tuple[Instance, ...]:
        """The instances of a size; RegistryError, listing the sizes, if there is none of that name."""
        if size not in self.sizes:
            raise RegistryError(f"{self.name} has no size {size!r}; it has {', '.join(self.sizes) or 'none'}")
        return self.sizes[size]

    def configured(self, cluster: Configuration, size: str = "") -> tuple[Instance, ...] | None:
        """The instances that stand for a cluster, of a size or, without one, of those that take seconds; None if the protocol
        takes nothing of the configuration. RegistryError if there is no size of that name."""
        taken = self.taken(cluster, {})
        instances = self.instances(size or "ci")
        return tuple(self.in_cluster.instances(cluster, taken, instances, size)) if taken else None

    def taken(self, cluster: Configuration, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
        """What the protocol takes from the configuration, in an instance with these parameters."""
        usual = {parameter.name: parameter.default for parameter in self.parameters}
        return self.in_cluster.parameters(cluster, usual | dict(parameters))

    def _parameter(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        meant = guess(name, [parameter.name for parameter in self.parameters])
        raise RegistryError(f"{self.name} has no parameter {name!r}{meant}; {self._listing()}")

    def _unfit(self, parameter: Parameter, written: str) -> RegistryError:
        return RegistryError(f"{self.name}: {parameter.name} is {WORDS[parameter.type]}, not {written}; {self._listing()}")

    def _listing(self) -> str:
        usual = ", ".join(f"{p.name}={written(p.default)}" for p in self.parameters)
        return f"{self.name} takes {usual}, unless set" if usual else f"{self.name} takes no parameters"


@lru_cache(maxsize=None, typed=True)  # yes is not 1
def _outline(entry: Entry, names: tuple[str, ...], *values: Value) -> Suite:
    with in_outline():
        return entry.suite(entry.build(dict(zip(names, values, strict=True))))


@cache
def _mirrors(entry: Entry) -> Mapping[str, tuple[str, ...]]:
    instances = [{}, *(instance.parameters for size in entry.sizes.values() for instance in size)]
    with in_outline():
        protocols = [entry.build(parameters) for parameters in instances]
        protocols += [entry.build(parameters, (bug,)) for bug, parameters in entry.shown_by.items()]
    actions: dict[str, dict[str, None]] = {}
    for protocol in protocols:
        for action, methods in protocol.mirrors.items():
            actions.setdefault(action, {}).update(dict.fromkeys(methods))
    return {action: tuple(methods) for action, methods in actions.items()}


def _suite(where: str, function: Callable[[Protocol], Suite], protocol: Protocol) -> Suite:
    suite: Suite = built(where, Suite, function, protocol)
    return suite


def find(name: str, protocols: Mapping[str, T]) -> T:
    """The protocol, or whatever else is checked, of that name; RegistryError, listing the names, if there is none."""
    if name not in protocols:
        known = ", ".join(sorted(protocols)) or "none"
        raise RegistryError(f"there is no protocol {name!r}{guess(name, protocols)}; there are {known}")
    return protocols[name]


def written(value: object) -> str:
    """A parameter's value as it is set and shown."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
