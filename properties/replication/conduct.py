"""How auditor, workers, commands, collectors and refills must conduct themselves, whatever comes of it."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of, at_least, how_many
from fencepost.model.nobody import NOBODY
from fencepost.properties.replication.variables import ReplicationVariables, Terms
from fencepost.properties.vocabulary import Suite


def replication_conduct(suite: Suite, t: Terms) -> None:
    """Adds the rules of conduct."""
    _tasks(suite, t)
    _work(suite, t)
    _copies(suite, t)
    _bookies(suite, t)


def _tasks(suite: Suite, t: Terms) -> None:
    """Who publishes a ledger, and who takes it."""
    s, n = ReplicationVariables.of(t.p)
    bookie = t.bookie

    @suite.step
    def tasks_are_marked_for_a_reason() -> Condition:
        """A task is created, or lists one more bookie, for a member that is away or lacks something; and a mark is news."""
        audited = {b: And(n.audited[b], Not(s.audited[b])) for b in bookie}
        listed = {b: And(n.missing.has(b), Not(s.missing.has(b))) for b in bookie}
        lacks = {b: And(t.named(s, b), Or(Not(t.is_fit(s, b)), Not(t.holds_all(s, b)))) for b in bookie}
        news = Or(Not(s.task), n.task_version > s.task_version)
        elected = n.elections > s.elections
        published = {b: Implies(t.named(s, b), And(n.missing.has(b), news)) for b in bookie}
        return And(
            *(Implies(listed[b], And(lacks[b], n.task, news)) for b in bookie),
            *(Implies(And(audited[b], Not(elected)), And(Not(t.registered(s, b)), published[b])) for b in bookie),
            Implies(And(n.task, Not(s.task)), any_of(listed.values())),
        )

    @suite.step
    def tasks_are_deleted_by_their_version() -> Condition:
        """A task goes when a worker with the lock, which has found the ledger whole, deletes it in the version that it saw."""
        by = [
            And(s.phase[w] == "clean", n.phase[w] == "idle", s.lock == f"w{w}", s.seen[w] == s.task_version) for w in t.locking
        ]
        goes = And(s.task, Not(n.task))
        return And(Implies(goes, And(Or(*by), n.missing.is_empty, n.task_version == 0)), Implies(Or(*by), Not(n.task)))

    @suite.step
    def tasks_are_taken_with_the_lock() -> Condition:
        """A worker begins with a task that is there, and with its lock, which was free; and with the version of the task."""

        def follows(w: int) -> Condition:
            begins = And(s.phase[w] == "idle", n.phase[w] != "idle")
            enabled = True if t.p.parameters["disable"] == "no" else s.switch != "disabled"
            took = And(s.task, s.lock == NOBODY, n.lock == f"w{w}", n.seen[w] == s.task_version, Not(s.zombie[w]), enabled)
            return And(Implies(begins, took), Implies(And(n.lock == f"w{w}", s.lock != f"w{w}"), begins))

        return all_of(follows(w) for w in t.locking)

    if t.p.parameters["disable"] != "no" and len(t.locking) < len(t.worker):

        @suite.step
        def commands_wait_for_the_switch() -> Condition:
            """The command begins once auto-recovery is disabled, and with ``wait`` once no task is under way."""
            idle = all_of(s.phase[w] == "idle" for w in t.locking)
            ready = And(s.switch == "disabled", idle if t.p.parameters["disable"] == "wait" else True)
            commands = [w for w in t.worker if w not in t.locking]
            return all_of(Implies(And(s.phase[w] == "idle", n.phase[w] != "idle"), ready) for w in commands)

        @suite.step
        def the_switch_is_heeded() -> Condition:
            """While auto-recovery is disabled nothing is audited, and it stays so until the commands have ended."""
            off = s.switch == "disabled"
            ended = all_of(s.phase[w].among("idle", "stopped") for w in t.worker if w not in t.locking)
            audited = any_of(And(n.audited[b], Not(s.audited[b])) for b in bookie)
            heeds = Implies(And(off, n.elections == s.elections), Not(audited))
            return And(heeds, Implies(And(off, n.switch != "disabled"), ended))

    settings = t.p.parameters
    if not any(settings[name] for name in ("daily", "opened", "integrity", "emptied", "gaps", "rots", "elections", "cuts")):

        @suite.step
        def audits_are_remembered() -> Condition:
            """A newly listed bookie has been audited, and a version is raised only where a member is away."""
            listed = {b: And(n.missing.has(b), Not(s.missing.has(b))) for b in bookie}
            away = any_of(And(t.named(s, b), Not(t.registered(s, b))) for b in bookie)
            return And(
                *(Implies(listed[b], n.audited[b]) for b in bookie),
                Implies(And(s.task, n.task, n.task_version != s.task_version), away),
            )

    if settings["failed_audits"]:

        @suite.step
        def failed_audits_are_repeated() -> Condition:
            """An audit that fails was of a lost bookie, or is a first check; what it was to find is still to be found."""
            lost = any_of(And(Not(t.registered(s, b)), Not(s.audited[b])) for b in bookie)
            checks = And(s.starting, Not(n.starting)) if settings["elections"] else False
            same = all_of(n.audited[b] == s.audited[b] for b in bookie)
            return Implies(n.failed_audits > s.failed_audits, And(same, Or(lost, checks)))

    if settings["elections"]:

        @suite.step
        def auditors_begin_with_a_check() -> Condition:
            """A new auditor is to check all bookies, and knows those that are away; a check publishes what they had."""
            elected, checked = n.elections > s.elections, And(s.starting, Not(n.starting), n.failed_audits == s.failed_audits)
            unlisted = any_of(And(t.named(s, b), Not(t.registered(s, b)), Not(And(n.task, n.missing.has(b)))) for b in bookie)
            known = And(n.starting, *(Not(n.audited[b]) for b in bookie))
            begins = Implies(And(n.starting, Not(s.starting)), elected)
            return And(Implies(elected, known), Implies(checked, Not(unlisted)), begins)

    if t.p.parameters["decommissions"]:

        @suite.step
        def members_that_are_away_are_decommissioned() -> Condition:
            """A bookie is decommissioned while it is away and named, has an audit begun, and until it is named no more."""
            begins = {b: And(n.decommissions_wait.has(b), Not(s.decommissions_wait.has(b))) for b in bookie}
            ends = {b: And(s.decommissions_wait.has(b), Not(n.decommissions_wait.has(b))) for b in bookie}
            named = {b: t.named(s, b) for b in bookie}
            begun = {b: And(named[b], Not(s.up[b]), Not(n.audited[b])) for b in bookie}
            return all_of(And(Implies(begins[b], begun[b]), Implies(ends[b], Not(named[b]))) for b in bookie)

    @suite.step
    def locks_go_with_the_work() -> Condition:
        """A worker that ends its work, or whose session expires, has no lock any more."""
        return all_of(
            Implies(Or(And(s.phase[w] != "idle", n.phase[w] == "idle"), And(n.zombie[w], Not(s.zombie[w]))), n.lock != f"w{w}")
            for w in t.locking
        )


def _work(suite: Suite, t: Terms) -> None:
    """How a worker goes on."""
    s, n = ReplicationVariables.of(t.p)
    p, bookie, place = t.p, t.bookie, t.place

    @suite.step
    def work_goes_forward() -> Condition:
        """A worker checks, replaces, checks again, and deletes the task or gives it up; or waits and recovers."""

        def follows(w: int) -> Condition:
            before, after = s.phase[w], n.phase[w]
            whole = t.is_whole()
            return Or(
                after == before,
                And(before == "idle", after == "checking"),
                And(before == "checking", after == "choosing", Not(whole), s.status == "closed"),
                And(before == "checking", after == "grace", Not(whole), s.status == "open"),
                And(before.among("checking", "checking_again"), after == "clean", whole),
                And(before == "choosing", after == "checking_again"),
                And(before == "checking_again", after == "failed", Not(whole)),
                And(before.among("clean", "failed", "grace"), after == "idle"),
                And(s.zombie[w], Not(n.zombie[w]), after == "idle"),
            )

        return all_of(follows(w) for w in t.locking)

    @suite.step
    def what_is_bad_is_replaced() -> Condition:
        """Who begins to replace sees the ensemble as it is, and replaces the members that are bad; the command its bookie."""

        def follows(w: int) -> Condition:
            begins = And(s.phase[w] != "choosing", n.phase[w] == "choosing")
            bad = {b: And(t.named(s, b), Or(Not(t.is_fit(s, b)), Not(t.holds_all(s, b)))) for b in bookie}
            seen = [n.excluded[w].has(b) == t.named(s, b) for b in bookie]
            own = [n.bad[w].has(b) == bad[b] for b in bookie]
            named = [Implies(n.bad[w].has(b), t.named(s, b)) for b in bookie]
            one = how_many(*(n.bad[w].has(b) for b in bookie)) == 1
            return Implies(begins, And(*seen, *(own if w in t.locking else [*named, one])))

        return all_of(follows(w) for w in t.worker)

    @suite.step
    def targets_are_chosen_among_others() -> Condition:
        """A bookie is chosen once for each that is bad: one that is up, and was not in the ensemble at the check."""

        def follows(w: int, o: int, x: int) -> Condition:
            chosen = And(s.moves[w, o] != x, n.moves[w, o] == x)
            fits = And(
                s.phase[w] == "choosing",
                s.bad[w].has(o),
                t.registered(s, x),
                Not(s.excluded[w].has(x)),
                Not(t.is_target(s, w, x)),
            )
            return Implies(chosen, fits)

        return all_of(follows(w, o, x) for w in t.worker for o in bookie for x in bookie)

    @suite.step
    def ensembles_change_as_chosen() -> Condition:
        """Each place changes from one that is bad to who was chosen for it, once everything is copied, and all at once."""

        def is_by(w: int) -> Condition:
            ends = And(s.phase[w] == "choosing", n.phase[w] != "choosing", (s.confirmed & ~s.copied[w]).is_empty)
            chosen = {(o, x): s.moves[w, o] == x for o in bookie for x in bookie if o != x}
            moved = [Implies(And(s.member[i] == o, n.member[i] == x), chosen[o, x]) for i in place for o, x in chosen]
            stays = [Implies(And(s.member[i] == o, s.bad[w].has(o)), n.member[i] != o) for i in place for o in bookie]
            return And(ends, *moved, *stays)

        changes = any_of(s.member[i] != n.member[i] for i in place)
        return Implies(changes, any_of(is_by(w) for w in t.worker))

    @suite.step
    def failures_have_a_reason() -> Condition:
        """Who gives a replacement up lacks a bookie, an answer or an entry, or finds the new bookie in the ensemble."""

        def follows(w: int) -> Condition:
            ends = And(s.phase[w] == "choosing", n.phase[w].among("checking_again", "stopped"))
            same = all_of(s.member[i] == n.member[i] for i in place)
            chosen = all_of(Implies(s.bad[w].has(o), s.moves[w, o] != "none") for o in bookie)
            still = any_of(And(t.named(s, o), s.bad[w].has(o)) for o in bookie)
            has_its_copies = {b: all_of(Implies(s.copied[w].has(e), t.has_good(s, b, e)) for e in t.entry) for b in bookie}
            unfit = any_of(
                And(t.is_target(s, w, b), Or(Not(t.is_fit(s, b)), t.named(s, b), Not(has_its_copies[b]))) for b in bookie
            )
            free = any_of(And(t.registered(s, b), Not(s.excluded[w].has(b)), Not(t.is_target(s, w, b))) for b in bookie)
            lost = any_of(And(s.confirmed.has(e), Not(s.copied[w].has(e)), Not(t.readable(s, e))) for e in t.entry)
            return Implies(And(ends, same, still), Or(unfit, lost, And(Not(chosen), Not(free))))

        return all_of(follows(w) for w in t.worker)

    @suite.step
    def work_is_forgotten_at_its_end() -> Condition:
        """What a worker knew of a fragment ends with the replacement; nothing else forgets it."""

        def follows(w: int) -> Condition:
            nobody = all_of(n.moves[w, o] == "none" for o in bookie)
            blank = And(n.bad[w].is_empty, n.excluded[w].is_empty, n.copied[w].is_empty, nobody)
            stays = And(
                n.bad[w] == s.bad[w],
                n.excluded[w] == s.excluded[w],
                (s.copied[w] & ~n.copied[w]).is_empty,
                *(Or(s.moves[w, o] == "none", n.moves[w, o] == s.moves[w, o]) for o in bookie),
            )
            goes_on = And(s.phase[w] == "choosing", n.phase[w] == "choosing")
            version = Implies(n.phase[w] == "idle", n.seen[w] == 0)
            return And(Implies(n.phase[w] != "choosing", blank), Implies(goes_on, stays), version)

        return all_of(follows(w) for w in t.worker)

    if p.parameters["opened"]:

        @suite.step
        def open_ledgers_are_closed_by_recoveries() -> Condition:
            """A worker closes an open ledger after the grace period if it is still not whole and every entry can be read."""
            readable = all_of(Implies(s.confirmed.has(e), t.readable(s, e)) for e in t.entry)
            waited = {w: And(s.phase[w] == "grace", n.phase[w] == "idle", s.zombie[w] == n.zombie[w]) for w in t.locking}
            due = And(Not(t.is_whole()), readable)
            return all_of(Implies(And(waited[w], s.status == "open"), (n.status == "closed") == due) for w in t.locking)


def _copies(suite: Suite, t: Terms) -> None:
    """Where copies come from, and where they go."""
    s, n = ReplicationVariables.of(t.p)
    bookie, entry, worker = t.bookie, t.entry, t.worker
    settings = t.p.parameters

    @suite.step
    def copies_come_from_readable_entries() -> Condition:
        """What is copied was readable, and every new bookie has it."""

        def follows(w: int, e: int) -> Condition:
            copied = And(n.copied[w].has(e), Not(s.copied[w].has(e)))
            there = all_of(Implies(t.is_target(s, w, b), And(t.reached(s, b), t.has_good(n, b, e))) for b in bookie)
            chosen = all_of(Implies(s.bad[w].has(o), s.moves[w, o] != "none") for o in bookie)
            return Implies(copied, And(s.confirmed.has(e), t.readable(s, e), there, chosen))

        return all_of(follows(w, e) for w in worker for e in entry)

    @suite.step
    def copies_come_for_a_reason() -> Condition:
        """A bookie gets an entry from the writer, as a new member, or as one that gets its entries back."""

        def follows(b: int, e: int) -> Condition:
            gets = And(n.stored[b].has(e), Not(s.stored[b].has(e)))
            added = And(n.confirmed.has(e), Not(s.confirmed.has(e)), t.named(s, b), t.reached(s, b))
            target = any_of(And(t.is_target(s, w, b), n.copied[w].has(e), Not(s.copied[w].has(e))) for w in worker)
            ready = And(s.needs_check[b], Not(s.limbo[b]), s.up[b], t.named(s, b)) if settings["integrity"] else False
            back = And(ready, t.readable(s, e))
            return Implies(gets, Or(added, target, back))

        return all_of(follows(b, e) for b in bookie for e in entry)

    @suite.step
    def copies_go_for_a_reason() -> Condition:
        """A bookie loses an entry by a fault, or to its collector, under the lock, if the metadata do not name it."""

        def follows(b: int, e: int) -> Condition:
            loses = And(s.stored[b].has(e), Not(n.stored[b].has(e)))
            copied = any_of(t.is_target(s, w, b) for w in worker)
            surplus = And(Not(t.named(s, b)), s.status == "closed", s.up[b], Not(copied))
            collected = And(s.lock == f"gc{b}", surplus) if settings["collects"] else False
            return Implies(And(loses, t.unharmed()), collected)

        return all_of(follows(b, e) for b in bookie for e in entry)

    if settings["opened"]:

        @suite.step
        def writes_reach_the_members() -> Condition:
            """What the writer adds, every member that is up gets, an ack quorum at least, and none of them is in limbo."""
            takes = {b: And(t.named(s, b), t.reached(s, b)) for b in bookie}
            limbo = any_of(And(takes[b], s.limbo[b]) for b in bookie) if settings["integrity"] else False
            enough = And(at_least(settings["ack_quorum"], takes.values()), Not(limbo))
            adds = [And(n.confirmed.has(e), Not(s.confirmed.has(e))) for e in entry]
            there = [all_of(Implies(takes[b], t.has_good(n, b, e)) for b in bookie) for e in entry]
            return all_of(Implies(add, And(enough, x)) for add, x in zip(adds, there, strict=True))

    if settings["rots"]:

        @suite.step
        def rotten_copies_do_not_spread() -> Condition:
            """A copy is rotten by a fault alone."""
            return all_of(
                Implies(And(n.rotten[b].has(e), Not(s.rotten[b].has(e))), And(n.rots > s.rots, s.stored[b].has(e)))
                for b in bookie
                for e in entry
            )


def _bookies(suite: Suite, t: Terms) -> None:
    """What faults do to bookies, and how bookies come back."""
    s, n = ReplicationVariables.of(t.p)
    bookie = t.bookie
    emptied = t.p.parameters["emptied"]

    if not t.has_spare:

        @suite.step
        def nobody_takes_their_place() -> Condition:
            """Where the cluster has no bookie but the members, they stay; one that is back without its disk lacks all of it."""
            stay = [s.member[i] == n.member[i] for i in t.place]
            filled = any(t.p.parameters[way] for way in ("integrity", "opened"))
            lack = [Implies(Not(s.stored[b].has(e)), Not(n.stored[b].has(e))) for b in bookie for e in t.entry]
            return And(*stay, *([] if filled else lack))

    if emptied or t.p.parameters["integrity"]:

        @suite.step
        def lost_disks_come_back_empty() -> Condition:
            """A bookie is up again with the disk that it had, or with an empty one."""
            back = {b: And(Not(s.up[b]), n.up[b]) for b in bookie}
            empty = {b: Implies(s.gone[b], n.stored[b].is_empty) for b in bookie}
            return all_of(Implies(back[b], And(Not(n.gone[b]), empty[b])) for b in bookie)

    if t.p.parameters["cuts"]:

        @suite.step
        def cuts_are_of_bookies_that_run() -> Condition:
            """A bookie that is up is cut off once at a time; a process that ends is cut off from nothing."""

            def follows(b: int) -> Condition:
                begins = And(s.cut[b] != n.cut[b], n.cut[b] != "no")
                other = [And(n.cut[x] == s.cut[x], n.up[x] == s.up[x]) for x in bookie if x != b]
                begun = And(s.cut[b] == "no", s.up[b], n.up[b], n.cuts > s.cuts, *other)
                return And(Implies(begins, begun), Implies(Not(n.up[b]), n.cut[b] == "no"))

            return all_of(follows(b) for b in bookie)

    if t.p.parameters["gaps"]:

        @suite.step
        def gaps_are_of_copies() -> Condition:
            """A gap takes a copy that a bookie had."""
            taken = any_of(And(s.stored[b].has(e), Not(n.stored[b].has(e))) for b in bookie for e in t.entry)
            return Implies(n.gaps != s.gaps, taken)

    if t.p.parameters["rots"]:

        @suite.step
        def copies_that_go_bad_were_good() -> Condition:
            """A copy that goes bad was a good one."""
            spoilt = any_of(And(t.has_good(s, b, e), Not(t.has_good(n, b, e))) for b in bookie for e in t.entry)
            return Implies(n.rots != s.rots, spoilt)

    @suite.step
    def absences_are_audited_again() -> Condition:
        """A bookie that goes is yet to be audited, and an audit lasts while it is away: unless somebody has another begun."""
        here, then = ({b: t.registered(x, b) for b in bookie} for x in (s, n))
        goes = {b: And(here[b], Not(then[b])) for b in bookie}
        forgets = Or(n.decommissions > s.decommissions, n.elections > s.elections)
        audits_last = [Implies(And(s.audited[b], Not(here[b]), Not(then[b]), Not(forgets)), n.audited[b]) for b in bookie]
        return And(*audits_last, *(Implies(goes[b], Not(n.audited[b])) for b in bookie))

    if t.p.parameters["integrity"]:

        @suite.step
        def replaced_disks_are_checked() -> Condition:
            """A bookie that boots with an empty disk needs a check, and is in limbo for an open ledger that names it."""

            def follows(b: int) -> Condition:
                boots = And(s.gone[b], Not(n.gone[b]))
                limbo = n.limbo[b] == And(s.status == "open", t.named(s, b))
                ends = And(s.needs_check[b], Not(n.needs_check[b]), n.losses == s.losses)
                full = And(s.up[b], Implies(t.named(s, b), (s.confirmed & ~s.stored[b]).is_empty), Not(s.limbo[b]))
                readable = all_of(Implies(s.confirmed.has(e), t.readable(s, e)) for e in t.entry)
                out = And(s.limbo[b], Not(n.limbo[b]), n.losses == s.losses)
                as_new = And(Not(n.needs_check[b]), Not(n.limbo[b])) if emptied else False
                checked = And(Implies(boots, Or(And(n.needs_check[b], limbo), as_new)), Implies(ends, full))
                return And(checked, Implies(out, And(n.status == "closed", s.up[b], readable)))

            return all_of(follows(b) for b in bookie)
