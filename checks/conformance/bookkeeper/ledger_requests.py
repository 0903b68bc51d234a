"""The names that the ledger's model uses: every action and variable of it that the adapter touches, and nothing else of it.

Whoever renames something in ``model/bookkeeper/ledger/`` renames it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fencepost.checks.conformance.running.view import View
from fencepost.model.nobody import NOBODY

SEND, ADD, ACK, CONFIRM = "send", "add", "ack", "confirm"
REPLACE, PUBLISH_CHANGE, RESEND = "replace", "publish_change", "resend"
CLOSE, FIND_CLOSED, SEND_EXPLICIT_LAC = "close", "find_closed", "send_explicit_lac"
FIND_CLOSED_BY_CHANGE = "find_closed_by_change"
FAIL_TO_SAVE, PASS_OVER = "fail_to_save", "pass_over"
CRASH, RESTART, UNCLEAN_SHUTDOWN, LOSE_DISK = "crash", "restart", "unclean_shutdown", "lose_disk"
ROT, DELETE, COLLECT = "rot", "delete", "collect"
RECOVER, READ_LAC, FENCE_UNHEARD, START_READING = "recover", "read_lac", "fence_unheard", "start_reading"
READ_FOUND, READ_NO_SUCH_ENTRY, READ_UNANSWERED = "read_found", "read_no_such_entry", "read_unanswered"
RECOVERY_ADD, LATE_RECOVERY_ADD = "recovery_add", "late_recovery_add"
RECOVERY_ADD_COMPLETE = "recovery_add_complete"
REPLACE_IN_RECOVERY, CLOSE_RECOVERED, ADOPT_END = "replace_in_recovery", "close_recovered", "adopt_end"
READ_TAIL = "read_tail"
IDLE_CHECKPOINT, TAKE_ENSEMBLE, UNSET = "idle_checkpoint", "take_ensemble", "unset"
EMPTY_CACHE, CHECK_FENCE = "empty_cache", "check_fence"
DELETED_FENCE_IN_MEMORY, KEY_RECORD_AFTER_ENTRY = "deleted_fence_in_memory", "key_record_after_entry"
COOKIE_DELETED_AFTER_WIPE, IDLE_FLUSH_SKIPS_HEADERS = "cookie_deleted_after_wipe", "idle_flush_skips_headers"

VARIABLES = {
    "status": ("status",),
    "version": ("version",),
    "last": ("last",),
    "length": ("length",),
    "published": ("published_fragments", "published_first", "published_ensemble"),
    "up": ("up",),
    "stored": ("stored",),
    "rotten": ("rotten",),
    "fenced": ("fenced",),
    "limbo": ("limbo",),
    "bookie_lac": ("bookie_lac",),
    "explicit_lac": ("explicit_lac",),
    "confirmed": ("confirmed",),
    "writer": ("writer",),
    "writer_lac": ("lac",),
    "writer_ensembles": ("writer_fragments", "writer_first", "writer_ensemble"),
    "recovery_end": ("phase", "recovery_lac"),
    "recovery_ensemble": ("new_fragments", "new_ensemble"),
}
"""The families of variables by what is observed."""

BY_REQUESTS = (
    "sent_to",
    "phase",
    "recovery_lac",
    "coverage",
    "no_such_entry",
    "recovery_acked",
    "writer",
    "for_recovery_ensemble",
)
"""The families that outstanding requests show."""


def number(label: str) -> int:
    """The number of a member by its label: 1 of ``e1``."""
    return int(label.lstrip("abcdefghijklmnopqrstuvwxyz"))


@lru_cache(maxsize=1024)
def entries(labels: frozenset[str]) -> frozenset[int]:
    """Entries by their labels."""
    return frozenset(number(label) for label in labels)


@dataclass(frozen=True)
class Fragment:
    """An ensemble from entry ``first`` on: ``bookies`` by place where entries are striped, otherwise in no order."""

    first: int
    bookies: tuple[str, ...]
    striped: bool

    def write_set(self, entry: int, quorum: int) -> frozenset[str]:
        """The bookies that store the entry."""
        if not self.striped:
            return frozenset(self.bookies)
        return frozenset(self.bookies[(entry + copy) % len(self.bookies)] for copy in range(quorum))


ADDING = "adding"
"""What a recovery does while it stores an entry again."""


@lru_cache(maxsize=64)
def ledger_of(view: View) -> Ledger:
    """The ledger in a state, which everything that is compared asks for."""
    return Ledger(view)


class Ledger:
    """A state of the ledger protocol, read."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.bookies, self.recoverers = view.members("bookie"), view.members("recoverer")
        self._known: dict[tuple[str, ...], list[Fragment]] = {}
        parameters = view.protocol.parameters
        self.write_quorum, self.ack_quorum = int(parameters["write_quorum"]), int(parameters["ack_quorum"])
        self.ensemble_size, self.size = int(parameters["ensemble"]), int(parameters["entries"])

    def up(self, bookie: str) -> bool:
        """Whether the bookie runs."""
        return bool(self.view[f"up[{bookie}]"])

    def fenced(self, bookie: str) -> bool:
        """Whether the ledger is fenced there."""
        return bool(self.view[f"fenced[{bookie}]"])

    def limbo(self, bookie: str) -> bool:
        """Whether the bookie does not know what it holds of the ledger."""
        return bool(self.view[f"limbo[{bookie}]"])

    def lac_told(self, bookie: str) -> int:
        """The last add confirmed that a reader believes of the bookie: not that of a last entry whose digest is wrong."""
        explicit = int(self.view[f"explicit_lac[{bookie}]"])
        return explicit if self.last_is_rotten(bookie) else max(int(self.view[f"bookie_lac[{bookie}]"]), explicit)

    def last_is_rotten(self, bookie: str) -> bool:
        """Whether the digest of the bookie's last entry is wrong."""
        stored, rotten = entries(self.view[f"stored[{bookie}]"]), entries(self.view[f"rotten[{bookie}]"])
        return bool(stored) and max(stored) in rotten

    def sent_to(self, bookie: str) -> frozenset[int]:
        """The entries whose adds the writer has sent to the bookie."""
        return entries(self.view[f"sent_to[{bookie}]"])

    def acked(self, bookie: str) -> frozenset[int]:
        """The entries whose acknowledgement by the bookie counts and has reached the writer."""
        return entries(self.view[f"acked[{bookie}]"])

    def waiting_for(self, bookie: str) -> list[int]:
        """The entries whose adds wait for the bookie, in their order: it is to store them, and they have no ack quorum yet."""
        return [
            entry
            for entry in range(self.lac + 1, self.sent + 1)
            if bookie in self.write_set(self.writers(), entry)
            and entry not in self.acked(bookie)
            and sum(entry in self.acked(other) for other in self.bookies) < self.ack_quorum
        ]

    @property
    def writer(self) -> str:
        """What the writer does: ``writing``, ``changing``, ``changed``, ``closed`` or ``failed``."""
        return str(self.view["writer"])

    @property
    def unset_to(self) -> int:
        """Below which entry the loop after a change of ensemble is through; 0 outside of it."""
        return int(self.view.get("unset_to", 0))

    @property
    def sent(self) -> int:
        """The last entry that the writer has sent."""
        return int(self.view["sent"])

    @property
    def lac(self) -> int:
        """The writer's last add confirmed."""
        return int(self.view["lac"])

    @property
    def status(self) -> str:
        """What the metadata say: ``open``, ``in_recovery``, ``closed`` or ``deleted``."""
        return str(self.view["status"])

    @property
    def last(self) -> int:
        """The last entry of the closed ledger."""
        return int(self.view["last"])

    def phase(self, recoverer: str) -> str:
        """What a recovery does: ``idle``, ``fencing``, ``reading``, ``adding`` or ``done``."""
        return str(self.view[f"phase[{recoverer}]"])

    def next_entry(self, recoverer: str) -> int:
        """The entry that a recovery is at; when it is done, the one after the end."""
        return int(self.view[f"recovery_lac[{recoverer}]"]) + 1

    def covered(self, recoverer: str) -> frozenset[str]:
        """The bookies whose last add confirmed a recovery has heard."""
        return frozenset(self.view[f"coverage[{recoverer}]"])

    def denied(self, recoverer: str) -> frozenset[str]:
        """The bookies that have answered a recovery that they do not have the entry."""
        return frozenset(self.view[f"no_such_entry[{recoverer}]"])

    def added_again(self, recoverer: str) -> frozenset[str]:
        """The bookies that have stored the entry again, as a recovery has heard."""
        return frozenset(self.view[f"recovery_acked[{recoverer}]"])

    def recovery_entries(self, recoverer: str) -> frozenset[int]:
        """The entries that a recovery has found."""
        return entries(self.view[f"found[{recoverer}]"])

    # --- the copies of the ensembles

    def published(self) -> list[Fragment]:
        """The ensembles of the metadata."""
        return self._fragments("published", ())

    def writers(self) -> list[Fragment]:
        """The ensembles as the writer has them."""
        return self._fragments("writer", ())

    def recovered(self, recoverer: str) -> list[Fragment]:
        """The ensembles as a recovery has them, with its own changes."""
        return self._fragments("new", (recoverer,))

    def at_start(self, recoverer: str) -> list[Fragment]:
        """The last ensemble as a recovery found it."""
        return self._fragments("for_recovery", (recoverer,))

    def _fragments(self, name: str, owner: tuple[str, ...]) -> list[Fragment]:
        known = self._known.get((name, *owner))
        return known if known is not None else self._known.setdefault((name, *owner), self._read(name, owner))

    def _read(self, name: str, owner: tuple[str, ...]) -> list[Fragment]:
        def value(family: str, *index: str) -> object:
            full = ", ".join([*owner, *index])
            return self.view[f"{name}_{family}[{full}]" if full else f"{name}_{family}"]

        striped = self.ensemble_size > self.write_quorum
        count = int(str(value("fragments")))
        fragments = []
        for label in (f"f{n}" for n in range(count)):
            if striped:
                placed = {str(value("ensemble", label, b)): b for b in self.bookies}
                members = tuple(placed.get(f"place{n}", NOBODY) for n in range(self.ensemble_size))
            else:
                members = tuple(sorted(value("ensemble", label)))  # type: ignore[call-overload]
            fragments.append(Fragment(int(str(value("first", label))), members, striped))
        return fragments

    def write_set(self, fragments: list[Fragment], entry: int) -> frozenset[str]:
        """The bookies that store an entry by these ensembles; nobody if there are none."""
        covering = [f for place, f in enumerate(fragments) if place == 0 or f.first <= entry]
        return covering[-1].write_set(entry, self.write_quorum) if covering else frozenset()
