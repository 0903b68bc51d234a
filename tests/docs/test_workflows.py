"""Our workflow, and those that the documentation offers, are valid for GitHub and GitLab, with commands that can be called."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fencepost.checks.cli import main
from tests.docs.examples import ROOT, blocks
from tests.marking import first_at_once

PAGE = (ROOT / "docs" / "how-to" / "check-in-ci.md").read_text(encoding="utf-8")
COMMENT, GITHUB, GITLAB, HOOKS = (block.text for block in blocks(PAGE) if block.language == "yaml")
OURS = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
TEXTS = {"GitHub": GITHUB, "comment": COMMENT, "GitLab": GITLAB, "ours": OURS}
EACH = [pytest.param(text, id=name) for name, text in TEXTS.items()]
WORKFLOWS = pytest.mark.parametrize("workflow", first_at_once(EACH))
SCHEMAS = {
    GITHUB: ["vendor.github-workflows"],
    COMMENT: ["vendor.github-workflows"],
    OURS: ["vendor.github-workflows"],
    GITLAB: ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
}
"""What check-jsonschema calls the schemas that it brings along."""


def refused(text: str, schema: list[str], folder: Path) -> bool:
    file = folder / "workflow.yml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", str(file), "--builtin-schema", *schema]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.returncode == 1


@WORKFLOWS
def test_a_workflow_is_valid(workflow: str, tmp_path: Path) -> None:
    assert not refused(workflow, SCHEMAS[workflow], tmp_path)
    assert refused(re.sub(r"(runs-on|script):", "walks:", workflow), SCHEMAS[workflow], tmp_path)


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = (one for one in yaml.safe_load(GITHUB)["jobs"]["settings"]["steps"] if one.get("id") == "fencepost")
    assert set(step["with"]) <= set(action["inputs"])
    assert all(name in step["with"] for name, one in action["inputs"].items() if one.get("required"))
    assert set(re.findall(r"steps\.fencepost\.outputs\.(\w+)", GITHUB)) <= set(action["outputs"])
    assert f"path: {action['inputs']['traces']['default']}" in GITHUB


def test_the_hook_that_is_offered_exists(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HOOKS)
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(tmp_path / "config.yaml")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    known = [hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))]
    assert [hook["id"] for one in yaml.safe_load(HOOKS)["repos"] for hook in one["hooks"]] == known


def test_the_pipeline_of_jenkins_checks_as_that_of_gitlab_does() -> None:
    (pipeline,) = (block.text for block in blocks(PAGE) if block.language == "groovy")
    check = re.compile(r"fencepost/\.venv/bin/fencepost check [^'\n]*")
    assert check.findall(pipeline) == check.findall(GITLAB)
    assert [pipeline.count(sign) for sign in "{("] == [pipeline.count(sign) for sign in "})"]
    assert "junit 'fencepost.xml'" in pipeline


@pytest.mark.long
def test_the_command_of_a_workflow_does_what_it_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (arguments,) = re.findall(r"fencepost (check .*)$", GITLAB, re.MULTILINE)
    asked = shlex.split(arguments)
    written = asked[asked.index("--junit") + 1]
    conf = tmp_path / "here" / asked[asked.index("--conf") + 1]
    (tmp_path / "here").mkdir()
    conf.parent.mkdir(exist_ok=True)
    conf.write_text((ROOT / "docs" / "examples" / "broker.conf").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    assert main(asked) == 0
    assert Path(written).read_text(encoding="utf-8").startswith("<?xml")
    rest = GITLAB.replace(arguments, "")
    assert written in rest
    assert asked[asked.index("--trace-dir") + 1] in rest


STAND_IN = """#!/bin/sh
echo "$@" >words
rm -f "$8"
cmp -s "$3" "$5" || { echo "### Fencepost: weaker" >"$8"; exit 15; }
"""
"""In place of the command, of whose comparisons others are tests: what it writes of two files, and how it ends."""


def test_a_pull_request_is_commented_if_a_guarantee_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell of the workflow, in a repository whose last commit is a merge; ``gh`` shows what it is given."""
    (step,) = (one for one in yaml.safe_load(COMMENT)["jobs"]["compare"]["steps"] if "env" in one)
    script = step["run"].replace("${{ github.event.number }}", "7")
    programs = {"fencepost/.venv/bin/fencepost": STAND_IN, "gh": '#!/bin/sh\necho "$@"\ncat "$5"\n'}
    for name, text in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "--quiet"], cwd=tmp_path, check=True)
    shown = []
    for ack_quorum in (1, 2):
        for commit, quorum in (("base", 2), ("head", ack_quorum)):
            (tmp_path / "broker.conf").write_text(f"managedLedgerDefaultAckQuorum={quorum}\n")
            subprocess.run([*git, "add", "broker.conf"], cwd=tmp_path, check=True)
            subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", commit], cwd=tmp_path, check=True)
        paths = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        ran = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=paths, capture_output=True, text=True)
        shown.append((ran.returncode, ran.stdout))
    assert shown == [(15, "pr comment 7 --body-file comment.md\n### Fencepost: weaker\n"), (0, "")]
    words = (tmp_path / "words").read_text().split()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(words) == 150, "the command takes these words, and misses only the files"


@pytest.mark.parametrize("workflow", [COMMENT, GITLAB, OURS], ids=["comment", "GitLab", "ours"])
def test_the_targets_of_a_workflow_exist(workflow: str) -> None:
    targets = re.findall(r"make (?:-C fencepost )?(\S+)", workflow)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_ours_runs_what_the_readme_tells_to_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^make (\S+)", next(b.text for b in blocks(readme) if b.language == "sh"), re.MULTILINE))
    assert targets == {"check", "test"}
    assert set(re.findall(r"- run: make (\S+)", OURS)) == targets | {"test-rest"}, "and what make test leaves out"
