"""No action may take a variable out of its domain, and one that does is reported with the values that lead there."""

from collections.abc import Callable

import pytest

from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.language import If, ModelError, Protocol, maximum


def clock(*, guarded: bool = True, high: int = 3) -> Protocol:
    p = Protocol("clock")
    hand = p.number("hand", 0, high)
    best = p.number("best", 0, high)
    on = p.flag("on")

    @p.step(by="clock")
    def tick() -> object:
        """The hand moves on."""
        return (hand < high if guarded else on), {hand: hand + 1, best: maximum(best, hand), on: If(on, False, True)}

    return p


def test_every_update_is_counted() -> None:
    assert prove_domains(clock()) == 3


def test_a_guard_that_does_not_protect_is_reported_with_a_counterexample() -> None:
    with pytest.raises(ModelError) as error:
        prove_domains(clock(guarded=False))
    assert error.value.location == next(a for a in clock().actions if a.name == "tick").location
    assert error.value.args[0] == (
        "clock: action tick takes hand out of 0..3: it becomes 4 where hand = 3, on = yes;"
        " guard the action against that or widen the domain"
    )


def moved(change: Callable[..., object], *, low: int = 0, high: int = 4, most: int = 2) -> Protocol:
    """A protocol whose only action sets ``x``, from ``low`` to ``high``, to ``change(x, y)``; y is from 0 to ``most``."""
    p = Protocol("mover")
    x, y = p.number("x", low, high), p.number("y", 0, most)

    @p.step(by="mover")
    def move() -> object:
        """Moves."""
        return True, {x: change(x, y)}

    return p


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: y + y,
        lambda x, y: If(x > y, x - y, 4),
        lambda x, y: y * y,
        lambda x, y: If(x < 4, x + 1, x),
        lambda x, y: 4 - x,
    ],
)
def test_updates_that_stay(change: Callable[..., object]) -> None:
    assert prove_domains(moved(change)) == 1


@pytest.mark.parametrize(
    ("change", "becomes"),
    [(lambda x, y: y + y + y, "5|6"), (lambda x, y: x - y, "-1|-2"), (lambda x, y: If(x < 4, 4 - x, x + 1), "5")],
)
def test_updates_that_leave(change: Callable[..., object], becomes: str) -> None:
    with pytest.raises(ModelError, match=rf"mover: action move takes x out of 0\.\.4: it becomes ({becomes}) where"):
        prove_domains(moved(change))


def test_the_domain_before_the_step_may_be_assumed() -> None:
    """The bound of another variable is what keeps this one in its domain: without assuming it, the update would leave."""
    assert prove_domains(moved(lambda x, y: y + 2)) == 1
    with pytest.raises(ModelError):
        prove_domains(moved(lambda x, y: y + 3))


def test_every_member_of_a_family_is_checked() -> None:
    p = Protocol("queues")
    queue = p.universe("queue", 3)
    length = p.number("length", 0, 2, per=queue)

    @p.step(by="q", q=queue)
    def push(q: int) -> object:
        """Adds to a queue; the last forgets its limit."""
        return length[q] < (2 if q < 2 else 3), {length[q]: length[q] + 1}

    with pytest.raises(ModelError, match=r"action push\(q2\) takes length\[q2\] out of 0\.\.2: it becomes 3"):
        prove_domains(p)


def test_what_was_proved_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(x: object, y: object) -> object:
        return If(x > y, x - y, 3)  # type: ignore[operator]

    assert prove_domains(moved(change)) == 1
    monkeypatch.setattr("z3.Solver.check", None)
    assert prove_domains(moved(change)) == 1


@pytest.mark.parametrize("other", [{"high": 3}, {"most": 3}, {"low": 1}], ids=str)
def test_of_other_domains_it_is_not_proved(other: dict[str, int]) -> None:
    def change(x: object, y: object) -> object:
        return If(y < x, x - 1, y + y)  # type: ignore[operator]

    assert prove_domains(moved(change)) == 1
    with pytest.raises(ModelError, match="takes x out of"):
        prove_domains(moved(change, **other))
