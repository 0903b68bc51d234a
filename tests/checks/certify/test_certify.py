"""Certificates: the whole ones are accepted, and nothing else."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.checks.certify import checking
from fencepost.checks.cli import main
from tests.checks.certify import tampering
from tests.marking import first_at_once

LAMP = '''
from fencepost import And, Implies, Not, Protocol, Suite

def lamp(*, defects=()) -> Protocol:
    """A lamp that burns oil."""
    p = Protocol("lamp", defects={"leaky": "It burns without oil."}, active=defects)
    oil, burning = p.number("oil", 0, 3, init=2), p.flag("burning")

    @p.step(by="hand")
    def light():
        """Lights it."""
        return And(Not(burning), oil > 0), {burning: True}

    @p.step(by="lamp")
    def burn():
        """Burns oil."""
        return And(burning, oil > (0 if p.has("leaky") else 1)), {oil: oil - 1}

    @p.step(by="hand")
    def put_out():
        """Puts it out."""
        return burning, {burning: False}

    return p

def properties(p: Protocol) -> Suite:
    suite, s, n = Suite(p), p.state, p.next

    @suite.always
    def dark_without_oil():
        """Without oil it does not burn."""
        return Implies(s.oil == 0, Not(s.burning))

    @suite.step
    def oil_only_burns():
        """Oil does not come back."""
        return n.oil <= s.oil

    @suite.lemma
    def burns_with_oil():
        """What burns has oil."""
        return Implies(s.burning, s.oil > 0)

    return suite
'''


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "lamp.py").write_text(LAMP, encoding="utf-8")
    asked = ["check", str(folder / "lamp.py"), "--by", "induction", "--certificate", str(folder / "proof"), "--quiet"]
    assert main(asked) == 0
    (certificate,) = (folder / "proof").iterdir()
    return certificate


@pytest.fixture
def copy(proof: Path, tmp_path: Path) -> Path:
    return shutil.copytree(proof, tmp_path / "proof")


@pytest.fixture
def lamp(proof: Path) -> str:
    return str(proof.parents[1] / "lamp.py")


def certify(folder: Path, lamp: str, *more: str) -> int:
    return main(["certify", str(folder), "--quiet", "--protocol", lamp, *more])


def certify_as_it_stands(folder: Path) -> int:
    return main(["certify", str(folder), "--quiet", "--as-it-stands"])


@pytest.mark.long
def test_a_certificate_is_accepted_and_says_of_what_it_is(proof: Path, lamp: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert certify(proof, lamp) == 0
    out = capsys.readouterr().out
    digest = hashlib.sha256((proof / "certificate.json").read_bytes()).hexdigest()
    assert out.startswith(f"certificate {digest}\nlamp: dark_without_oil, oil_only_burns\n")
    asked = sum(text.count("(check-sat)") for text in (f.read_text() for f in proof.glob("*.smt2")))
    assert out.endswith(f"accepted: {asked} obligations, each by z3 and cvc5; they are those that the installed model makes\n")


def changed(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """Changes a file, and what the manifest says of it, as one who forges a certificate would."""
    path, manifest = folder / name, folder / "certificate.json"
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["files"][name] = hashlib.sha256(after.encode()).hexdigest()
    manifest.write_text(json.dumps(content), encoding="utf-8")


def script(folder: Path, ending: str) -> str:
    (path,) = folder.glob(f"*-{ending}.smt2")
    return path.name


def test_a_file_that_is_not_as_it_was_is_refused(copy: Path, lamp: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = copy / script(copy, "burn")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("(assert (not", "(assert (and", 1), encoding="utf-8")
    assert certify(copy, lamp) == 150
    assert "it was changed since it was certified" in capsys.readouterr().err
    path.write_text(text, encoding="utf-8")
    (copy / "999-more.smt2").touch()
    assert certify(copy, lamp) == 150
    assert "the certificate does not name it" in capsys.readouterr().err
    (copy / "999-more.smt2").unlink()
    path.unlink()
    assert certify(copy, lamp) == 150
    assert "there is no such file" in capsys.readouterr().err


def without_the_first_question(text: str) -> str:
    start, end = text.index("(push 1)"), text.index("(pop 1)\n") + len("(pop 1)\n")
    return text[:start] + text[end:]


def test_a_forged_certificate_that_does_not_ask_everything_is_refused(
    copy: Path, lamp: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = script(copy, "burn")
    changed(copy, name, without_the_first_question)
    assert certify(copy, lamp) == 150
    assert "it does not ask of each of its" in capsys.readouterr().err

    def unasked(text: str) -> str:
        index = json.loads(text)
        (entry,) = (e for e in index["scripts"] if e["file"] == name)
        del entry["obligations"][0]
        return json.dumps(index)

    changed(copy, name, lambda text: without_the_first_question(text))
    changed(copy, "index.json", lambda text: unasked(unasked(text)))
    assert certify(copy, lamp) == 150
    assert "nothing is asked of" in capsys.readouterr().err


@pytest.mark.parametrize("more", ["(assert false)", "(assert (= oil oil)) (assert false)"])
def test_a_script_that_supposes_more_is_refused(copy: Path, more: str, capsys: pytest.CaptureFixture[str]) -> None:
    changed(copy, script(copy, "burn"), lambda text: text.replace("(push 1)", f"{more}\n(push 1)", 1))
    assert certify_as_it_stands(copy) == 150
    assert capsys.readouterr().err.count("\n") == 1


def test_a_hypothesis_that_nothing_asks_about_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(copy.glob("*.smt2"))[1:]:
        changed(copy, path.name, lambda text: text.replace("(assert ", "(assert (= oil #b001))\n(assert ", 1))
    assert certify_as_it_stands(copy) == 150
    assert "it supposes something else than what 000-initial.smt2 asks about" in capsys.readouterr().err


@pytest.mark.long
def test_a_hypothesis_in_the_place_of_a_lemma_must_hold_initially(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lemma = "(assert (=> burning (bvsgt oil #b000)))"
    for path in sorted(copy.glob("*.smt2"))[1:]:
        changed(copy, path.name, lambda text: text.replace(lemma, "(assert (= oil #b001))", 1))
    assert certify_as_it_stands(copy) == 12
    assert "says sat to whether supposition 2 of 001-implied.smt2 can be false" in capsys.readouterr().out


@pytest.mark.long
def test_an_obligation_that_does_not_hold_is_refuted_by_both(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def negated(text: str) -> str:
        start = text.index("(push 1)\n(assert (not ") + len("(push 1)\n(assert ")
        end = text.index(")\n(check-sat)", start)
        return f"{text[:start]}(not {text[start:end]}){text[end:]}"

    changed(copy, script(copy, "initial"), negated)
    assert certify_as_it_stands(copy) == 12
    out = capsys.readouterr().out
    for solver in checking.SOLVERS:
        assert f"{solver} says sat to whether " in out
    assert out.splitlines()[-1].startswith("not accepted: ")


@pytest.mark.long
def test_a_forgery_that_both_solvers_believe_is_refused_unless_it_is_asked_as_it_stands(
    copy: Path, lamp: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An action is said to do something else than it does: only the model knows better."""
    changed(copy, script(copy, "put_out"), lambda text: text.replace("(assert burning)", "(assert (not burning))"))
    assert certify(copy, lamp) == 150
    assert "is not what the installed model makes; --as-it-stands" in capsys.readouterr().err
    assert certify_as_it_stands(copy) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("; what the formulas are about was NOT checked")


