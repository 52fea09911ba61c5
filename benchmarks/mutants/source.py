"""The mutants of the package: every small mistake that could be made in its code, and a fair draw of them."""

from __future__ import annotations

import ast
import dataclasses
import random
from collections.abc import Iterable, Iterator
from itertools import groupby

from benchmarks import FOLDER

PACKAGE = FOLDER.parent / "pi_xgb"

_SWAPS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr},
    **{ast.BitOr: ast.BitAnd, ast.USub: ast.UAdd, ast.FloorDiv: ast.Mult},
}

_NO_MISTAKE = ("help", "metavar", "description", "strict", "total")
"""Keywords of words for people, of ``zip``, where it guards against mistakes that are not there, and of types."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file with another expression between two offsets; ``lines`` are those of the statement that has it."""

    file: str
    line: int
    before: str
    after: str
    begin: int
    end: int
    lines: range
    is_statement: bool

    @property
    def package(self) -> str:
        return self.file.partition("/")[0].removesuffix(".py")

    def source(self, original: bytes) -> bytes:
        text = self.after if self.is_statement else f"({self.after})"
        return original[: self.begin] + text.encode() + original[self.end :]


def drawn(seed: int) -> list[Mutant]:
    """All mutants in random order; any number from the beginning has each package in proportion."""
    names = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]
    found = sorted((mutant for name in names for mutant in mutants_of(name)), key=lambda mutant: mutant.package)
    chance = random.Random(seed)
    placed = []
    for _, own in groupby(found, key=lambda mutant: mutant.package):
        shuffled = chance.sample(mutants := list(own), len(mutants))
        start = chance.random()
        placed += [((i + start) / len(shuffled), mutant) for i, mutant in enumerate(shuffled)]
    return [mutant for _, mutant in sorted(placed, key=lambda pair: pair[0])]


def mutants_of(name: str) -> Iterator[Mutant]:
    """Every mutant of a file; annotations, messages and documentation are no code."""
    source = (PACKAGE / name).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, lines in _code(ast.parse(source), range(0)):
        for changed in _changed(node):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            found = (node.lineno, ast.unparse(node), ast.unparse(changed))
            yield Mutant(name, *found, begin, end, lines, isinstance(changed, ast.stmt))


def _code(node: ast.AST, lines: range) -> Iterator[tuple[ast.expr | ast.stmt, range]]:
    """What may be wrong in it, with the lines of its statement (of a compound one: those above its body)."""
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.ImportFrom, ast.Import)) or _is_for_types(node):
        return
    if isinstance(node, ast.stmt):
        body = getattr(node, "body", None)
        lines = range(node.lineno, max(node.lineno + 1, body[0].lineno) if body else node.end_lineno + 1)
    if isinstance(node, (ast.expr, ast.AugAssign, ast.Expr, ast.If, ast.While)):
        yield node, lines
    if isinstance(node, ast.Call) and _only_tells(node):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and getattr(child, "arg", None) not in _NO_MISTAKE:
                yield from _code(child, lines)


def _is_for_types(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _only_tells(call: ast.Call) -> bool:
    named = ast.unparse(call.func)
    return named in ("warn_user", "say", "_say", "show", "TypeVar", "cast") or named.endswith(".add_argument")


def _changed(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call):
            yield ast.Pass()
    elif isinstance(node, ast.AugAssign):
        if type(node.op) in _SWAPS:
            yield ast.AugAssign(node.target, _SWAPS[type(node.op)](), node.value)
    elif isinstance(node, ast.Call):
        if not _only_tells(node):
            yield from _with_one_keyword_less(node)
    else:
        yield from _changed_expression(node)


def _with_one_keyword_less(call: ast.Call) -> Iterator[ast.expr]:
    for left_out in call.keywords:
        if left_out.arg and left_out.arg not in _NO_MISTAKE:
            yield ast.Call(call.func, call.args, [keyword for keyword in call.keywords if keyword is not left_out])


def _changed_expression(node: ast.expr | ast.stmt) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            if type(operator) in _SWAPS:
                operators = [*node.ops[:i], _SWAPS[type(operator)](), *node.ops[i + 1 :]]
                yield ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
        yield ast.BinOp(node.left, _SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(_SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        yield node.operand
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _SWAPS:
        yield ast.UnaryOp(_SWAPS[type(node.op)](), node.operand)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)


def by_package(mutants: Iterable[Mutant]) -> dict[str, int]:
    """How many there are in each package."""
    packages = [mutant.package for mutant in mutants]
    return {package: packages.count(package) for package in sorted(set(packages))}
