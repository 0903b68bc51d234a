"""The variables of a protocol as constants in Z3 terms: which variables a term mentions, and how large a number may become."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from fencepost.model.language.declarations import Variable
from fencepost.model.language.domains import Choice, Domain
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.nodes import Node, Nodes
from fencepost.model.language.operators import walk
from fencepost.model.language.ranges import Ranges


class Constants:
    """The constants of the variables declared so far, for values before a step and, primed, after it."""

    def __init__(self) -> None:
        self.nodes = Nodes()
        self.ranges = Ranges()
        self._by_name: dict[str, Variable] = {}
        self._of_node: dict[bool, dict[int, Variable]] = {False: {}, True: {}}  # by whether it is the next value
        self._vetted: dict[bool, set[int]] = {False: set(), True: set()}  # nodes, by whether next values may occur
        self._mentioned: dict[int, frozenset[Variable]] = {}  # by node

    def __getitem__(self, name: str) -> Variable:
        return self._by_name[name]

    def add(self, variable: Variable) -> None:
        """Takes note of a variable, which stays in its domain before and after each step."""
        self._by_name[variable.name] = variable
        for is_next, term, name in ((False, variable.term, variable.name), (True, variable.next, variable.name + "'")):
            constant = self.nodes.constant(term, name)
            self._of_node[is_next][constant.identity] = variable
            self.ranges.declare(constant, variable.domain)

    def variable_of(self, term: Any) -> Variable | None:
        """The variable whose value before a step this very term is, sort included; None for any other term or value."""
        return self._variable(self.nodes.of(term)) if isinstance(term, z3.ExprRef) else None

    def vet(self, what: str, term: Any, *, primed: bool = False) -> None:
        """Raises ModelError, naming ``what``, unless the term is over the variables (and, if ``primed``, their next values)
        and uses only operators that the kernel compiles."""
        for node in self.nodes.below(term, self._vetted[primed]):
            if node.stranger is not None:
                raise ModelError(f"{what} uses {node.stranger}, which the kernel cannot compile")
            if node.is_variable and self._variable(node, primed=primed) is None:
                also = "; it may not speak of the state after the step" if self._variable(node, primed=True) else ""
                raise ModelError(f"{what} mentions {node.detail}, which is not a variable of the protocol{also}")
        too_wide = self.ranges.too_wide(self.nodes.of(term))
        if too_wide is not None:
            number = next(part for part in walk(term, set()) if self.nodes.of(part) is too_wide)
            raise ModelError(f"{what}: {number} may be too large for the kernel's 64-bit numbers")

    def assigned(self, domain: Domain, value: Any) -> Any:
        """A value that is given to a variable of the domain, as a term. Raises ValueError if it is none of the domain's, or
        the number of a choice among other names."""
        term = domain.coerce(value)
        if isinstance(domain, Choice):
            for variable in self._copied(term):
                if isinstance(variable.domain, Choice) and variable.domain.names != domain.names:
                    theirs, needed = ", ".join(variable.domain.names), ", ".join(domain.names)
                    raise ValueError(f"{variable.name} is one of {theirs}, and one of {needed} is needed")
        return term

    def _copied(self, term: Any) -> Iterator[Variable]:
        """The variables whose values are what the term's value is made of: not those that a condition compares."""
        open_, seen = [term], set[int]()
        while open_:
            part = open_.pop()
            if part.get_id() not in seen:
                seen.add(part.get_id())
                open_ += [child for child in part.children() if child.sort() == term.sort()]
                if part.num_args() == 0 and (variable := self.variable_of(part)) is not None:
                    yield variable

    def _variable(self, constant: Node, *, primed: bool = False) -> Variable | None:
        """The variable whose value, or if ``primed`` perhaps next value, this very constant is, sort included."""
        variable = self._of_node[False].get(constant.identity)
        return self._of_node[True].get(constant.identity) if primed and variable is None else variable

    def next_variables_of(self, formula: Any) -> set[Variable]:
        """The variables whose value after a step the formula mentions."""
        nexts = self._of_node[True]
        return {nexts[node.identity] for node in self.nodes.below(formula, set()) if node.identity in nexts}

    def variables_of(self, formula: Any) -> frozenset[Variable]:
        """The variables whose value, before or after a step, the formula mentions."""
        root = self.nodes.of(formula)
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node.identity in self._mentioned:
                continue
            if node.is_variable:
                self._mentioned[node.identity] = frozenset([self._by_name[node.detail.removesuffix("'")]])
            elif ready:
                below = (self._mentioned[argument.identity] for argument in node.arguments)
                self._mentioned[node.identity] = frozenset().union(*below)
            else:
                stack.append((node, True))
                stack.extend((argument, False) for argument in node.arguments)
        return self._mentioned[root.identity]
