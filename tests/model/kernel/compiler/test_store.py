"""What is made of a protocol is made once: a later process has it from disk, unless what it depends on has changed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from fencepost.model import own_sources
from fencepost.model.analysis import obligations, symmetry
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler import machine, store
from fencepost.model.language import ModelError, Protocol, protocol
from fencepost.model.terms import numbering
from fencepost.properties.suspicions import empty
from fencepost.properties.vocabulary import Suite
from tests.command import fencepost


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of what is kept; loops are where they are."""
    monkeypatch.setattr(store, "FOLDER", str(tmp_path / "protocols"))
    return tmp_path / "protocols"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are compiled and the protocols whose domains are proved from now on."""
    done, compile_, prove = list[str](), machine.object_code, machine.prove_domains

    def object_code(text: str, **how: Any) -> bytes:
        done.append("compiled")
        return compile_(text, **how)

    def prove_domains(protocol: Protocol) -> int:
        done.append("proved")
        return prove(protocol)

    monkeypatch.setattr(machine, "object_code", object_code)
    monkeypatch.setattr(machine, "prove_domains", prove_domains)
    return done


def counter(most: int = 3, until: int | None = None, start: int = 0, step: int = 1) -> Protocol:
    p = Protocol("counter")
    p.number("value", 0, most, init=start)
    p.flag("odd")

    @p.step(by="clock")
    def tick() -> Any:
        """Counts."""
        guard = p.state.value < (most if until is None else until)
        return guard, {p.state.value: p.state.value + step, p.state.odd: ~p.state.odd}

    return p


def kernel(**parameters: int) -> Kernel:
    protocol = counter(**parameters)
    return Kernel(protocol, [protocol.state.odd])


def seen(kernel: Kernel) -> list[tuple[tuple[int, ...], list[int]]]:
    """The states of the only run, each with what holds there."""
    state, states = kernel.initial()[0], []
    while True:
        states.append((kernel.packing.unpack(state), kernel.observe(state)))
        if not kernel.enabled(state):
            return states
        state = kernel.apply(state, 0)


def test_what_was_compiled_is_neither_proved_nor_compiled_again(folder: Path, compiled: list[str]) -> None:
    first = seen(kernel())
    assert [values for values, _ in first] == [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert compiled == ["proved", "compiled", "compiled"]
    assert seen(kernel()) == first
    assert compiled == ["proved", "compiled", "compiled"]


@pytest.mark.parametrize(
    ("changed", "states"), [({"until": 2}, 3), ({"most": 4}, 5), ({"start": 1}, 3), ({"most": 4, "step": 2}, 0)], ids=str
)
def test_what_has_changed_is_seen(folder: Path, compiled: list[str], changed: dict[str, int], states: int) -> None:
    assert len(seen(kernel())) == 4
    if states:
        assert len(seen(kernel(**changed))) == states
    else:
        with pytest.raises(ModelError, match=r"takes value out of 0\.\.4"):
            seen(kernel(**changed))
    assert compiled.count("proved") == 2


def test_other_formulas_are_other_code_and_actions_the_same(folder: Path, compiled: list[str]) -> None:
    protocol = counter()
    value, after = protocol.state.value, protocol.next.value
    states = [[value == 1], [value == 2], [value == 1, value == 2], [value == 2, value == 1], []]
    steps = [[after == 1], [after == value], []]
    for of_states in states:
        for of_steps in steps:
            kernel = Kernel(protocol, of_states, of_steps)
            begin = kernel.initial()[0]
            one = kernel.apply(begin, 0)
            assert kernel.observe(one) == [number for number, formula in enumerate(of_states) if formula is (value == 1)]
            assert kernel.observe_step(begin, one) == [n for n, formula in enumerate(of_steps) if formula is (after == 1)]
    assert compiled.count("compiled") == 1 + len(states) + len(steps)


def test_a_protocol_that_leaves_its_domains_is_refused_each_time(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(ModelError, match="takes value out of"):
            seen(kernel(until=9))
    assert not list(folder.glob("*"))


def test_the_sources_of_whatever_makes_a_product_are_in_its_name() -> None:
    model = Path(own_sources.__file__).parent
    for maker in (machine, obligations, symmetry, numbering, protocol):
        assert str(Path(maker.__file__).parent.relative_to(model)) in store._MAKERS


def test_another_compiler_makes_its_own(folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen(kernel())
    for name, value in ((store, "_makers"), (machine, "host")):
        monkeypatch.setattr(name, value, lambda: ("another", ""))
        seen(kernel())
    assert compiled.count("compiled") == 6


@pytest.mark.parametrize("damage", [b"", b"no header\n", b"[]\n", None])
def test_a_damaged_file_is_made_again(folder: Path, compiled: list[str], damage: bytes | None) -> None:
    first = seen(kernel())
    wholes = {file: file.read_bytes() for file in folder.iterdir()}
    for file, whole in wholes.items():
        middle = len(whole) // 2
        file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :] if damage is None else damage)
    assert seen(kernel()) == first
    assert ({file: file.read_bytes() for file in folder.iterdir()}, compiled.count("compiled")) == (wholes, 4)
    seen(kernel())
    assert compiled.count("compiled") == 4


def test_a_file_under_the_name_of_another_is_not_taken(folder: Path, compiled: list[str]) -> None:
    Kernel(counter()).code  # noqa: B018
    (one,) = folder.iterdir()
    Kernel(counter(most=4)).code  # noqa: B018
    (other,) = set(folder.iterdir()) - {one}
    one.write_bytes(other.read_bytes())
    assert len(seen(kernel())) == 4
    assert compiled.count("compiled") == 4


def test_what_somebody_else_can_have_written_is_not_read(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "closed").write_text("no folder")
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "closed"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    caches = store._own, store._base
    own = tmp_path / f"fencepost-{os.getuid()}"
    for mode, count in ((0o700, 2), (0o700, 2), (0o777, 4)):
        if own.exists():
            own.chmod(mode)
        for cache in caches:
            cache.cache_clear()
        seen(kernel())
        assert compiled.count("compiled") == count
    for cache in caches:
        cache.cache_clear()
    assert f"compiled code is in {own}; NUMBA_CACHE_DIR names another folder for it" in capsys.readouterr().err


def test_what_was_not_used_for_longest_goes(folder: Path) -> None:
    for age in range(8):
        store.product(age, lambda: bytes(1000))
    files = sorted(folder.iterdir())
    for age, file in enumerate(files):
        os.utime(file, (age, age))
    store.remove_the_oldest(folder, most=sum(file.stat().st_size for file in files))
    assert sorted(folder.iterdir()) == files
    store.remove_the_oldest(folder, most=6 * files[0].stat().st_size)
    assert sorted(folder.iterdir()) == files[4:]


def test_answers_of_the_solver_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> list[str]:
        protocol = counter()
        suite = Suite(protocol)

        @suite.always
        def within_bounds() -> Any:
            """A number is what its domain allows."""
            return protocol.state.value <= 3

        @suite.always
        def small() -> Any:
            """It is less than three."""
            return protocol.state.value < 3

        return [suspicion.subject for suspicion in empty(protocol, suite.properties)]

    assert asked() == ["within_bounds"]
    monkeypatch.setattr("z3.SimpleSolver", _refusing)
    assert asked() == ["within_bounds"]


def _refusing() -> Any:
    raise AssertionError("the solver is asked again")


@pytest.mark.long
def test_answers_are_the_same_cold_and_warm(folder: Path) -> None:
    command = ("check", "election", "--quiet", "--json", "-", "--workers", "1")
    cold, warm = (_without_times(fencepost(*command).stdout) for _ in range(2))
    assert cold == warm
    assert len(list(folder.iterdir())) > 20


def _without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if '"seconds"' not in line]
