"""``fencepost conform policy``: load balancing held against Pulsar's own classes, and what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter

from fencepost.checks.commands.conform.request import PolicyRequest
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.conformance.policy.campaign import Find, Result, campaign
from fencepost.checks.conformance.policy.cases import Rule
from fencepost.checks.conformance.policy.code import Code
from fencepost.checks.conformance.policy.registry import RULES
from fencepost.checks.conformance.targets import Asked
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.settings import release_of
from fencepost.checks.policy.snapshot import as_snapshot
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.configuration import NAMES_BEFORE_4_0_8, Configuration, Version, defaults
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.strategies import PLACEMENTS, SHEDDERS
from fencepost.model.language.mistakes import guess
from fencepost.traces.files.writing import write_text

FORMAT = 1
POLICIES = TypeAdapter(Policies)


def run(asked: PolicyRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    try:
        release = release_of(asked.like or asked.release)
        rules = _rules(asked.rule, release)
    except WrongUsage as error:
        option = "--as" if asked.like else "--release"
        print(f"fencepost: {str(error).replace('--pulsar', option)}", file=sys.stderr)
        return ExitStatus.USAGE
    own = OwnBuild(asked.jars, tuple(asked.classes))
    return _run(asked, Asked(asked.release if asked.like and asked.release else release, own=own, like=release), rules)


def _rules(named: Sequence[str] | None, release: Version) -> tuple[Rule, ...]:
    """The rules of these names, or all. Raises WrongUsage for one that there is not, or not in the release."""
    if not named:
        return RULES
    there = {rule.name: rule for rule in RULES if release in rule.releases}
    for name in named:
        if name not in there:
            known = f"{guess(name, there)}; there are {', '.join(there)}"
            raise WrongUsage(f"--rule {name}: Pulsar {release} has no such rule{known}")
    return tuple(there[name] for name in dict.fromkeys(named))


def _run(asked: PolicyRequest, held: Asked, rules: Sequence[Rule]) -> ExitStatus:
    release = held.like
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"policies on Pulsar {held.release}")
    toolchain()
    reporter.telling("fetching jars, compiling the harness, starting Java")
    with interruptible() as interrupt, Code(held.release, held.own) as code:
        result = campaign(
            rules,
            release,
            code.ask,
            cases=asked.cases,
            seed=asked.seed,
            progress=lambda progress: reporter.telling(_progress(progress, asked.cases)),
            should_stop=interrupt,
        )
    reporter.end()
    files = [] if asked.out is None else [_written(find, asked.out) for find in result.finds]
    status = _status(result)
    report = in_format(
        asked.format,
        text=lambda: f"{text(result, rules, held, asked.seed, files)}# {result.seconds:.1f} s\n",
        json=lambda: _as_json(result, rules, held, asked.seed, status, files),
    )
    print(report, end="")
    return status


def _status(result: Result) -> ExitStatus:
    if result.finds:
        return ExitStatus.SAFETY
    return ExitStatus.INCONCLUSIVE if result.interrupted else ExitStatus.HOLDS


def _progress(result: Result, cases: int) -> str:
    left = result.seconds * (cases - result.count) / max(result.count, 1)
    differing = f", {result.differing.total()} differ" if result.finds else ""
    return f"{result.count:,} of {cases:,} cases{differing}, about {left:.0f} s left"


def text(result: Result, rules: Sequence[Rule], held: Asked, seed: int, files: Sequence[Sequence[Path]] = ()) -> str:
    """The report for a person: a line for each rule, then what differs, each with the least that shows it."""
    release, origin = held.like, held.origin("pulsar")
    lines = [f"policies on Pulsar {held.release}, seed {seed}: {result.count:,} cases", *([f"  {origin}"] if origin else [])]
    for rule in rules:
        if release not in rule.releases:
            lines.append(f"  {rule.name}: not in this release")
        elif result.differing[rule.name]:
            lines.append(f"  {rule.name}: {result.differing[rule.name]:,} of {result.cases[rule.name]:,} differ")
        else:
            lines.append(f"  {rule.name}: {result.cases[rule.name]:,} agree")
    for number, find in enumerate(result.finds):
        lines += ["", f"{find.rule}, case {find.number}, made small:", *(f"  {difference}" for difference in find.differences)]
        lines += [f"  with {setting}" for setting in _settings(find.case.conf)]
        if number < len(files):
            lines += [f"  written to {file}" for file in files[number]]
            lines.append(f"  {_command(find, files[number])}")
    if result.interrupted:
        lines.append("interrupted: what was compared until then is shown")
    return "\n".join(lines) + "\n"


def _as_json(
    result: Result, rules: Sequence[Rule], held: Asked, seed: int, status: ExitStatus, files: Sequence[Sequence[Path]]
) -> str:
    release = held.like
    content: dict[str, object] = {
        "format": FORMAT,
        "release": held.release,
        "origin": held.origin("pulsar"),
        "seed": seed,
        "exit_status": int(status),
        "cases": result.count,
        "rules": {
            rule.name: {"mirrors": rule.mirrors, "cases": result.cases[rule.name], "differing": result.differing[rule.name]}
            for rule in rules
            if release in rule.releases
        },
        "differences": [
            {
                "rule": find.rule,
                "case": find.number,
                "said": list(find.differences),
                "settings": _settings(find.case.conf),
                "files": [str(file) for file in files[number]] if files else [],
            }
            for number, find in enumerate(result.finds)
        ],
        "interrupted": result.interrupted,
        "seconds": round(result.seconds, 3),
    }
    return json.dumps(content, indent=1) + "\n"


def _settings(conf: Configuration) -> list[str]:
    """The settings that are not the release's defaults, as a broker.conf has them."""
    usual = defaults(conf.pulsar_version)
    names = NAMES_BEFORE_4_0_8 if conf.before("4.0.8") else {}
    changed = [one.name for one in fields(Configuration)[1:] if getattr(conf, one.name) != getattr(usual, one.name)]
    return [f"{names.get(name, name)}={_written_value(getattr(conf, name))}" for name in changed]


def _written_value(value: object) -> str:
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _written(find: Find, folder: Path) -> list[Path]:
    """Writes the snapshots and the configuration of a find; what is no load of a cluster is told in its line alone."""
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() else "-" for letter in find.rule)
    files = []
    for number, load in enumerate(find.case.rounds, start=1):
        files.append(folder / f"{name}-{number}.json")
        bound = POLICIES.dump_python(find.case.more.get("policies", Policies()), mode="json")
        bound = {key: value for key, value in bound.items() if value}
        write_text(files[-1], json.dumps({**as_snapshot(load), **bound}, indent=2) + "\n")
    conf = folder / f"{name}.conf"
    write_text(conf, "".join(f"{line}\n" for line in ["loadBalancerEnabled=true", *_settings(find.case.conf)]))
    return [*files, conf]


def _command(find: Find, files: Sequence[Path]) -> str:
    """The question that shows the model's side of a find."""
    *snapshots, conf = files
    alone: list[str] = []
    case: Mapping[str, str] = {"--pulsar": find.case.conf.pulsar_version, "--conf": str(conf)}
    if find.case.subject in SHEDDERS:
        case = {**case, "--shedder": find.case.subject}
        alone = ["--only-shedder"]
    elif find.case.subject in PLACEMENTS:
        case = {**case, "--placement": find.case.subject}
    words = [word for pair in case.items() for word in pair]
    return " ".join(["fencepost policy decide", *words, *alone, *(f"--snapshot {file}" for file in snapshots)])
