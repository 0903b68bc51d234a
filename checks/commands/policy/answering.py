"""What every question of ``fencepost policy`` does with the mistakes of those who ask."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.strategies import fault_text
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.settings.input_files import InputError
from fencepost.model.balance.user_policy import PolicyFault

Request = TypeVar("Request")


def answering(command: Callable[[Request], ExitStatus]) -> Callable[[Request], ExitStatus]:
    """The command with its errors turned into a message and an exit status."""

    @wraps(command)
    def answer(asked: Request) -> ExitStatus:
        try:
            return command(asked)
        except InputError as error:
            print(f"fencepost: {error}", file=sys.stderr)
            return ExitStatus.INPUT
        except WrongUsage as error:
            print(f"fencepost: {error}", file=sys.stderr)
            return ExitStatus.USAGE
        except PolicyFault as fault:
            print(f"fencepost: {fault_text(fault)}", file=sys.stderr)
            return ExitStatus.EVALUATION

    return answer
