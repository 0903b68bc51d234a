"""A program of its own, that nothing which a solver does ends more than it: ``answers.py z3|cvc5``, with a script at standard
input, prints what the solver answers, a line for each question. It uses nothing of Fencepost's."""

import sys
from collections.abc import Iterator


def by_z3(text: str) -> Iterator[str]:
    """What Z3 prints."""
    import z3

    yield from str(z3.Z3_eval_smtlib2_string(z3.main_ctx().ref(), text)).splitlines()


def by_cvc5(text: str) -> Iterator[str]:
    """What cvc5 prints."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("incremental", "true")
    symbols = cvc5.SymbolManager(solver)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "certificate")
    while not (command := parser.nextCommand()).isNull():
        yield from str(command.invoke(solver, symbols)).splitlines()


if __name__ == "__main__":
    for answer in {"z3": by_z3, "cvc5": by_cvc5}[sys.argv[1]](sys.stdin.read()):
        print(answer, flush=True)
