"""Where the model of ownership allows more than Pulsar does, and where the two are known to differ, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.running.adapter import Allowance, Deviation, Difference, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action
from fencepost.model.nobody import NOBODY


def _place(action: Action) -> str:
    return ", ".join(action.arguments.values())


def _answers_without_reading(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "read_owner":
        return False
    place = _place(action)
    knows_of_none = view[f"lock[{place}]"] == "none" or view[f"bundle_state[{place}]"] == "given_up"
    return not knows_of_none or bool(view[f"cached[{place}]"] != NOBODY)


def _has_two_locks(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "try_to_own" and bool(view[f"bundle_state[{_place(action)}]"] == "given_up")


def _is_unloaded(action: Action, view: View, seen: Seen) -> bool:
    return (action.name, view.get(f"bundle_state[{_place(action)}]")) == ("start_release", "inactive")


def _is_not_written(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "disable" and bool(view.get(f"unattended[{_place(action)}]"))


def _is_about_to_be_valid(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "recreate_behind_release" and view[f"lock[{_place(action)}]"] == "releasing"


def _overtakes_a_creation(action: Action, view: View, seen: Seen) -> bool:
    """A release begins while a revalidation creates the node, now or as soon as topics are closed."""
    if action.name in ("start_release", "start_unload", "release_disabled"):
        return bool(view[f"lock[{_place(action)}]"] == "recreating")
    return action.name == "find_missing" and view.get(f"unloading[{_place(action)}]", "none") != "none"


def _overtakes_a_read_of_a_disabled_one(action: Action, view: View, seen: Seen) -> bool:
    return action.name == "release_disabled" and view[f"lock[{_place(action)}]"] == "checking"


def _finds_its_own_disabled_node(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "try_to_own":
        return False
    broker, bundle = action.arguments["b"], action.arguments["u"]
    own = view[f"owner_holder[{bundle}]"] == broker and not view[f"owner_former[{bundle}]"]
    return own and bool(view.get(f"owner_disabled[{bundle}]"))


def _hears_of_several(action: Action, view: View, seen: Seen) -> bool:
    if action.name != "hear_of_deletion":
        return False
    bundle, broker = action.arguments["u"], action.arguments["b"]
    seen_of = seen.values["brokers"][broker]["bundles"].get(bundle, {"deletions": 0, "state": "none"})
    return bool(seen_of["deletions"] > 1 and seen_of["state"] == "Valid")


LOCK_ALLOWANCES: tuple[Allowance, ...] = (
    Allowance(
        "valid while it is released",
        "the creation of a read that a release overtook sets the lock's state to Valid until the release is answered; in the "
        "model it stays Releasing. It is tried once the release is over",
        _is_about_to_be_valid,
    ),
    Allowance(
        "N2",
        "a creation that a release overtook stays out, and the release deletes whatever node is there; the model drops it",
        _overtakes_a_creation,
    ),
    Allowance(
        "several deletions",
        "the code looks after the lock once for each deletion that it hears of; in the model several are one",
        _hears_of_several,
    ),
)
"""What is known of locks to be otherwise in the code: random runs keep out of it, and a run that is followed ends there at its
name."""

ALLOWANCES: tuple[Allowance, ...] = (
    *LOCK_ALLOWANCES,
    Allowance(
        "disabled behind its release",
        "what a read of a disabled bundle creates behind its release is disabled; in the model it is not",
        _overtakes_a_read_of_a_disabled_one,
    ),
    Allowance(
        "a lookup that reads where it need not",
        "a broker that is acquiring the bundle, or that knows of an owner, answers without a read; it knows more if it reads",
        _answers_without_reading,
    ),
    Allowance(
        "a lookup that finds the broker's own disabled node",
        "OwnershipCache.getOwnerAsync acquires a bundle whose node is the broker's own, unless that is disabled: then the "
        "lookup is answered with it; in the model the broker acquires it again. Nothing in a broker disables a bundle",
        _finds_its_own_disabled_node,
    ),
    Allowance(
        "a lookup of what was given up",
        "the broker then has two locks on the node until it has acquired the bundle again; in the model the first is of no "
        "account from then on. A test takes the step",
        _has_two_locks,
    ),
    Allowance(
        "an unload of what is unloaded",
        "OwnedBundle.handleUnloadRequest refuses it; the release that it would begin is begun once",
        _is_unloaded,
    ),
    Allowance(
        "the disabling of a lock that was found",
        "ResourceLockImpl.updateValue refuses it, for the state is Init; nothing in a broker disables a bundle",
        _is_not_written,
    ),
)


def _finds_own(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """An acquisition has found its own node: the lock is there, and its state still Init."""
    acquired = step.action.name == "find_own" and step.before[f"bundle_state[{_place(step.action)}]"] == "absent"
    return acquired and [(d.what, d.model, d.code) for d in differences] == [(f"state[{_place(step.action)}]", "Valid", "Init")]


def _overtakes(step: Taken, differences: Sequence[Difference], stage: str, request: str) -> bool:
    """Releases begin while requests of revalidations are out, which stay out."""
    return bool(differences) and all(_is_overtaken(step, difference, stage, request) for difference in differences)


def _is_overtaken(step: Taken, difference: Difference, stage: str, request: str) -> bool:
    _, *about = difference.what.split(" ")
    if difference.kind != "stray" or about[-1] != request or len(about) != 3:
        return False
    lock = f"lock[{', '.join(about[:2])}]"
    return (step.before[lock], step.after[lock]) == (stage, "releasing")


def _is_valid_again(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """What a release overtook has created the node before that is deleted: the state is Valid, with the version of the new node
    and perhaps the value of a disabled bundle, and the release goes on."""
    place = _place(step.action)
    seen = {(d.what, d.model, d.code) for d in differences}
    valid = (f"state[{place}]", "Releasing", "Valid")
    of_a_disabled_one = {
        (f"owner_disabled[{step.arguments.get('u')}]", False, True),
        (f"version[{place}]", step.after.get(f"lock_version[{place}]"), 0),
    }
    return step.action.name == "recreate_behind_release" and valid in seen and seen <= {valid, *of_a_disabled_one}


def _keeps_its_mark(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """What a release overtook creates the node with the value that the lock had before: disabled."""
    about = f"owner_disabled[{step.arguments.get('u')}]"
    seen = [(d.what, d.model, d.code) for d in differences]
    return step.action.name == "recreate_behind_release" and seen == [(about, False, True)]


def _waits_for_another(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A session event is not acted on while what an earlier one began is under way."""
    session_event = step.action.name in ("reestablish", "resume", "reconnect")
    return session_event and bool(differences) and all(_is_missing_read(step, difference) for difference in differences)


