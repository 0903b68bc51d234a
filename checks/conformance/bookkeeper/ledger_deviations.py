"""Where the ledger's model and BookKeeper are known to differ, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.conformance.bookkeeper import ledger_requests
from fencepost.checks.conformance.bookkeeper.ledger_requests import Fragment, Ledger, ledger_of, number
from fencepost.checks.conformance.bookkeeper.owed_requests import denials_needed
from fencepost.checks.conformance.running.adapter import Allowance, Deviation, Difference, Seen, Taken
from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action

# --- steps that the model allows and the code does not take


def _nothing_waits(action: Action, view: View, _: Seen) -> bool:
    if action.name != ledger_requests.REPLACE:
        return False
    return not ledger_of(view).waiting_for(action.arguments["o"])


def _answered_before(action: Action, view: View, seen: Seen) -> bool:
    """The acknowledgement is of an add from before the bookie left; what it was sent since has not arrived, or it is back by a
    change that is not in force yet, and is sent it then. The code leaves it alone if another bookie is now in that place of the
    ensemble (``PendingAddOp.writeComplete``)."""
    if action.name != ledger_requests.ACK:
        return False
    if action.arguments["b"] not in seen.values["clients"]["writer"].get("current", [action.arguments["b"]]):
        return True
    wanted = ["writer", "add", action.arguments["b"], number(action.arguments["e"])]
    like = [request[4:] for request in seen.values["requests"] if request[:4] == wanted]
    if not like:
        return False
    delivered, answered = like[-1]
    return answered or not delivered


def _not_sent_there(action: Action, view: View, seen: Seen) -> bool:
    if action.name != ledger_requests.LATE_RECOVERY_ADD:
        return False
    ledger, recoverer, bookie = ledger_of(view), action.arguments["r"], action.arguments["b"]
    entry = number(action.arguments["e"])
    wanted = [recoverer, "recovery-add", bookie, entry]
    sent = any(request[:4] == wanted for request in seen.values["requests"])
    return not sent and bookie not in ledger.write_set(ledger.recovered(recoverer), entry)


def _asked_twice(action: Action, view: View, _: Seen) -> bool:
    return action.name == ledger_requests.READ_FOUND and action.arguments["b"] in ledger_of(view).denied(action.arguments["r"])


def _out_of_hearing(action: Action, view: View, _: Seen) -> bool:
    """No reader hears of the entry: of the bookies that one asks too few answer, or none of those that do knows of it. There
    are two: one has had the ledger open since the run began, one opens it now, and asks nobody if it is closed."""
    ledger = ledger_of(view)
    if action.name != ledger_requests.READ_TAIL:
        return False
    entry, closed = number(action.arguments["e"]), ledger.status == "closed"
    if closed and entry <= ledger.last:
        return False
    at_first = Fragment(0, ledger.bookies[: ledger.ensemble_size], ledger.ensemble_size > ledger.write_quorum)
    return not any(_is_heard(ledger, asked, entry) for asked in [at_first] + ([] if closed else ledger.published()[-1:]))


def _is_heard(ledger: Ledger, fragment: Fragment, entry: int) -> bool:
    answering = {b for b in fragment.bookies if ledger.up(b) and not ledger.limbo(b)}
    write_sets = [fragment.write_set(e, ledger.write_quorum) for e in range(len(fragment.bookies))]
    covered = all(len(each - answering) < ledger.ack_quorum for each in write_sets)
    return covered and any(ledger.lac_told(b) >= entry for b in answering)


def _nobody_denies(action: Action, view: View, _: Seen) -> bool:
    """The code asks for one entry more than the instance has; too few bookies that are fenced anyway are there to deny it."""
    if action.name not in (ledger_requests.CLOSE_RECOVERED, ledger_requests.ADOPT_END):
        return False
    ledger, recoverer = ledger_of(view), action.arguments["r"]
    if ledger.next_entry(recoverer) != ledger.size:
        return False
    asked = ledger.write_set(ledger.at_start(recoverer), ledger.size)
    return sum(ledger.up(b) and ledger.fenced(b) and not ledger.limbo(b) for b in asked) < denials_needed(ledger)


ALLOWANCES: tuple[Allowance, ...] = (
    Allowance(
        "replaces a bookie that no add waits for",
        "a change of ensemble without need is one more run; the code's changes are among the model's",
        _nothing_waits,
    ),
    Allowance(
        "acknowledged before it left",
        "a bookie that is back has the entry; the code waits for the add that it was sent since",
        _answered_before,
    ),
    Allowance(
        "writes back late to the ensemble of the start",
        "a copy more than the code makes, at a bookie where the ensembles do not look for it",
        _not_sent_there,
    ),
    Allowance(
        "asks a bookie again that has denied the entry",
        "the entry came there after the denial, by another recovery, which keeps it in any case",
        _asked_twice,
    ),
    Allowance(
        "hears of an entry from one bookie, whichever it is",
        "the code's reader wants to hear enough bookies; the model's knows no less, and must be right all the same",
        _out_of_hearing,
    ),
    Allowance(
        "ends without asking past the last entry",
        "the instance has no entry more, so whoever is asked denies it",
        _nobody_denies,
    ),
)


# --- differences after a step


def _only(names: Sequence[str], differences: Sequence[Difference]) -> bool:
    return bool(differences) and all(d.what.partition("[")[0] in names for d in differences)


def _confirmed_later(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    return step.action.name == ledger_requests.RESEND and _only(("confirmed", "writer_lac"), differences)


def _other_lac(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    return _only(("bookie_lac",), differences)


def _deleted(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """The bookie refuses what it should not, as of a ledger that was fenced: the words are those of BKException for that."""
    before, texts = ledger_of(step.before), [why, *(str(difference.code) for difference in differences)]
    refused = any(sentence in text for text in texts for sentence in ("wrong password", "fenced off"))
    never_fenced = step.action.name == ledger_requests.COLLECT and not before.fenced(step.arguments["b"])
    told_alone = step.action.name == ledger_requests.SEND_EXPLICIT_LAC and why.endswith("No such ledger exists on Bookies")
    return before.status == "deleted" and (refused or told_alone or (never_fenced and _only(("fenced",), differences)))


def _still_in_memory(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    return step.action.name == ledger_requests.COLLECT and _only(("stored", "rotten", "bookie_lac", "fenced"), differences)


def _not_saved_yet(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    added = step.action.name in (ledger_requests.RECOVERY_ADD, ledger_requests.RECOVERY_ADD_COMPLETE)
    return added and _only(("rotten",), differences) and all(not d.model for d in differences)


def _unknown_when_fenced(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """A bookie is back from a kill, and has forgotten the fence, or an explicit last add confirmed: it heard of that when it
    held nothing of the ledger."""
    if step.action.name != ledger_requests.RESTART or not _only(("fenced", "explicit_lac"), differences):
        return False
    return all((d.code is False or d.code == -1) and d.model != d.code for d in differences)  # an entry may be 0


def _other_length(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    return step.action.name == ledger_requests.CLOSE_RECOVERED and _only(("length",), differences)


def _good_again(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    return step.action.name == ledger_requests.LATE_RECOVERY_ADD and _only(("rotten",), differences)


def _rotten_lac(step: Taken, differences: Sequence[Difference], why: str) -> bool:
    """One of the answers that the recovery has heard carries a last entry whose digest does not match."""
    if step.action.name != ledger_requests.READ_LAC:
        return False
    before, recoverer = ledger_of(step.before), step.arguments["r"]
    heard = before.covered(recoverer) | {step.arguments["b"]}
    return any(before.last_is_rotten(bookie) for bookie in heard)


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation(
        "L6",
        "the code keeps the fence of a deleted ledger in memory, and with it that of any ledger whose handle was loaded",
        _deleted,
    ),
    Deviation(
        "L9",
        "the code ignores a last add confirmed whose digest does not match; the model does not",
        _rotten_lac,
    ),
    Deviation(
        "L12",
        "a fence that a bookie sets before it holds anything of the ledger does not survive a kill of the bookie; so it is "
        "with an explicit last add confirmed",
        _unknown_when_fenced,
    ),
    Deviation(
        "L13",
        "a recovery closes with a length that is not that of the entries; the writer then takes its own end for another",
        _other_length,
    ),
    Deviation(
        "L14",
        "a bookie's last add confirmed is that of the last entry in its write cache, if it has one; in the model that of the "
        "last entry of all",
        _other_lac,
    ),
    Deviation(
        "L15",
        "an add that is complete when a change of ensemble ends is confirmed only at the next answer",
        _confirmed_later,
    ),
    Deviation(
        "written back over rot",
        "an entry that is written back late over a rotten copy is good again; in the model it is not",
        _good_again,
    ),
)
"""Those with a number are described in docs/how-to/hold-it-against-the-code.md."""

OF_SORTED: tuple[Deviation, ...] = (
    Deviation(
        "collected later from memory",
        "entries of a deleted ledger that SortedLedgerStorage has not saved remain until they are saved; the fence does not",
        _still_in_memory,
    ),
    Deviation(
        "good again when it is saved",
        "SortedLedgerStorage reads what it has saved first: an entry that is written over a rotten copy is good only then",
        _not_saved_yet,
    ),
)
"""Of SortedLedgerStorage alone (``deleteLedger``, ``getEntry``)."""
