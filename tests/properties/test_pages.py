"""The page of a room has each constant, variable and action of its protocol, and none that there is not."""

import re
import sys
from types import ModuleType

import pytest

from fencepost.model.language import Protocol
from fencepost.properties.pages import Page, page_of
from fencepost.properties.protocols import PROTOCOLS
from tests.properties.names import LARGE, ROOT, names_of

EACH = [pytest.param(name, marks=pytest.mark.long) if name in LARGE else name for name in PROTOCOLS]


def _page(protocol: str) -> Page:
    return page_of(PROTOCOLS[protocol].function)


@pytest.mark.xdist_group("names")
@pytest.mark.parametrize("protocol", EACH)
def test_the_page_of_a_room_is_complete(protocol: str) -> None:
    page, names = _page(protocol), names_of(protocol)
    parts = [_page(part) for part in page.parts]
    assert names.parameters - {name for part in parts for name in part.constants} <= set(page.constants) <= names.parameters
    assert names.variables - {name for part in parts for name in part.variables} <= set(page.variables) <= names.variables
    declared = PROTOCOLS[protocol].outline({}).protocol.mirrors.keys()  # also where no instance has such a step
    actions = names.actions - {name for part in parts for name in part.actions}
    assert actions <= set(page.actions) <= names.actions | declared


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_page_of_a_room_says_what_it_mirrors_what_is_left_out_and_where_its_properties_are(protocol: str) -> None:
    page = _page(protocol)
    assert re.search(r"^(It )?[Mm]irrors ", page.text, re.MULTILINE)
    assert re.search(r"^Not modelled: ", page.text, re.MULTILINE)
    assert f"``properties/{protocol}/suite.py``" in page.text
    assert page.constants
    assert page.variables
    assert page.actions
    files = re.findall(r"``((?:properties|docs)/[\w/.-]+)``", page.text)
    assert [file for file in files if not (ROOT / file).exists()] == []


def _of(doc: str, monkeypatch: pytest.MonkeyPatch) -> Page:
    module = ModuleType("tank", doc)
    monkeypatch.setitem(sys.modules, "tank", module)

    def tank() -> Protocol:
        return Protocol("tank")

    tank.__module__ = "tank"
    return page_of(tank)


def test_a_page_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    doc = """A tank.

    Variables of the tank
        level        how full it is
        inlet, outlet.valve
                     whether they
                     are open

    Actions
        fill it goes up

    The properties are elsewhere.
        not_a_name   of anything
    """
    page = _of(doc, monkeypatch)
    both = "whether they are open"
    assert page.variables == {"level": "how full it is", "inlet": both, "outlet.valve": both}
    assert (page.actions, page.constants, page.parts) == ({"fill": "it goes up"}, {}, {})
    assert page.text.startswith("A tank.\n\nVariables of the tank\n    level")


@pytest.mark.parametrize(
    ("lines", "what"), [("    level\n", "level: no line"), ("    level  a\n    level  b\n", "level: two entries")]
)
def test_a_page_that_explains_nothing_or_twice(lines: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=what):
        _of(f"A tank.\n\nVariables\n{lines}", monkeypatch)


def test_a_file_without_a_page_has_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _of("A tank.", monkeypatch) == Page("A tank.", {}, {}, {}, {})