def _is_missing_read(step: Taken, difference: Difference) -> bool:
    broker = next(iter(step.arguments.values()))
    of_broker = difference.what.startswith(f"request {broker} ")
    return difference.kind == "missing" and of_broker and difference.what.endswith((" read", " another-read"))


def _looks_once_more(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A revalidation is over, and the lock is looked after at once again, even behind its release; or what was to be looked
    after later still is, when a release begins."""
    place, lock = _place(step.action), f"lock[{_place(step.action)}]"
    if lock not in step.before or len(differences) != 1:
        return False
    (difference,) = differences
    was, now = step.before[lock], step.after[lock]
    if (was in REVALIDATING and now == "valid") or step.action.name == "recreate_behind_release":
        return (difference.kind, difference.what) == ("stray", f"request {place.replace(',', '')} read")
    still = (difference.what, difference.model, difference.code) == (f"revalidate_when_back[{place}]", False, True)
    return now == "releasing" and bool(step.before[f"revalidate_when_back[{place}]"]) and still


def _has_forgotten_its_version(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """ResourceLockImpl.revalidate sets the version to -1 before it creates the node, which is refused during a migration."""
    if step.action.name != "find_missing" or not step.before.get(f"read_only[{step.arguments['b']}]", False):
        return False
    return [(each.what, each.code) for each in differences] == [(f"version[{_place(step.action)}]", -1)]


def _is_released_at_once(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """An acquisition is over, and the release that waited for it begins."""
    place = _place(step.action)
    about = place.replace(",", "")
    acquired = step.before.get(f"bundle_state[{place}]") == "absent" and step.after.get(f"bundle_state[{place}]") == "active"
    seen = {(d.kind, d.what, d.model, d.code) for d in differences}
    releasing = {
        ("value", f"state[{place}]", "Valid", "Releasing"),
        ("value", f"state[{place}]", "Init", "Releasing"),
        ("stray", f"request {about} release", "not expected", "outstanding"),
    }
    return acquired and bool(seen) and seen <= releasing and any(kind == "stray" for kind, *_ in seen)


REVALIDATING = ("checking", "recreating", "retaking")
"""The stages of a lock that is looked after."""

DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "found_lock_unattended",
        "a lock that is acquired by finding its own node stays in the state Init, and is never revalidated",
        _finds_own,
    ),
    Deviation(
        "recreated_behind_release",
        "the read of a revalidation is still outstanding when its lock is released, and may create the node again",
        lambda step, differences, why: _overtakes(step, differences, "checking", "read"),
    ),
    Deviation(
        "N2",
        "the creation of a revalidation is still outstanding when its lock is released; it deletes whatever node is there",
        lambda step, differences, why: _overtakes(step, differences, "recreating", "create"),
    ),
    Deviation(
        "valid while it is released",
        "a read that a release overtook sets the lock's state to Valid before the release is answered",
        _is_valid_again,
    ),
    Deviation(
        "disabled behind its release",
        "a read that a release overtook creates the node with the value that the lock had: disabled, if the bundle was",
        _keeps_its_mark,
    ),
    Deviation(
        "one event at a time",
        "LockManagerImpl acts on a session event when all revalidations of the one before it are over",
        _waits_for_another,
    ),
    Deviation(
        "several deletions",
        "a lock is looked after for each notification of a deletion; in the model those that a broker has not heard of are one",
        _looks_once_more,
    ),
    Deviation(
        "release behind an acquisition",
        "since 5.0.1 OwnershipCache does one thing after the other with a bundle (serialize): the release with which a split "
        "ends waits for an acquisition of the parent that is under way. Earlier, and in the model, what is acquired by then is "
        "released",
        _is_released_at_once,
    ),
    Deviation(
        "version forgotten",
        "a lock whose node is missing forgets its version, also if the migration then refuses the creation",
        _has_forgotten_its_version,
    ),
)
"""Each is described in docs/how-to/hold-it-against-the-code.md."""
