"""How is somebody else's code changed so that it can be recognised before, and restored after?"""

import ast
import functools
import hashlib
import inspect
import textwrap
from typing import Any, Callable, List, Tuple

_ABSENT = object()


class Patches:
    """Attributes we replaced, newest last, so that they can be put back in reverse order."""

    def __init__(self) -> None:
        self._replaced: List[Tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class and remember what its own dictionary held there."""
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace a plain function or method by `make(original)`, keeping its name, signature and docstring."""
        original = getattr(owner, name)
        self.replace(owner, name, functools.wraps(original)(make(original)))

    def undo(self) -> None:
        """Put everything back."""
        while self._replaced:
            owner, name, value = self._replaced.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def fingerprint(function: Callable[..., Any]) -> str:
    """Name the code of a function by its meaning, without comments, docstrings, annotations and line numbers.

    People run git checkouts, so a version number says too little and a hash of the text too much. Raises OSError or
    TypeError when there is no source.
    """
    return fingerprint_source(inspect.getsource(inspect.unwrap(function)))


def fingerprint_source(source: str) -> str:
    """Name the code of one function given as text, at whatever indentation; see `fingerprint`."""
    tree = ast.parse(textwrap.dedent(source))
    _Plain().visit(tree)
    # ast.dump's wording differs between Python versions in empty fields only; drop those.
    return hashlib.sha256(_written(tree).encode()).hexdigest()[:16]


class _Plain(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = []
        if node.body and isinstance(node.body[0], ast.Expr) and _is_text(node.body[0].value):
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _written(node: Any) -> str:
    if isinstance(node, ast.AST):
        fields = [
            (name, value)
            for name, value in ast.iter_fields(node)
            if value not in (None, []) and name not in ("kind", "type_comment", "type_params")
        ]
        return f"{type(node).__name__}({','.join(f'{name}={_written(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_written, node))}]"
    return repr(node)
