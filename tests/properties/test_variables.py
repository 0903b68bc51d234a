"""The classes that say of which sort each variable is: a type checker believes them, so they must be right."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from fencepost.model.language import Choice, Condition, Family, Number, Subset, Variables
from fencepost.model.language.circumstances import in_outline
from fencepost.model.language.declarations import Names
from fencepost.properties.protocols import PROTOCOLS


def variables_of(room: str) -> type[Variables]:
    own = "fencepost.model.bookkeeper.bookie_variables"
    module = import_module(own if room == "bookie" else f"fencepost.properties.{room}.variables")
    name = "".join(part.title() for part in room.split("_"))
    found: type[Variables] = getattr(module, f"{name}Variables")
    return found


def has_sort(value: object, hint: Any) -> bool:
    """Whether a variable is what its annotation says; a choice may have fewer names than its type."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Family:
        return isinstance(value, Family) and all(has_sort(member, arguments[0]) for member in value)
    if len(arguments) > 1:  # a union of sorts, of which an instance has one
        return any(has_sort(value, one) for one in arguments)
    if origin is Choice:
        return isinstance(value, Choice) and has_values(value.names, arguments[0])
    return type(value) is origin


def has_values(names: tuple[str, ...], hint: Any) -> bool:
    parts = get_args(hint) or (hint,)
    if hint is str:
        return True
    if int in parts:  # members of a universe, and perhaps the name of none of them
        none = {name for part in parts if part is not int for name in get_args(part)}
        return names[-1] in none if none else True
    return set(names) <= set(parts)


def wrong(names: Names, cls: type[Variables], where: str) -> set[str]:
    """The variables that the class does not have, or of which it says another sort."""
    hints, bad = get_type_hints(cls), set[str]()
    for name, value in vars(names).items():
        if isinstance(value, Names):
            bad |= wrong(value, hints[name], f"{where}.{name}")
        elif not name.startswith("_") and not (name in hints and has_sort(value, hints[name])):
            bad.add(f"{where}.{name}")
    return bad


ROOMS = [room for room in PROTOCOLS if room == "bookie" or find_spec(f"fencepost.properties.{room}.variables")]


@pytest.mark.parametrize("room", ROOMS)
def test_variables_have_the_sorts_that_are_written(room: str) -> None:
    entry, cls = PROTOCOLS[room], variables_of(room)
    instances = [instance.parameters for several in entry.sizes.values() for instance in several if not instance.any]
    settings = [(parameters, ()) for parameters in instances] + [(instances[0], (bug,)) for bug in entry.bugs]
    bad = set[str]()
    with in_outline():
        for parameters, bugs in settings:
            bad |= wrong(entry.build(parameters, bugs).state, cls, room)
    assert not bad


def test_a_wrong_sort_is_found() -> None:
    class Wrong(Variables):
        stage: Family[Choice[int]]
        role: Family[Number]
        lives: Family[Condition]
        link: Family[Subset]

    with in_outline():
        state = PROTOCOLS["election"].build({"brokers": 2}).state
    assert {"x.role", "x.link", "x.cached"} <= wrong(state, Wrong, "x")
    assert "x.lives" not in wrong(state, Wrong, "x")
