"""What taut raises."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple


class Problem(NamedTuple):
    """One problem of a scene or a file."""

    file: Optional[str]
    """The file; none for a built-in scene, a dictionary or an override."""
    line: Optional[int]
    """The line in it, from 1."""
    key: Optional[str]
    """The key of the scene, or the element of a mesh."""
    message: str
    """What is wrong, and what would be right."""


class Error(Exception):
    """Whatever taut refuses. All other exceptions of this module are kinds of it."""


class SceneError(Error, ValueError):
    """A scene, a mesh file or a run folder is not what it should be. ``problems`` lists all that is wrong."""

    problems: "list[Problem]"

    def __init__(
        self,
        message: str,
        problems: Sequence[Tuple[Optional[str], Optional[int], Optional[str], str]] = (),
    ) -> None:
        super().__init__(message)
        self.problems = [Problem(*problem) for problem in problems]


class ParameterError(Error, ValueError):
    """An argument is out of range, or an array has another shape or kind than it should."""


class VertexError(Error, IndexError):
    """There is no such vertex, or no such frame."""


class StaleHandleError(Error, LookupError):
    """What was named has been removed, or belongs to another simulation."""


class UnsupportedError(Error, TypeError):
    """What a body or an obstacle of this kind cannot do."""


class InUseError(Error, BufferError):
    """An array that views the simulation is in use, so that it must not change."""


class ForkError(Error, RuntimeError):
    """A simulation was used in a process that was forked after it was made."""


class RunFolderError(Error, OSError):
    """A run folder or a file cannot be written, or contains something else."""


class ExpectationError(Error, AssertionError):
    """A run does not meet what its scene expects. ``unmet`` lists what."""

    unmet: "list[str]"

    def __init__(self, message: str, unmet: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.unmet = list(unmet)
