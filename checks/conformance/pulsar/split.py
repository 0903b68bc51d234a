"""The split's adapter: how each action of the model is carried out on a NamespaceService, and what shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.pulsar.locks import LOCK_STEPS, LOCKS, NOT_COVERED, LocksAdapter, do, owed_by_locks
from fencepost.checks.conformance.pulsar.ownership_deviations import DEVIATIONS, LOCK_ALLOWANCES
from fencepost.checks.conformance.running.adapter import Allowance, Departure, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol
from fencepost.model.pulsar.hash_range import HashRange
from fencepost.model.pulsar.hash_range.algorithms import RANGE
from fencepost.model.pulsar.hash_range.universe import Bundles
from fencepost.model.pulsar.split_policies import RECORDED

LAST_HASH = 0xFFFFFFFF


class Scale:
    """The small hash range of an instance on Pulsar's: where each of its boundaries is."""

    def __init__(self, instance: Protocol) -> None:
        hashes = HashRange(int(instance.parameters["hashes"]) - 1)
        algorithm, count = str(instance.parameters["algorithm"]), int(instance.parameters["bundles"])
        bundles = Bundles.of(hashes, algorithm, count)
        self.first = [0, *(bundle.upper for bundle in bundles.first)]
        self.ends = dict(zip(bundles.names, bundles.members, strict=True))
        self.halves = algorithm == RANGE
        self._large = {small: LAST_HASH * small // hashes.last for small in range(hashes.last + 1)}
        if self.halves:
            # as the code cuts them, largest first, so that what is cut has its ends already
            for lower, upper in sorted(bundles.members, key=lambda bundle: bundle.lower - bundle.upper):
                if hashes.splittable(lower, upper):
                    low, high = self._large[lower], self._large[upper]
                    self._large[hashes.midpoint(lower, upper)] = low + (high - low) // 2
        self._small = {large: small for small, large in self._large.items()}

    def large(self, small: int) -> int:
        """Where a boundary of the model is in the code."""
        return self._large[small]

    def named(self, boundaries: Iterable[int]) -> frozenset[str]:
        """The bundles between boundaries of the code, as the model names them; one that it does not have by its hashes."""
        ends = [self._small.get(each, f"{each:#x}") for each in boundaries]
        return frozenset(f"u{lower}_{upper}" for lower, upper in pairwise(ends))


def _of_all(name: str) -> Observable:
    return Observable(name, (name,), lambda view: view.get(name), lambda seen: seen.get(name))


def _of_live(family: str, key: str, when: Callable[[View, str], bool] = lambda view, b: True) -> Observable:
    """A variable of each broker that runs, where it shows."""
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in _live(view) if when(view, b)},
        lambda seen: {b: of_broker[key] for b, of_broker in seen["brokers"].items() if key in of_broker},
    )


def _live(view: View) -> Iterator[str]:
    return (b for b in view.members("broker") if view[f"lives[{b}]"])


def _writes(view: View, b: str) -> bool:
    return bool(view[f"split[{b}]"] == "writing")


OBSERVABLES = (
    *LOCKS,
    *map(_of_all, ("layout", "layout_version", "policies")),
    _of_live("view", "view"),
    _of_live("view_version", "view_version"),
    _of_live("layout_change", "change"),
    _of_live("proposed", "proposed", _writes),
    _of_live("based_on", "based_on", _writes),
    _of_live("attempt", "attempt"),
    _of_live("parent", "parent", lambda view, b: bool(view[f"attempt[{b}]"])),
    Observable(
        "splitting",
        ("split",),
        lambda view: {b: view[f"split[{b}]"] != "none" for b in _live(view)},
        lambda seen: {b: of_broker["splitting"] for b, of_broker in seen["brokers"].items() if "splitting" in of_broker},
    ),
)


def _is_sent_again(action: Action, view: View, seen: Seen) -> bool:
    alone = action.name in ("fail_to_write", "fail_to_write_policies")
    return alone and bool(view[f"session[{action.arguments['b']}]"])


ALLOWANCES = (
    *LOCK_ALLOWANCES,
    Allowance(
        "a write that fails for want of a connection",
        "it takes a write that the store sends alone, after a part of a batch has failed; the split then ends likewise",
        _is_sent_again,
    ),
)


