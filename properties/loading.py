"""What is known by name, and loaded when it is first looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Loaded(Mapping[str, T]):
    """Values by name, in the order of the names. To go through the names loads nothing."""

    def __init__(self, names: Iterable[str], load: Callable[[str], T]) -> None:
        self._names, self._load, self._values = dict.fromkeys(names), load, dict[str, T]()

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._values:
            self._values[name] = self._load(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
