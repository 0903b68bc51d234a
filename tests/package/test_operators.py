"""Where operators live: the action of GitHub, the hook of pre-commit and the container image do what they are for."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from fencepost.checks import hook
from tests.other_user import as_other_user, reached, require_other_users
from tests.package.environment import ROOT, Environment, built

pytestmark = pytest.mark.package
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
CONF = "managedLedgerDefaultEnsembleSize=2\n"
QUICK = "every_hash_is_in_a_bundle"


# --- the action


def refused_as_an_action(text: str, folder: Path) -> bool:
    (folder / "action.yml").write_text(text, encoding="utf-8")
    schema = ["--builtin-schema", "vendor.github-actions"]
    command = [sys.executable, "-m", "check_jsonschema", str(folder / "action.yml"), *schema]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.returncode == 1


def test_the_action_is_valid(tmp_path: Path) -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert not refused_as_an_action(text, tmp_path)
    assert refused_as_an_action(text.replace("using: composite", "using: magic"), tmp_path)


def test_no_input_reaches_a_shell_but_as_a_variable() -> None:
    steps = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert steps
    assert not any("${{" in step["run"] for step in steps)
    used = json.dumps(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in used] == []


def step(name: str) -> dict[str, Any]:
    (match,) = (one for one in ACTION["runs"]["steps"] if one.get("id") == name)
    content: dict[str, Any] = match
    return content


def acted(folder: Path, **inputs: str) -> tuple[int, str, dict[str, str], str]:
    """Runs the shell of the check as GitHub does; the status, the summary, the outputs and what is printed."""
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
    variables = {name: given[text.split("inputs.")[1].split()[0]] for name, text in step("check")["env"].items()}
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for file in files.values():
        file.write_text("")
    around = {**os.environ, **variables, **{k: str(v) for k, v in files.items()}, "RUNNER_TEMP": str(folder)}
    script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step("check")["run"]]
    ran = subprocess.run(script, cwd=folder, env=around, capture_output=True, text=True, timeout=600, check=False)
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return ran.returncode, files["GITHUB_STEP_SUMMARY"].read_text(), outputs, ran.stdout


def programs(folder: Path, arguments: Sequence[str]) -> None:
    """A virtual environment as the action has it, whose fencepost checks with fewer properties; words are kept in a file."""
    (folder / "fencepost" / "bin").mkdir(parents=True)
    lines = {
        "python": f'exec "{sys.executable}" "$@"\n',
        "fencepost": f'printf "%s\\n" "$@" > words\nexec "{sys.executable}" -m fencepost "$@" {" ".join(arguments)}\n',
    }
    for name, script in lines.items():
        program = folder / "fencepost" / "bin" / name
        program.write_text(f'#!/bin/sh\nexport PYTHONPATH="{ROOT}"\n{script}')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_the_action_checks_and_leaves_a_file_and_a_summary(tmp_path: Path) -> None:
    programs(tmp_path, ["hash_range", "--property", QUICK])
    (tmp_path / "a conf").write_text(CONF)
    status, text, outputs, _ = acted(tmp_path, conf="a conf\n", pulsar="4.0.8", sarif="found.sarif")
    assert (status, outputs) == (0, {"sarif": "found.sarif", "status": "0"})
    assert json.loads((tmp_path / "found.sarif").read_text())["version"] == "2.1.0"
    assert text.startswith("### Fencepost: 1 proved: everything holds (exit 0)\n")
    words = (tmp_path / "words").read_text().splitlines()
    assert words[words.index("--conf") + 1] == "a conf"
    assert "--baseline" not in words


def test_the_action_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    programs(tmp_path, [])
    (tmp_path / "one.conf").write_text(CONF)
    (tmp_path / "two.conf").write_text("managedLedgerDefaultAckQuorum=two\n")
    status, text, outputs, printed = acted(tmp_path, conf="one.conf\ntwo.conf", bookkeeper="4.17.2", baseline="")
    assert (status, outputs["status"]) == (150, "150")
    assert text.startswith("### Fencepost: the input cannot be used (exit 150)\n")
    assert "two.conf:1: managedLedgerDefaultAckQuorum = 'two'" in text
    (result,) = json.loads((tmp_path / "fencepost.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "two.conf"
    assert printed.startswith("::error file=two.conf,line=1,title=the input cannot be used::two.conf:1: managedLedgerDefault")


def test_the_action_hands_on_what_is_required_in_one_run(tmp_path: Path) -> None:
    programs(tmp_path, [])
    (tmp_path / "fencepost" / "bin" / "fencepost").write_text('#!/bin/sh\necho "$@" >> words\nexit 16\n')
    required = {"require": "disks>=2\n\nwriting>=1\n", "baseline": "accepted.json", "against": "c", "bookies": "5"}
    status, text, outputs, _ = acted(tmp_path, conf="b", **required)
    assert (status, outputs["status"]) == (16, "16")
    assert text.startswith("### Fencepost: no result")
    (words,) = (tmp_path / "words").read_text().splitlines()
    assert "--conf b --against c --require disks>=2 --require writing>=1 --bookies 5 --baseline accepted.json" in words
    assert "--sarif fencepost.sarif" in words


def test_the_action_takes_a_profile_alone(tmp_path: Path) -> None:
    programs(tmp_path, ["hash_range", "--property", QUICK])
    (tmp_path / "broker.conf").write_text(CONF)
    (tmp_path / "cluster.toml").write_text('conf = ["broker.conf"]\n')
    status, _, _, printed = acted(tmp_path, profile="cluster.toml")
    assert (status, printed.splitlines()[-1]) == (0, "1 proved: everything holds (exit 0)")


@pytest.mark.deep
def test_the_action_marks_the_line_of_what_falls_short(tmp_path: Path) -> None:
    programs(tmp_path, [])
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultAckQuorum=1\n")
    status, text, _, printed = acted(tmp_path, conf="broker.conf", pulsar="5.0.0-M1", require="disks>=1")
    assert status in (14, 16), "whatever the bugs of the release"
    assert "| `disks` | 0 |" in text
    assert "::error file=broker.conf,line=2,title=disks = 0 falls short of --require disks>=1::" in printed


def test_the_action_installs_itself(tmp_path: Path) -> None:
    """The commands are those of ``python`` and of the ``python`` that is made; what they are told is kept."""
    (tmp_path / "path").mkdir()
    log_call = f'echo "$0" "$@" | sed "s|{tmp_path}/||g" >> {tmp_path}/told\n'
    make_venv = 'for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python"\n'
    program = tmp_path / "path" / "python"
    program.write_text(f'#!/bin/sh\n{log_call}[ "$2" = venv ] && {{ {make_venv} }}\nexit 0\n')
    program.chmod(0o755)
    around = {"PATH": f"{program.parent}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "SOURCES": str(ROOT)}
    subprocess.run(["bash", "-e", "-c", step("install")["run"]], env=around, check=True)
    first, second = (tmp_path / "told").read_text().splitlines()
    assert first == "path/python -m venv fencepost"
    assert second == f"fencepost/bin/python -m pip install --quiet {ROOT}"


def test_the_action_keeps_its_installation_by_its_sources(tmp_path: Path) -> None:
    cache = step("installation")["with"]
    assert cache["path"] == "${{ runner.temp }}/fencepost", "where the check has its fencepost"
    assert cache["key"].endswith("${{ steps.sources.outputs.key }}")
    assert step("install")["if"] == "steps.installation.outputs.cache-hit != 'true'"
    keys = []
    (tmp_path / "sources" / "a").mkdir(parents=True)
    for text in ("one", "two", "one"):
        (tmp_path / "sources" / "a" / "b.py").write_text(text)
        (tmp_path / "outputs").write_text("")
        around = {**os.environ, "SOURCES": str(tmp_path / "sources"), "GITHUB_OUTPUT": str(tmp_path / "outputs")}
        around["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{around['PATH']}"  # Debian has python3 only
        subprocess.run(["bash", "-e", "-c", step("sources")["run"]], env=around, check=True)
        keys.append((tmp_path / "outputs").read_text())
    assert keys[0] == keys[2] != keys[1]
    assert keys[0].startswith("key=")


# --- the hook


def test_the_manifest_of_the_hooks_is_valid(tmp_path: Path) -> None:
    for text, status in [((ROOT / ".pre-commit-hooks.yaml").read_text(), 0), ("- id: x\n", 1)]:
        (tmp_path / "hooks.yaml").write_text(text)
        command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(tmp_path / "hooks.yaml")]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stdout + ran.stderr


def test_the_hook_is_a_program_of_the_package() -> None:
    (entry,) = (one["entry"] for one in HOOKS)
    assert f'{entry} = "{hook.__name__}:main"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_hook_checks_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broker.conf").write_text(CONF)
    (tmp_path / "standalone.conf").write_text("managedLedgerDefaultAckQuorum=two\n")
    quick = [f"--property={QUICK}"]
    assert hook.main([*quick, "broker.conf"]) == 0
    assert hook.main([*quick, "broker.conf", "standalone.conf", "broker.conf"]) == 150
    assert "standalone.conf:1: managedLedgerDefaultAckQuorum = 'two'" in capsys.readouterr().err
    assert hook.main([]) == 0


@pytest.mark.parametrize(("statuses", "ends"), [([14, 0], 0), ([14, 12, 150], 12), ([0, 20], 20)])
def test_bugs_keep_nobody_from_committing(monkeypatch: pytest.MonkeyPatch, statuses: list[int], ends: int) -> None:
    left = iter(statuses)
    monkeypatch.setattr(hook, "fencepost", lambda words: next(left))
    assert hook.main([f"{number}.conf" for number in range(len(statuses))]) == ends


@pytest.mark.deep  # it installs the package with all that it needs
def test_pre_commit_runs_the_hook(tmp_path: Path) -> None:
    repository, sources = tmp_path / "theirs", tmp_path / "ours"
    shutil.copytree(ROOT, sources, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "build", "__pycache__"))
    repository.mkdir()
    (repository / "broker.conf").write_text("managedLedgerDefaultAckQuorum=3\n")
    (repository / "notes.txt").write_text("nothing\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for folder in (sources, repository):
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run([*git, *words], cwd=folder, check=True)
    around = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(sources), "pulsar-settings", "--all-files", "--verbose"]
    ran = subprocess.run(command, cwd=repository, env=around, capture_output=True, text=True, timeout=1800, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "exit code: 150" in ran.stdout
    assert "managedLedgerDefaultAckQuorum = 3 (broker.conf:1) is greater than" in ran.stdout


# --- the image


@pytest.mark.xdist_group("package")
def test_the_image_has_all_that_the_package_is_made_of(tmp_path: Path, wheel: Path, clean: Environment) -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith("COPY "):
            *names, to = line.split()[1:]
            target = tmp_path / to.lstrip("/")
            for name in names:
                source = ROOT / name
                if source.is_dir():
                    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    target.mkdir(exist_ok=True)
                    shutil.copy(source, target)
    (tmp_path / "made").mkdir()
    again = built("wheel", tmp_path / "src", tmp_path / "made")
    assert again.name == wheel.name
    assert again.stat().st_size == pytest.approx(wheel.stat().st_size, rel=0.01)
    (ran_there,) = (line for line in lines if line.startswith("RUN "))
    assert ran_there.startswith("RUN python -m pip install --no-cache-dir /src ")
    assert json.loads(lines[-1].removeprefix("ENTRYPOINT ")) == ["fencepost"]
    assert lines.index("USER fencepost") < len(lines) - 1, "not as root"
    ran = clean.run("-m", "fencepost", "check", "--help", folder=tmp_path)
    assert ran.returncode == 0


def test_any_user_can_run_it_where_nothing_but_a_temporary_folder_can_be_written(clean: Environment) -> None:
    """As a cluster runs an image: a uid that is nobody's, no home, no variables, a read-only root."""
    require_other_users()
    folder = Path(tempfile.mkdtemp(prefix="fencepost-read-only-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "tmp").mkdir()
    clean.python.parents[1].chmod(0o755)
    needed = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), clean.python.parents[1]]
    writable = f"mount -t tmpfs -o mode=1777 tmpfs {folder}/tmp"
    mounts = f"{reached(needed, folder)} && {writable} && mount -o remount,bind,ro /"
    around = {"PATH": os.defpath, "TMPDIR": str(folder / "tmp")}
    check = [clean.python, "-m", "fencepost", "check", "election", "--set", "brokers=1", "--quiet"]
    try:
        refused = as_other_user(["touch", folder / "anything"], folder, mounts, around)
        assert "Read-only file system" in refused.stderr
        ran = as_other_user(check, folder, mounts, around)
    finally:
        shutil.rmtree(folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (note,) = ran.stderr.splitlines()
    assert f"compiled code is in {folder}/tmp/" in note
