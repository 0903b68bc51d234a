"""Of what instances of a protocol there is a proof for any size, and into which parts it falls."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fencepost.model.any_size.first_order import any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import Parameters
from fencepost.properties.vocabulary import Suite


@dataclass(frozen=True)
class Case:
    """Some of the sizes that a parameter may have: ``least`` and all that are larger or, if it stands ``alone``, that one.

    ``settings`` has the parameters of an instance of a size, a number or a ``Size``: the parameter itself, and what else is
    settled by it. Where a size is not known, others that are not known either are parts of it.
    """

    least: int
    settings: Callable[[int | Size], Mapping[str, int | Size]]
    alone: bool = False


@dataclass(frozen=True)
class Sizes:
    """All sizes that a parameter may have, as cases; ``meaning`` says what else goes with it, for the reader, if anything does.

    Whatever there are so many of is ``alike`` if it has no order: the protocol only tells one from another.
    """

    cases: tuple[Case, ...]
    meaning: str = ""
    alike: bool = False

    @property
    def least(self) -> int:
        """The least of them."""
        return min(case.least for case in self.cases)

    @property
    def settles(self) -> frozenset[str]:
        """The parameters that a size settles."""
        return frozenset[str]().union(*(case.settings(case.least) for case in self.cases))


def sizes_from(parameter: str, least: int, *alone: int, alike: bool = False) -> Sizes:
    """The sizes from ``least`` on as one case, and some that stand alone; nothing else goes with them."""

    def settings(size: int | Size) -> dict[str, int | Size]:
        return {parameter: size}

    return Sizes((Case(least, settings), *(Case(one, settings, alone=True) for one in alone)), alike=alike)


@dataclass(frozen=True)
class Part:
    """One case for each parameter that is of any size; ``make`` makes the suite of an instance with such parameters.

    Unless all cases stand alone there is a suite for any size in these cases.
    """

    cases: Mapping[str, tuple[Sizes, Case]]
    make: Callable[[Parameters], Suite]
    steps: bool = False

    @property
    def is_an_instance(self) -> bool:
        """Whether it is of one size only."""
        return all(case.alone for _, case in self.cases.values())

    def general(self) -> Suite:
        """The suite of the protocol of any size in these cases."""
        with any_size(steps=self.steps):
            suite = self.make(self._settled(self._size))
            _ = suite.lemmas  # they are to be made here, too
        return suite

    def instance(self, larger: int = 0) -> Suite:
        """The suite of the instance that is so much larger than the least in these cases."""
        return self.make(self._settled(lambda name: self._number(name, larger)))

    def sizes(self, larger: int = 0) -> dict[str, int]:
        """The sizes of that instance by the names that they have where they are not known, and those that are the same."""
        return {
            name: size for name, size in self._settled(lambda name: self._number(name, larger)).items() if isinstance(size, int)
        }

    def _number(self, name: str, larger: int) -> int:
        _, case = self.cases[name]
        return case.least if case.alone else case.least + larger

    def _size(self, name: str) -> int | Size:
        sizes, case = self.cases[name]
        return case.least if case.alone else Size.named(name, case.least, alike=sizes.alike)

    def _settled(self, size: Callable[[str], int | Size]) -> dict[str, int | Size]:
        return {key: value for name, (_, case) in self.cases.items() for key, value in case.settings(size(name)).items()}


@dataclass(frozen=True)
class General:
    """Of what instances of a protocol there is a proof for any size.

    ``sizes`` has each parameter that may be of any size; ``instances`` are those that are checked unless others are asked for,
    each with the names of those of any size; ``refuses`` says of parameters, and of the names of those of any size, why there
    is no such proof, or nothing; ``without`` what the proof is therefore not of, for the reader; ``steps`` whether properties
    of steps are proved, too. ``otherwise`` has the sizes that are others where the parameters that are set ask for that.
    """

    sizes: Mapping[str, Sizes]
    instances: tuple[Any, ...]
    refuses: Callable[[Parameters, Sequence[str]], str]
    without: str
    steps: bool = False
    otherwise: Callable[[Parameters], Mapping[str, Sizes]] = lambda _: {}

    def sizes_with(self, parameters: Parameters) -> dict[str, Sizes]:
        """Each parameter that may be of any size, where these are set."""
        return {**self.sizes, **self.otherwise(parameters)}

    def parts(
        self, names: Sequence[str], make: Callable[[Parameters], Suite], parameters: Parameters = MappingProxyType({})
    ) -> Iterator[Part]:
        """The parts of a proof in which these parameters are of any size, where others are set: first that without a case that
        stands alone."""
        sizes = self.sizes_with(parameters)
        every = [[(sizes[name], case) for case in sizes[name].cases] for name in names]
        for cases in itertools.product(*every):
            yield Part(dict(zip(names, cases, strict=True)), make, self.steps)
