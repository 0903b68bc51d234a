"""What a study is: faults on released software, what was logged of them, a prediction, and then a count of the losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.reproductions.stage import Stage
from fencepost.checks.odds.prediction import Fit, Share, counted, predicted


@dataclass(frozen=True)
class Trials:
    """Faults: how many, and what was logged of them or before them; the names are those of numbers of odds.

    ``count`` then looks how many of them lost an acknowledged message, and brings them about first where each has to be looked
    at before the next one. It is called once the prediction has been printed.
    """

    faults: int
    fits: Mapping[str, Fit]
    count: Callable[[], int]


@dataclass(frozen=True)
class Study:
    """A prediction of odds that is held against released software.

    ``faults`` says of what events the losses are counted. One ``input`` is ``usual``, then ``changed`` by ten. ``take`` brings
    the faults about; ``predict`` is the probability of a loss, given one, by means of numbers and by the input. ``take`` raises
    ToolchainError, and SessionError, also as NotSetUp.
    """

    name: str
    system: str
    releases: tuple[str, ...]
    faults: str
    input: str
    usual: float
    changed: float
    seconds: int
    page: str
    take: Callable[[Stage, str, float], Trials]
    predict: Callable[[Mapping[str, float], float], float]


@dataclass(frozen=True)
class Prediction:
    """What was logged where the input had a ``value``, and what is predicted from it; the losses are not counted yet."""

    value: float
    faults: int
    fits: Mapping[str, Fit]
    share: Share


@dataclass(frozen=True)
class Count:
    """A prediction, and how many of the faults then lost a message."""

    prediction: Prediction
    lost: int

    @property
    def share(self) -> Share:
        """The same as a probability."""
        return counted(self.lost, self.prediction.faults)


def studied(study: Study, release: str, stages: Callable[[str], Stage]) -> Iterator[Prediction | Count]:
    """A prediction and then the count, first with the usual input, then with the changed one; once more what fails before its
    prediction. Raises ToolchainError and SessionError."""
    for name, value in (("usual", study.usual), ("changed", study.changed)):
        for again in (False, True):
            with stages(f"{name}-again" if again else name) as stage:
                try:
                    trials = study.take(stage, release, value)
                except SessionError as error:
                    if again:
                        raise
                    stage.say(f"{error}: once more")
                    continue
                share = predicted(trials.fits, lambda means, value=value: study.predict(means, value))  # type: ignore[misc]
                prediction = Prediction(value, trials.faults, trials.fits, share)
                yield prediction
                yield Count(prediction, trials.count())
                break
