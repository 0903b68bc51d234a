"""Looking for a bug: the bug is switched on where it is known to show, and the shortest run to it is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.ahead import Check
from fencepost.checks.engines.plan import Approach, check
from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.outcomes import Open, Settled, outcome
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.known_bugs import KnownBug
from fencepost.model.language import Location, Protocol
from fencepost.properties.vocabulary import Property


class Searches:
    """Searches for bugs in a run, by what makes a check: what one has come to is not searched again for the same
    properties."""

    def __init__(self, check: Check = check) -> None:
        self.check = check
        self._done: dict[tuple[str, str, Sequence[str]], Checked] = {}

    def of(
        self,
        bug: KnownBug,
        properties: Sequence[str],
        approach: Approach,
        reporter: Reporter,
        should_stop: Callable[[], bool],
    ) -> Checked:
        """Searches all states up to the first that violates one of these properties (none named: any); one verdict on that.

        Raises what ``check`` raises.
        """
        key = bug.entry.name, bug.name, tuple(properties)
        if key not in self._done:
            thorough = replace(approach, by="exhaustive", checkpoint=None, resume=False, strict=False, doubting=False)
            thorough = replace(thorough, properties=tuple(properties))
            checked = self.check(bug.entry, bug.instance, [bug.name], thorough, reporter, should_stop)
            verdict = _verdict(bug, checked)
            findings = Findings((verdict,), checked.findings.notes, seconds=checked.findings.seconds)
            checked = replace(checked, findings=findings)
            if verdict.verdict == "inconclusive":
                return checked
            self._done[key] = checked
        return self._done[key]


def look_for(
    bug: KnownBug, approach: Approach, reporter: Reporter, should_stop: Callable[[], bool], searches: Searches
) -> Checked:
    """Searches all states, whatever engine the approach names, up to the first that does the ``harm`` of the bug.

    Where none does, or nobody knows which property that is, up to the first that violates any property. There is one verdict:
    ``known bug``, with the shortest run; ``exhausted`` if nothing is violated with these settings; or ``inconclusive``. Raises
    what ``check`` raises.
    """
    if bug.unfit:
        protocol = bug.entry.build(bug.instance.parameters, [bug.name])
        note = f"the instance that shows it does not fit what is set: {bug.unfit}"
        verdict = Verdict(_property(bug, protocol), "inconclusive", "exhaustive", {}, note, bug=bug.bug)
        return Checked(bug.entry, bug.instance, protocol, Findings((verdict,)))
    spent, about_harm, harm = 0.0, tuple[str, ...](), bug.bug.harm
    if harm and not approach.properties and harm in {stated.name for stated in bug.stated}:
        checked = searches.of(bug, (harm,), approach, reporter, should_stop)
        (verdict,) = checked.findings.verdicts
        if verdict.verdict == "known bug":
            return checked
        why = "holds here" if verdict.verdict == "exhausted" else verdict.note
        spent, about_harm = checked.findings.seconds, (f"what it costs, a violation of {harm}, was not found: {why}",)
    checked = searches.of(bug, approach.properties, approach, reporter, should_stop)
    findings = checked.findings
    return replace(checked, findings=replace(findings, notes=findings.notes + about_harm, seconds=findings.seconds + spent))


def _verdict(bug: KnownBug, checked: Checked) -> Verdict:
    prop = _property(bug, checked.protocol)
    verdicts = checked.findings.verdicts
    bad = [v for v in verdicts if v.verdict == "violated" and not v.expected]
    if bad:
        worst = min(bad, key=lambda v: (v.trace is None, int(v.reach.get("steps", 0))))
        reach, trace, shows = worst.reach, worst.trace, worst.property
        return Verdict(prop, "known bug", worst.by, reach, worst.note, trace, bug.bug, shows)
    asked = tuple(verdict for verdict in verdicts if not verdict.expected)
    found = outcome(replace(checked, findings=replace(checked.findings, verdicts=asked)))
    if isinstance(found, Settled):
        note = "not in these settings: no property is violated"
        return Verdict(prop, "exhausted", "exhaustive", asked[0].reach, note, bug=bug.bug)
    why, reach = found.why if isinstance(found, Open) else "", asked[0].reach if asked else {}
    return Verdict(prop, "inconclusive", "exhaustive", reach, why, bug=bug.bug)


def _property(bug: KnownBug, protocol: Protocol) -> Property:
    """What there is a verdict on; its place is where the protocol is declared, of which the bug may change any part."""
    return Property(bug.name, "known bug", None, protocol.bugs[bug.name], Location.of(bug.entry.function))
