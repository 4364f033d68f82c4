"""taut: cloth, soft solids and hair that hold their limits: soft up to a chosen stretch, and not beyond.

>>> import taut
>>> simulation = taut.Simulation()
>>> sheet = simulation.add_cloth("sheet", *taut.grid(cells=(16, 16)), stretch=0.05, pins=[0, 16])
>>> report = simulation.step(10)
>>> simulation.positions(sheet).shape
(289, 3)
>>> simulation.certificate(sheet)["violations"]
0

Scenes are run into folders, verified, drawn and exported with :func:`run`, :func:`verify`, :func:`render` and
:func:`export`; :class:`Recording` reads them. Limits for another simulator are a :class:`VelocityFilter`.
"""

from ._errors import (
    Error,
    ExpectationError,
    ForkError,
    InUseError,
    ParameterError,
    Problem,
    RunFolderError,
    SceneError,
    StaleHandleError,
    UnsupportedError,
    VertexError,
)
from ._run import TautWarning, export, recording, run, verify
from ._scene import SceneLike, scene, scenes
from ._sweep import Sweep, sweep
from ._taut import (
    Body,
    Grip,
    Obstacle,
    Recording,
    Run,
    Scene,
    Simulation,
    Studio,
    VelocityFilter,
    __version__,
    grid,
    materials,
    read_mesh,
    render,
    schema,
)
from ._view import View, view

__all__ = [
    "Body",
    "Error",
    "ExpectationError",
    "ForkError",
    "Grip",
    "InUseError",
    "Obstacle",
    "ParameterError",
    "Problem",
    "Recording",
    "Run",
    "RunFolderError",
    "Scene",
    "SceneError",
    "SceneLike",
    "Simulation",
    "StaleHandleError",
    "Studio",
    "Sweep",
    "TautWarning",
    "UnsupportedError",
    "VelocityFilter",
    "VertexError",
    "View",
    "__version__",
    "export",
    "grid",
    "materials",
    "read_mesh",
    "recording",
    "render",
    "run",
    "scene",
    "scenes",
    "schema",
    "sweep",
    "verify",
    "view",
]
