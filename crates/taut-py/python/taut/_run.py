"""Runs: a scene into a folder, with progress, until it is done or interrupted."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Optional, Tuple, Union

from . import _taut
from ._errors import ExpectationError
from ._scene import SceneLike, Values, scene
from ._taut import Recording, Run

PathLike = Union[str, "os.PathLike[str]"]


class TautWarning(UserWarning):
    """What a scene or a run should be told of."""


def run(
    what: "SceneLike | None" = None,
    out: "PathLike | None" = None,
    *,
    frames: Optional[int] = None,
    values: Optional[Values] = None,
    resume: bool = False,
    force: bool = False,
    threads: int = 0,
    progress: Optional[bool] = None,
    check: bool = False,
) -> "dict[str, Any]":
    """Simulates a scene into the folder ``out`` (``out/NAME`` by default) and gives its outcome.

    With ``resume`` a run that was stopped goes on, or begins if there is none. An existing run is only replaced with
    ``force``. ``threads`` are 0 for one per core; results do not depend on them. ``progress`` shows a bar: by default
    if tqdm is installed and somebody looks. Ctrl-C ends it after the frame that is computed, with a checkpoint: the
    outcome says ``"interrupted"``, and KeyboardInterrupt is raised. ``check`` raises :class:`ExpectationError` if an
    expectation of the scene is not met.

    >>> import tempfile, taut
    >>> folder = tempfile.mkdtemp()
    >>> taut.run("hanging-sheet", folder + "/run", frames=2)["status"]
    'done'
    """
    ended = _open(what, out, frames, values, resume, force, threads)
    for warning in ended.warnings:
        warnings.warn(warning, TautWarning, stacklevel=2)
    bar = _bar(ended, progress)
    try:
        while True:
            line = ended.advance()
            if line is None:
                break
            if bar is not None:
                bar.update(1)
    except KeyboardInterrupt:
        ended.finish(True)
        raise
    finally:
        if bar is not None:
            bar.close()
    outcome = ended.finish(False)
    if check and outcome["unmet"]:
        unmet = outcome["unmet"]
        raise ExpectationError("; ".join(unmet), unmet)
    return outcome


def _open(
    what: "SceneLike | None",
    out: "PathLike | None",
    frames: Optional[int],
    values: Optional[Values],
    resume: bool,
    force: bool,
    threads: int,
) -> Run:
    given = None
    if what is not None:
        more = dict(values or {})
        if frames is not None:
            more["scene.frames"] = frames
        given = scene(what, more)
    if out is None:
        if given is None:
            raise TypeError("run() needs a scene, or resume=True and the folder of a run")
        out = os.path.join("out", given.name)
    if resume and os.path.exists(os.path.join(os.fspath(out), "checkpoint", "manifest.json")):
        return Run.resume(os.fspath(out), given, frames if given is None else given.frames, threads)
    if given is None:
        raise TypeError("run() needs a scene: there is no run to resume")
    return Run.create(given, os.fspath(out), force, threads)


def _bar(of: Run, progress: Optional[bool]) -> Any:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise
        return None
    return tqdm(total=of.frames, initial=of.frame, unit="frame", desc=os.path.basename(os.fspath(of.out)))


def verify(out: PathLike, threads: int = 0) -> "dict[str, Any]":
    """Measures all frames of the run in ``out`` again, from its files alone. ``["failures"]`` is empty if all hold."""
    return _taut.verify(os.fspath(out), threads)


def export(
    out: PathLike,
    format: str,
    to: "PathLike | None" = None,
    *,
    frames: Optional[Tuple[int, int]] = None,
    force: bool = False,
) -> str:
    """Writes frames of the run in ``out`` as ``format`` (``"usd"``, ``"gltf"``, ``"obj"``, ``"npz"``, …) and gives the
    path."""
    return os.fspath(_taut.export(os.fspath(out), format, None if to is None else os.fspath(to), frames, force))


def recording(out: PathLike) -> Recording:
    """Opens the run in ``out`` to read its frames."""
    return Recording(os.fspath(out))
