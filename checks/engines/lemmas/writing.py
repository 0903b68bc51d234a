"""Clauses as lemmas in Python, as they stand in ``properties/``; and such a text as lemmas of a suite.

What is proved in the end is what the text says: it is executed, for an instance and for any size.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from fencepost.checks.engines.lemmas.atoms import WORDS, Atom, Index, Vocabulary
from fencepost.model.language import Protocol
from fencepost.properties.vocabulary import Property, Suite

WIDTH = 127

Literal = tuple[Atom, bool]
"""An atom, and whether it holds or not."""


def written(vocabulary: Vocabulary, clauses: Sequence[Sequence[Literal]], why: str) -> str:
    """A function that adds the clauses to a suite; ``why`` says in a sentence what they are for."""
    names = _unique([_name(clause) for clause in clauses])
    lemmas = [_lemma(vocabulary, name, clause) for name, clause in zip(names, clauses, strict=True)]
    body = "\n\n".join(lemmas)
    universes = [name for name in vocabulary.universes if re.search(rf"\bin {name}\b", body)]
    used = [word for word in WORDS if re.search(rf"\b{word}\(", body)]
    needs_state = re.search(r"\bs\.", body)
    head = [
        f"from fencepost.model.language import {', '.join(sorted({*used, 'Condition'}))}",
        "from fencepost.properties.vocabulary import Suite",
        "",
        "",
        "def found_lemmas(suite: Suite) -> None:",
        f'    """{why}"""',
        *(["    p = suite.protocol"] if universes or needs_state else []),
        *(["    s = p.state"] if needs_state else []),
        *([f"    {', '.join(universes)} = {_of(universes)}"] if universes else []),
    ]
    lines = [line for number, line in enumerate(head) if line or number in (2, 3)]
    return "\n".join(lines) + "\n\n" + textwrap.indent(body, "    ") + "\n"


def suite_with(protocol: Protocol, prop: Property, text: str) -> Suite:
    """The suite that has the property, and the lemmas of a text that ``written`` made."""
    suite = Suite(protocol)
    suite.properties.append(prop)
    names: dict[str, object] = {}
    exec(compile(text, "<lemmas that were found>", "exec"), names)
    add = names["found_lemmas"]
    assert callable(add)
    add(suite)
    return suite


def _of(universes: Sequence[str]) -> str:
    return ", ".join(f'p.universes["{name}"]' for name in universes)


def _lemma(vocabulary: Vocabulary, name: str, clause: Sequence[Literal]) -> str:
    scope = [index for index in vocabulary.indices if any(index in atom.scope for atom, _ in clause)]
    formula = _formula(clause)
    one = f"    return {formula}"
    if scope:
        over = "".join(f" for {index.letter} in {index.universe.name}" for index in scope)
        one = f"    return all_of({formula}{over})"
        if len(one) > WIDTH - 4:
            one = "\n".join(["    return all_of(", f"        {formula}", f"        {over.strip()}", "    )"])
    doc = _sentence(clause, scope)
    if len(doc) > WIDTH - 14:
        doc = "\n    ".join(textwrap.wrap(doc, WIDTH - 14, break_long_words=False))
    return f'@suite.lemma\ndef {name}() -> Condition:\n    """{doc}"""\n{one}'


def _formula(clause: Sequence[Literal]) -> str:
    premises, conclusions = _sides(clause)
    premise, conclusion = _joined("And", [*premises]), _joined("Or", [*conclusions])
    if not premises:
        return conclusion
    return f"Implies({premise}, {conclusion})" if conclusions else f"Not({premise})"


def _sides(clause: Sequence[Literal]) -> tuple[dict[str, str], dict[str, str]]:
    """The premises and the conclusions of a clause, with the names of each: what is one of several ways is better a premise."""
    premises = {atom.text: atom.name for atom, holds in clause if not holds}
    conclusions = {atom.text: atom.name for atom, holds in clause if holds}
    for atom, _ in clause:
        if atom.text in conclusions and len(conclusions) > 1 and ' == "' in atom.text:
            premises[atom.text.replace(" == ", " != ")] = f"not_{conclusions.pop(atom.text)}"
    return premises, conclusions


def _joined(word: str, texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{word}({', '.join(texts)})" if texts else ""


def _sentence(clause: Sequence[Literal], scope: Sequence[Index]) -> str:
    """What a clause says, in the words of its formula."""
    premises, conclusions = ([_plainly(text) for text in side] for side in _sides(clause))
    of = f"Of any {' and '.join(f'{i.universe.name} {i.letter}' for i in scope)}: " if scope else ""
    if not premises:
        sentence = f"{' or '.join(conclusions)}"
    elif conclusions:
        sentence = f"where {' and '.join(premises)}, {' or '.join(conclusions)}"
    else:
        sentence = f"never {' and '.join(premises)}"
    sentence = f"{of}{sentence}."
    return sentence[0].upper() + sentence[1:]


def _plainly(text: str) -> str:
    text = re.sub(r"\bs\.|suite\.named\(|\)\.formula", "", text).replace('"', "")
    return text.replace(" == ", " is ").replace(" != ", " is not ").replace(" <= ", " is at most ")


def _name(clause: Sequence[Literal]) -> str:
    premises, conclusions = ("_and_".join(side.values()) for side in _sides(clause))
    if not premises:
        return _identifier(f"always_{conclusions}")
    return _identifier(f"{premises}_needs_{conclusions}" if conclusions else f"never_{premises}")


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)[:80].strip("_").lower()


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique
