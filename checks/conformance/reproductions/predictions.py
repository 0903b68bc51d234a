"""Predictions that are held against released software: what was logged, predicted and counted, for people and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.checks.conformance.reproductions.study import Count, Prediction, Study
from fencepost.checks.odds.prediction import Share

_COUNTLESS = 1e6


def logged(prediction: Prediction) -> str:
    """The means of what was logged."""
    fits = sorted(prediction.fits.items())
    return "logged: " + ", ".join(
        f"{name} {fit.mean:.3g} ms (of {fit.ended})" if fit.ended else f"{name} never within {fit.total:.3g} ms"
        for name, fit in fits
    )


def prediction_in_words(study: Study, prediction: Prediction) -> Iterator[str]:
    """The lines to print before the losses are counted."""
    yield f"{study.input}: {prediction.value:g}"
    yield logged(prediction)
    yield f"predicted: {_share(prediction.share)} of {prediction.faults} {study.faults} lose messages (certainty of 90 %)"


def count_in_words(count: Count) -> str:
    """The lines to print of the count."""
    agrees = "the intervals overlap" if count.share.overlaps(count.prediction.share) else _off(count)
    return f"counted: {count.lost} of {count.prediction.faults}, {_share(count.share)} (certainty of 95 %): {agrees}"


def agree(counts: Sequence[Count]) -> bool:
    """Whether each prediction and its count have a value in common."""
    return all(count.share.overlaps(count.prediction.share) for count in counts)


def ratio_in_words(study: Study, counts: Sequence[Count]) -> str:
    """What a tenfold change of the input does to the probability."""
    usual, changed = counts
    by = f"{study.input} {usual.prediction.value:g} to {changed.prediction.value:g}"
    said = changed.prediction.share.middle / usual.prediction.share.middle if usual.prediction.share.middle else float("nan")
    low, high = changed.share.over(usual.share)
    upper = f"{high:.2g}" if high < _COUNTLESS else "any number"
    return f"{by}: predicted {said:.2g} times as many, counted {low:.2g} to {upper} times"


def _off(count: Count) -> str:
    low, high = count.share.over(count.prediction.share)
    return f"the prediction is off by a factor of {low:.2g} to {high:.2g}"


def _share(share: Share) -> str:
    return f"{_percent(share.middle)} % ({_percent(share.low)} to {_percent(share.high)} %)"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 or share == 0 else f"{100 * share:.2g}"


def as_data(study: Study, release: str, counts: Sequence[Count], account: Sequence[str]) -> dict[str, object]:
    """The same as data."""
    return {
        "name": study.name,
        "release": release,
        "input": study.input,
        "settings": [_as_data(count) for count in counts],
        "account": list(account),
    }


def _as_data(count: Count) -> dict[str, object]:
    prediction = count.prediction

    def ends(share: Share) -> dict[str, float]:
        return {"share": share.middle, "low": share.low, "high": share.high}

    return {
        "value": prediction.value,
        "faults": prediction.faults,
        "logged": {name: {"ms": fit.total, "ended": fit.ended} for name, fit in sorted(prediction.fits.items())},
        "predicted": ends(prediction.share),
        "lost": count.lost,
        "counted": ends(count.share),
    }
