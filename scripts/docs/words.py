"""What the code says about its own fields: the text below each, where a reader of the code finds it too."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from itertools import pairwise

from pydantic import BaseModel


def field_words(model: type[BaseModel]) -> Mapping[str, str]:
    """The docstring below each field of a model, those of its bases included; fields without one are left out."""
    words: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            words |= _own_words(base)
    return words


def about(thing: object) -> str:
    """The docstring of a class or function as one line; "" for one that only inherits it."""
    own = getattr(thing, "__doc__", None) or ""
    return " ".join(inspect.cleandoc(own).split())


def _own_words(model: type[BaseModel]) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    except OSError:  # made by a call, not by a class statement
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    words = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            words[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return words
