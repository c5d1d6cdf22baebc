"""The examination: rules in order, each with what must hold before it can be examined."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .derivative_rules import check_derivatives, check_numbers, check_seed, check_two_rules
from .examination import BrokenError, Examination, Progress
from .findings import Failure, Report, RuleResult, Status
from .forward_rules import check_construction, check_operands, check_separate, check_values
from .structure_rules import STRUCTURE, Structure, check_cost, examine_structure, structure_failure
from .subject import Subject, TroubleError
from .whole_rules import check_again, check_depth, check_expressions, check_zero_grad

__all__ = ["RULES", "Rule", "examine"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, what it asks, and the rules that must hold before it can be examined."""

    name: str
    title: str
    needs: tuple[str, ...] = ()
    own_backward: bool = False  #: about backward() itself: a class that only has local rules has none yet


_STEP = ("construction", "seed")
_PASS = ("chain", "accumulation", "identity", "order", "visits")

#: The rules, in the order in which a class is best written and mended.
RULES: tuple[Rule, ...] = (
    Rule("construction", "a Value holds a number"),
    Rule("values", "each operation computes its number", ("construction",)),
    Rule("operands", "an operation changes nothing but its result", ("construction",)),
    Rule("separate", "Values and graphs share nothing", ("construction",)),
    Rule("seed", "L.grad = 1 begins the backward pass", ("construction", "separate")),
    Rule("two rules", "the local derivatives of + and *", _STEP),
    Rule("chain", "each contribution is local derivative times upstream gradient", ("two rules",)),
    Rule("accumulation", "contributions to one gradient add up", ("two rules",)),
    Rule("order", "a node passes its gradient on after all that use it", ("two rules",), True),
    Rule("visits", "each node passes its gradient on once", ("two rules",), True),
    Rule("identity", "two Values with equal numbers are two Values", ("two rules",)),
    Rule("derivatives", "the local derivatives of the other operations", ("two rules", *_PASS)),
    Rule("numbers", "plain numbers on the right and on the left", ("two rules", *_PASS)),
    Rule("again", "a second backward pass spoils nothing", _PASS, True),
    Rule("zero_grad", "gradients can be set back to zero", _PASS),
    Rule("expressions", "random expressions, against retrograd and nudges", _PASS),
    Rule("depth", "long chains", _PASS, True),
)


