"""``fencepost completion``: what completes the command line in a shell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.requests import Argument

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

COMPLETION = """Prints what completes the names of commands and options in a shell. The shell reads it once, when it starts."""

EXAMPLES = """examples:
  fencepost completion bash >> ~/.bash_completion
  fencepost completion zsh > "${fpath[1]}/_fencepost"
  fencepost completion fish > ~/.config/fish/completions/fencepost.fish"""


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """The shell."""

    shell: Annotated[str, Argument("the shell", "SHELL", choices=("bash", "zsh", "fish"))]


COMMAND = Command(CompletionRequest, "completion:run", COMPLETION, EXAMPLES)


def run(asked: CompletionRequest) -> ExitStatus:
    """Prints it."""
    import shtab

    from fencepost.checks.commands.arguments import whole_line
    from fencepost.checks.engines.results.verdicts import ExitStatus

    print(shtab.complete(whole_line(), asked.shell))
    return ExitStatus.HOLDS