def _fail_to_load(step: Taken) -> dict[str, object]:
    """The copy of the layout is dropped as the split begins, and its read is answered with the end of the session."""
    b = step.arguments["b"]
    if step.before[f"attempt[{b}]"]:
        raise Departure("the harness drops the copy of the layout before the first attempt of a split")
    return {"do": "fail-to-load", "bundle": step.before[f"parent[{b}]"]}


class SplitAdapter(LocksAdapter):
    """Drives a NamespaceService with its NamespaceBundleFactory for each broker, over one ZooKeeper server."""

    protocol = "split"
    not_covered: ClassVar = {
        **{name: why for name, why in NOT_COVERED.items() if name != "reestablish_unheard"},
        "drop": "no release has it",
        "leave_policies": "no release has it",
    }
    observables = OBSERVABLES
    shown_by_requests = ("lock", "orphan", "split")
    allowances = ALLOWANCES
    deviations = DEVIATIONS

    steps: ClassVar = {
        **LOCK_STEPS,
        "hear_of_layout": do("hear-of-layout"),
        "start_split": do("may-split"),
        "prepare": lambda step: {"do": "prepare", "first": _is_first(step)},
        "find_parent_missing": lambda step: {"do": "give-up", "first": _is_first(step)},
        "fail_to_load": _fail_to_load,
        "write": do("write"),
        "write_unheard": do("write-unheard"),
        "meet_bad_version": do("write-in-vain"),
        "begin_again": do("awake"),
        "fail_to_write": do("fail-to-write"),
        "fail_to_write_policies": lambda step: {"do": "fail-to-write", "policies": True},
        "write_policies": do("write-policies"),
        "hand_over": lambda step: {"do": "hand-over" if "policies" in step.before else "write-policies-and-hand-over"},
        "start_release": do("unload"),
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._scale: Scale | None = None
        self._unloads = False

    def begin(self, instance: Protocol) -> Seen:
        scale = self._scale = Scale(instance)
        self._unloads = bool(instance.parameters["unload_after_split"])
        brokers = [instance.universes["broker"].label(member) for member in instance.universes["broker"]]
        ends = {name: [scale.large(lower), scale.large(upper)] for name, (lower, upper) in scale.ends.items()}
        boundaries = [scale.large(each) for each in scale.first]
        return self.seen({"do": "begin", "brokers": brokers, "bundles": ends, "boundaries": boundaries})

    def take(self, step: Taken) -> Seen:
        if step.action.name != "prepare":
            return super().take(step)
        assert self._scale is not None
        broker, bundle, boundary = step.arguments.values()
        # where the code cuts by itself it is not told where
        cut = {} if self._scale.halves else {"boundary": self._scale.large(int(boundary))}
        how = {**self.steps["prepare"](step), "unload": self._unloads, **cut}
        return self.seen({"of": broker, "bundle": bundle, **how})

    def expected(self, view: View) -> Owed:
        return Owed(frozenset((*owed_by_locks(view), *_owed_by_splits(view))))

    def seen(self, step: Mapping[str, object]) -> Seen:
        seen = super().seen(step)
        return Seen({**seen.values, **self._in_words(seen.values)}, seen.requests)

    def _in_words(self, values: Told) -> dict[str, object]:
        """Bundles by their names instead of boundaries."""
        assert self._scale is not None
        brokers = {
            b: {**of_broker, **{name: self._scale.named(of_broker[name]) for name in ("view", "proposed") if name in of_broker}}
            for b, of_broker in values["brokers"].items()
        }
        return {"brokers": brokers, **{name: self._scale.named(values[name]) for name in ("layout", "policies")}}


def _is_first(step: Taken) -> bool:
    """Whether it is the first attempt of a split."""
    return bool(step.before[f"attempt[{step.arguments['b']}]"] == 0)


def _owed_by_splits(view: View) -> Iterator[str]:
    """What the split of each broker waits for."""
    for b in _live(view):
        again = view[f"attempt[{b}]"] > 0
        what = {
            "preparing": "work" if again and not view.get(f"hung[{b}]") else None,
            "writing": "layout",
            "waiting": "pause",
            "written": "policies",
            RECORDED: "work",
        }.get(view[f"split[{b}]"])
        if what:
            yield f"{b} {what}"
