"""The registry: parameters as the signatures declare them, and mistakes answered with what there is."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from fencepost import merged
from fencepost.model.cluster.protocol import WEAK
from fencepost.model.language import ModelError, Protocol
from fencepost.model.language.moves import untaken
from fencepost.model.pulsar.stores import UP_TO_5_0_0_M1
from fencepost.model.releases import BOOKKEEPER, KAFKA, PULSAR, Releases
from fencepost.properties.bug_files import unknown_names
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError, find
from fencepost.properties.vocabulary import Suite


def tank(*, size: int = 3, leaky: bool = False, liquid: str = "water", bugs: Iterable[str] = ()) -> Protocol:
    if size < 1:
        raise ModelError("tank: size must be positive")
    p = Protocol("tank", parameters={"size": size, "leaky": leaky, "liquid": liquid}, bugs={"hole": "x"}, active=bugs)
    p.number("level", 0, size)
    return p


TANK = Entry(
    name="tank",
    summary="a tank",
    function=tank,
    suite=Suite,
    sizes={"ci": (Instance("small", {"size": 1}), Instance("leaky", {"leaky": True}))},
)


def test_parameters_are_those_of_the_signature() -> None:
    assert [(p.name, p.default) for p in TANK.parameters] == [("size", 3), ("leaky", False), ("liquid", "water")]
    assert str(TANK.parameters[1]) == "leaky (yes or no, no unless set)"


def test_builds_the_instance() -> None:
    protocol = TANK.build({"size": 5, "leaky": True}, ["hole"])
    assert protocol.parameters == {"size": 5, "leaky": True, "liquid": "water"}
    assert protocol.active == ("hole",)
    assert TANK.suite(protocol).protocol is protocol


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_outline_has_the_same_properties_and_makes_nothing_of_them(name: str) -> None:
    entry = PROTOCOLS[name]
    parameters = min(entry.shown_by.values(), key=str)
    outline, whole = entry.outline(parameters), entry.suite(entry.build(parameters))
    for statements, stated in ((outline.properties, whole.properties), (outline.lemmas, whole.lemmas)):
        assert [(p.name, p.kind, p.doc, p.strict, p.unfair) for p in statements] == [
            (p.name, p.kind, p.doc, p.strict, p.unfair) for p in stated
        ]
    assert {p.formula for p in outline.properties + outline.lemmas} == {None}
    assert outline.protocol.actions == []
    assert outline.protocol.bugs == whole.protocol.bugs
    with pytest.raises(ModelError, match="size must be positive"):
        TANK.outline({"size": 0})


def test_settings_are_parsed_by_type() -> None:
    assert TANK.settings(["size=7", "leaky = yes", "liquid=a=b"]) == {"size": 7, "leaky": True, "liquid": "a=b"}
    assert TANK.settings(["leaky=False"]) == {"leaky": False}
    assert TANK.settings([]) == {}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("size", "'size' is not of the form name=value"),
        ("siez=3", "no parameter 'siez' (did you mean size?); tank takes size=3"),
        ("bugs=hole", "no parameter 'bugs'"),
        ("size=big", "size is a number from 0 on, not 'big'"),
        ("size=-1", "size is a number from 0 on, not '-1'"),
        ("size=", "size is a number from 0 on, not ''"),
        ("leaky=perhaps", "leaky is yes or no, not 'perhaps'"),
    ],
)
def test_wrong_settings(text: str, what: str) -> None:
    with pytest.raises(RegistryError) as error:
        TANK.settings([text])
    assert what in str(error.value)


def test_a_setting_given_twice() -> None:
    with pytest.raises(RegistryError, match="size is set twice"):
        TANK.settings(["size=1", "size=2"])


@pytest.mark.parametrize("parameters", [{"size": True}, {"size": "3"}, {"leaky": 1}, {"liquid": None}, {"depth": 1}])
def test_wrong_parameters(parameters: dict[str, object]) -> None:
    with pytest.raises(RegistryError, match="tank takes size"):
        TANK.build(parameters)


def test_mistakes_that_only_the_protocol_knows() -> None:
    with pytest.raises(ModelError, match="size must be positive"):
        TANK.build({"size": 0})
    with pytest.raises(ModelError, match="no bug 'rust'"):
        TANK.build({}, ["rust"])


def test_sizes() -> None:
    assert [instance.name for instance in TANK.instances("ci")] == ["small", "leaky"]
    with pytest.raises(RegistryError, match="no size 'huge'; it has ci"):
        TANK.instances("huge")


def test_bugs_are_the_bugs_of_a_release() -> None:
    bugs = {
        "leaks": Bug("pulsar", since="2.8.0", releases="4.0.8, not 2.10.1 to 3.0.7, 4.2.4 to 5.0.0-M1"),
        "bursts": Bug("pulsar", releases="not 2.10.1 to 4.0.8"),
    }
    entry = replace(TANK, bugs=bugs, releases={"4.0.8": {"size": 5}, "4.18.0": {"size": 7}})
    assert entry.bugs_of(Releases.of("4.0.8")) == ("leaks",)
    assert entry.bugs_of(Releases.of("4.2.4")) == ()
    assert entry.unread(Releases.of("4.0.8")) == {}
    assert entry.unread(Releases.of("4.2.4")) == {"Pulsar 4.2.4": 1}
    assert entry.behaviour(Releases.of("4.0.8")) == {"size": 5}
    assert entry.behaviour(Releases.of("4.2.4", "4.18.0")) == {"size": 7}
    assert entry.behaviour(Releases.of("4.2.4")) == {}


def test_a_release_that_a_protocol_says_nothing_of_is_refused() -> None:
    bugs = {"leaks": Bug("pulsar", releases="2.10.1 to 4.0.8")}
    entry = replace(TANK, bugs=bugs, outside={"2.10.1": "tanks came with 3.0"})
    assert entry.bugs_of(Releases.of("2.10.1")) == ()
    assert entry.unread(Releases.of("2.10.1")) == {}
    assert entry.bugs_of(Releases.of("4.0.8")) == ("leaks",)
    others = ", ".join(number for number in PULSAR if number != "2.10.1")
    refused = f"tank: tanks came with 3.0; name another release by --pulsar: {others}"
    with pytest.raises(RegistryError) as error:
        entry.behaviour(Releases.of("2.10.1"))
    assert str(error.value) == refused
    with pytest.raises(RegistryError, match="tanks came with"):
        entry.as_of(Releases.of("2.10.1"), [Instance("small", {})])


def test_finding() -> None:
    assert find("tank", {"tank": TANK}) is TANK
    with pytest.raises(RegistryError) as error:
        find("tanks", {"tank": TANK})
    assert str(error.value) == "there is no protocol 'tanks' (did you mean tank?); there are tank"


INSTANCES = [
    pytest.param(entry, instance, id=f"{name}, {size}, {instance.name}", marks=[pytest.mark.deep] if size != "ci" else [])
    for name, entry in PROTOCOLS.items()
    for size, instances in entry.sizes.items()
    for instance in (instances[:1] if size == "ci" else instances)
]
"""The first instance for CI of each protocol, of which test_pinned.py searches the others, and all that are larger."""


@pytest.mark.parametrize(("entry", "instance"), INSTANCES)
def test_an_instance_of_the_registry_builds(entry: Entry, instance: Instance) -> None:
    protocol = entry.build(instance.parameters)
    assert protocol.name == entry.name
    unsaid = {
        "metadata_store",
        "policies",
        "migration",
        "slow_updates",
        "truncations",
        "transfers",
        "property_updates",
        *UP_TO_5_0_0_M1,
    } - set(protocol.parameters)
    assert {p.name for p in entry.parameters} - unsaid == set(protocol.parameters)
    assert entry.suite(protocol).properties


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_of_the_registry_is_complete(name: str) -> None:
    entry = PROTOCOLS[name]
    assert entry.name == name
    assert list(entry.sizes) == ["ci", "standard", "deep"]
    assert all(entry.sizes.values())
    defaults = {parameter.name: parameter for parameter in entry.parameters}
    for instances in entry.sizes.values():
        for instance in instances:
            assert all(defaults[key].accepts(value) for key, value in instance.parameters.items())
    assert entry.of_parts or len({bug.project for bug in entry.bugs.values()}) <= 1, "whose the releases are"
    assert list(entry.bugs) == list(entry.build({}).bugs)
    assert list(unknown_names(entry, WEAK)) == []
    assert set(entry.releases) <= {*PULSAR, *BOOKKEEPER, *KAFKA}
    for parameters in entry.releases.values():
        assert all(defaults[key].accepts(value) for key, value in parameters.items())


@pytest.mark.parametrize("name", [name for name, entry in PROTOCOLS.items() if entry.releases])
def test_what_is_not_set_is_as_in_the_newest_release_but_for_what_came_with_it(name: str) -> None:
    """A protocol without a release behaves as 5.0.0-M1: what is counted and proved without one stays as it was."""
    entry = PROTOCOLS[name]
    usual = {parameter.name: parameter.default for parameter in entry.parameters}
    assert entry.behaviour(Releases.of("5.0.0-M1")).items() <= usual.items()
    otherwise = {each for each, value in entry.behaviour(Releases.of()).items() if usual[each] != value}
    assert otherwise <= {"close", *UP_TO_5_0_0_M1}


def test_instances_of_another_behaviour_are_left_out_and_none_comes_twice() -> None:
    entry, sizes = PROTOCOLS["election"], PROTOCOLS["election"].sizes["ci"]
    older, newest = (entry.as_of(Releases.of(release), sizes) for release in ("4.0.8", "4.2.4"))
    assert {instance.parameters["leads"] for instance in older} == {"confirmed"}
    assert {instance.parameters["leads"] for instance in newest} == {"created"}
    assert "crash, up to 4.0.8" in {instance.name for instance in older} - {instance.name for instance in newest}
    assert all(older.count(instance) == 1 for instance in older)
    assert len(older) == len({tuple(sorted(instance.parameters.items())) for instance in older}) < len(sizes)
    assert entry.as_of(None, sizes) == list(sizes)


def test_a_bug_has_one_text_in_all_protocols() -> None:
    texts: dict[str, set[str]] = {}
    for entry in PROTOCOLS.values():
        for bug, text in entry.outline({}).protocol.bugs.items():
            texts.setdefault(bug, set()).add(text)
    assert {bug: variants for bug, variants in texts.items() if len(variants) > 1} == {}


@pytest.mark.long
def test_the_moves_of_parts_are_taken_in_some_instance() -> None:
    made_of_parts = [entry for entry in PROTOCOLS.values() if entry.outline({}).protocol.offers]
    built = [entry.build(instance.parameters) for entry in made_of_parts for instance in entry.sizes["ci"]]
    assert untaken(built) == []


def test_updates_of_several_pieces_have_one_value_each() -> None:
    p = Protocol("tank")
    level, full = p.number("level", 0, 2), p.flag("full")
    assert merged({level: 1}, {full: True}, {level: 1}) == {level: 1, full: True}
    with pytest.raises(ModelError, match="level gets two values: 1 and 2"):
        merged({level: 1}, {level: 2})