def examine(
    cls: type,
    seed: int,
    module: type | None = None,
    progress: Progress = lambda rule, program: None,
    found: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Examine a Value class rule by rule, at random numbers that ``seed`` decides.

    ``module`` is a class with ``zero_grad`` and ``parameters``, if there is one. ``progress`` is told what comes next,
    and ``found`` what is known after each rule.
    """
    run = _Run(Examination(Subject(cls), random.Random(seed), progress), module)
    for rule in RULES:
        run.examine(rule)
        found(run.report())
    return run.report()


class _WaitsError(Exception):
    """A rule cannot be examined before another one is mended."""

    def __str__(self) -> str:
        return f"waits for “{self.args[0]}”"


class _Run:
    """The rules' results as they come in."""

    def __init__(self, exam: Examination, module: type | None) -> None:
        self.exam = exam
        self.module = module
        self.results = {rule.name: RuleResult(rule.name, rule.title) for rule in RULES}
        self.structure: Structure | None = None

    def report(self) -> Report:
        """What is known so far."""
        failures = [failure for result in self.results.values() for failure in result.failures]
        absent = list(self.exam.absent)
        if self.exam.subject.style in ("closures", "local_grads"):
            absent.insert(0, "backward()")
        return Report(list(self.results.values()), failures[0] if failures else None, absent, list(self.exam.remarks))

    def examine(self, rule: Rule) -> None:
        """Examine a rule, if it can be."""
        result, exam = self.results[rule.name], self.exam
        exam.rule = rule.name
        if result.status is Status.failed:  # by a finding of an earlier rule
            return
        if rule.own_backward and exam.subject.style in ("closures", "local_grads"):
            result.status, result.says = Status.absent, "backward() is not there yet"
            return
        if reason := self._waits(rule):
            result.status, result.says = Status.skipped, reason
            return
        exam.progress(rule.name, ())
        try:
            says = self._checks()[rule.name]()
            result.status, result.says = (Status.passed, says) if says else (Status.absent, "not there yet")
        except _WaitsError as error:
            result.says = str(error)
        except BrokenError as error:
            for failure in [error.failure, *error.others]:
                self._fail(failure)
        except TroubleError as error:
            self._fail(exam.broken_by(error.trouble).failure)

    def _fail(self, failure: Failure) -> None:
        result = self.results[failure.rule]
        result.status = Status.failed
        result.failures.append(failure)
        others = len(result.failures) - 1
        result.says = result.failures[0].headline + (f" (and {others} more)" if others else "")

    def _waits(self, rule: Rule) -> str:
        """Why a rule cannot be examined yet; empty when it can."""
        first = next((name for name in rule.needs if self._in_the_way(name)), None)
        if first is not None:
            return str(_WaitsError(self._root_of(first)))
        if rule.name in ("operands", "separate", "seed") and not self._sums():
            return "waits for + or *"
        return ""

    def _root_of(self, name: str) -> str:
        """The failed rule for which a rule that was not examined waits."""
        if self.results[name].status is Status.failed:
            return name
        if name in _PASS and self.structure is not None and self.structure.failing is not None:
            return self.structure.failing
        return next((self._root_of(other) for other in RULES_BY_NAME[name].needs if self._in_the_way(other)), name)

    def _in_the_way(self, name: str) -> bool:
        status = self.results[name].status
        if name == "two rules" and status is Status.failed and any(one.name in "+*" for one in self.exam.right):
            return False  # one of the two suffices to go on with
        if name in _PASS and status is Status.failed:
            return any(not failure.operation or failure.operation in "+*" for failure in self.results[name].failures)
        return status in (Status.failed, Status.skipped)

    def _sums(self) -> bool:
        return any(operation.name in "+*" for operation in self.exam.has_values)

    def _checks(self) -> dict[str, Callable[[], str]]:
        exam = self.exam
        return {
            "construction": lambda: check_construction(exam),
            "values": lambda: self._values(),
            "operands": lambda: check_operands(exam),
            "separate": lambda: check_separate(exam),
            "seed": lambda: check_seed(exam),
            "two rules": lambda: check_two_rules(exam),
            **{name: partial(self._structure, name) for name in (*STRUCTURE, "identity")},
            "derivatives": lambda: check_derivatives(exam),
            "numbers": lambda: check_numbers(exam),
            "again": lambda: check_again(exam),
            "zero_grad": lambda: check_zero_grad(exam, self.module),
            "expressions": lambda: check_expressions(exam),
            "depth": lambda: check_depth(exam),
        }

    def _values(self) -> str:
        try:
            return check_values(self.exam)
        finally:
            sign = next((one.name for one in self.exam.has_values if one.name in "+*"), None)
            if sign is not None:
                self.exam.subject.find_style(sign)

    def _structure(self, rule: str) -> str:
        """The rules over whole graphs are examined together, when the first of them comes."""
        if self.structure is None:
            self.structure = examine_structure(self.exam)
            if self.structure.failing is not None:
                self._fail(structure_failure(self.exam, self.structure, self.structure.failing))
            self.exam.rule = rule
        failing = self.structure.failing
        if failing == rule:
            raise BrokenError(self.results[rule].failures.pop())
        if failing is not None and (rule in self.structure.wrong or rule in self.structure.raised):
            raise _WaitsError(failing)
        if rule == "visits" and failing is None:
            check_cost(self.exam)
        return _HOLDS[rule]


_HOLDS = {
    "chain": "each contribution is local derivative times upstream gradient",
    "accumulation": "a + a, a * a and every other reuse add up",
    "order": "a node passes its gradient on after all that use it",
    "visits": "each node passes its gradient on once",
    "identity": "Values with equal numbers stay apart",
}

RULES_BY_NAME = {rule.name: rule for rule in RULES}