def test_a_script_that_is_left_out_is_noticed(copy: Path, lamp: str, capsys: pytest.CaptureFixture[str]) -> None:
    tampering.a_script_left_out(copy, random.Random(4))
    tampering.fit_digests(copy)
    assert certify(copy, lamp) == 150
    assert certify_as_it_stands(copy) == 150
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.long
def test_another_version_is_refused_and_can_be_checked_as_it_stands(
    copy: Path, lamp: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = copy / "certificate.json"
    manifest.write_text(re.sub(r'"fencepost": "[^"]*"', '"fencepost": "0.0.1"', manifest.read_text("utf-8")), encoding="utf-8")
    assert certify(copy, lamp) == 150
    assert "it was made by Fencepost '0.0.1', and this is " in capsys.readouterr().err
    assert certify_as_it_stands(copy) == 0
    assert "accepted as it stands: 10 obligations" in capsys.readouterr().out


def test_a_protocol_of_ones_own_has_to_be_named(proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", str(proof), "--quiet"]) == 150
    assert "'lamp', which is no protocol of Fencepost's; name the file that has it by --protocol" in capsys.readouterr().err
    (tmp_path / "lamp.py").write_text(LAMP.replace("oil > 0)", "oil > 1)", 1), encoding="utf-8")
    assert certify(proof, str(tmp_path / "lamp.py")) == 150
    assert "is not what the installed model makes" in capsys.readouterr().err


@pytest.mark.parametrize("seed", first_at_once(range(100), 20))
def test_no_certificate_that_was_tampered_with_is_accepted(
    copy: Path, lamp: str, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = tampering.tamper(copy, seed)
    assert certify(copy, lamp) == 150, words
    out, err = capsys.readouterr()
    assert "accepted" not in out
    assert err.startswith("fencepost: ")
    assert err.count("\n") == 1
    assert err.removesuffix("\n").isprintable()


@pytest.mark.parametrize("seed", range(100, 130))
def test_what_is_malformed_is_one_line_as_it_stands(copy: Path, seed: int) -> None:
    tampering.another_shape(copy, random.Random(seed))
    tampering.fit_digests(copy)
    with contextlib.suppress(checking.CertificateError):  # any other error would be a traceback
        assert checking.read(copy).scripts


@pytest.mark.parametrize(
    ("program", "seconds", "message"),
    [
        ("import os; os.abort()", 300, "ended with status -6"),
        ("print('sat')", 300, "answered something else after 1 of"),
        ("print('unsat\\n' * 99)", 300, "answered something else after 99 of"),
        ("import time; time.sleep(600)", 0.3, "does not answer in 0.3 s"),
    ],
)
def test_a_solver_that_crashes_or_does_not_answer_is_no_proof(
    proof: Path, lamp: str, tmp_path: Path, program: str, seconds: float, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answers.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(checking, "ANSWERS", tmp_path / "answers.py")
    certificate = checking.read(proof)
    one = checking.Certificate(certificate.digest, certificate.manifest, certificate.scripts[:1])
    doubts = list(checking.doubts(one, seconds, lambda done, count: None))
    assert len(doubts) == 2
    assert all(message in doubt.text and not doubt.refuted for doubt in doubts)


@pytest.mark.long
def test_a_crash_leaves_the_certificate_open(proof: Path, lamp: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "answers.py").write_text("import os; os.abort()", encoding="utf-8")
    monkeypatch.setattr(checking, "ANSWERS", tmp_path / "answers.py")
    assert certify(proof, lamp) == 20


def test_what_is_not_proved_has_no_certificate(
    proof: Path, lamp: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["check", str(proof.parents[1] / "lamp.py"), "--certificate", str(tmp_path / "proof"), "--quiet"]
    assert main(asked) == 2
    assert capsys.readouterr().err.endswith("a proof of stated sizes: add --by induction, and leave --any out\n")
    assert main([*asked, "--by", "induction", "--defect", "leaky"]) == 20
    assert "certificate: none of lamp, defect, since not everything is proved" in capsys.readouterr().out
    assert not list((tmp_path / "proof").iterdir())


@pytest.mark.parametrize("name", ["checking.py", "answers.py"])
def test_what_checks_shares_nothing_with_what_makes(name: str) -> None:
    tree = ast.parse((Path(checking.__file__).with_name(name)).read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [module for module in imported if module.startswith("fencepost")]
