"""Scenes from names, files, text and dictionaries."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, Union

from . import _taut
from ._errors import ParameterError
from ._taut import Scene

SceneLike = Union[Scene, str, "os.PathLike[str]", Mapping[str, Any]]
"""What names a scene: a :class:`Scene`, the name of a built-in one, a path, or a dictionary like a scene file."""

Values = Mapping[str, Any]
"""Keys of a scene, such as ``"cloth.sheet.strain.max"``, and their values in place of the scene's."""


def scene(what: SceneLike, values: "Values | None" = None, *, name: str = "scene", folder: "str | os.PathLike[str]" = ".") -> Scene:
    """Reads and checks a scene.

    ``what`` is the name of a built-in scene (:func:`scenes` lists them), a path, or a dictionary with the keys of a
    scene file, in which paths are relative to ``folder``. ``values`` replace some of its values by key, as ``--set``
    does: ``{"cloth.sheet.strain.max": 0.01}``.

    >>> import taut
    >>> taut.scene("hanging-sheet", {"scene.frames": 5}).frames
    5
    """
    overrides = [f"{key}={value(given)}" for key, given in (values or {}).items()]
    if isinstance(what, Scene):
        if overrides:
            return Scene.parse(what.to_toml(), what.name, what.folder, overrides)
        return what
    if isinstance(what, Mapping):
        return Scene.parse(to_toml(what), name, os.fspath(folder), overrides)
    if isinstance(what, (str, os.PathLike)):
        return Scene.load(os.fspath(what), overrides)
    raise ParameterError(
        f"a scene is a name, a path, a dictionary or a taut.Scene; this is a {type(what).__name__}"
    )


def scenes() -> "list[str]":
    """Names of the built-in scenes."""
    return _taut.scenes()


def value(given: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return json.dumps(given, ensure_ascii=False)
    if isinstance(given, int):
        return str(given)
    if isinstance(given, float):
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(given), repr(given))
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {value(v)}" for k, v in given.items()) + " }"
    if hasattr(given, "tolist"):
        return value(given.tolist())
    if hasattr(given, "__fspath__"):
        return value(os.fspath(given))
    if isinstance(given, Iterable):
        return "[" + ", ".join(value(v) for v in given) + "]"
    raise ParameterError(f"a scene has no values of type {type(given).__name__}: {given!r}")


def to_toml(scene: Mapping[str, Any]) -> str:
    """A dictionary as the text of a scene file."""
    lines: "list[str]" = []
    for key, given in scene.items():
        if isinstance(given, Mapping):
            lines.append(f"[{_key(key)}]")
            lines.extend(f"{_key(k)} = {value(v)}" for k, v in given.items())
        elif isinstance(given, (list, tuple)) and given and all(isinstance(item, Mapping) for item in given):
            for item in given:
                lines.append(f"[[{_key(key)}]]")
                lines.extend(f"{_key(k)} = {value(v)}" for k, v in item.items())
        else:
            # What belongs to no table stands before all of them.
            lines.insert(0, f"{_key(key)} = {value(given)}")
    return "\n".join(lines) + "\n"


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ParameterError(f"keys of a scene are strings; this is {key!r}")
    plain = key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if plain else json.dumps(key)
