"""The studio, inline in a notebook or in a browser."""

from __future__ import annotations

import os
from html import escape
from typing import Any, Mapping, Optional

from ._scene import SceneLike, Values, to_toml, value
from ._taut import Scene, Studio


class View:
    """A studio that shows a scene or a run, until it is closed. A notebook shows it inline."""

    def __init__(self, studio: Studio, height: int, keep: Any = None) -> None:
        self._studio = studio
        self._height = height
        self._keep = keep

    @property
    def url(self) -> Optional[str]:
        """The address of its page; none once it is closed."""
        return self._studio.url

    def close(self) -> None:
        """Ends it."""
        self._studio.close()

    def __enter__(self) -> "View":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        url = self.url
        if url is None:
            return "<p>closed</p>"
        return f'<iframe src="{escape(url)}" width="100%" height="{self._height}" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<taut.View {self.url or 'closed'}>"


def view(
    what: SceneLike,
    values: "Values | None" = None,
    *,
    height: int = 600,
    port: Optional[int] = None,
    threads: int = 0,
    playing: bool = True,
) -> View:
    """Shows a scene, simulated as one looks on, or a run folder, on a port of its own. The page is drawn by the
    browser of the machine that it runs on."""
    overrides = [f"{key}={value(given)}" for key, given in (values or {}).items()]
    keep = None
    if isinstance(what, (Scene, Mapping)):
        import tempfile

        keep = tempfile.TemporaryDirectory(prefix="taut-")
        path = os.path.join(keep.name, "scene.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(what.to_toml() if isinstance(what, Scene) else to_toml(what))
        what = path
    return View(Studio(os.fspath(what), overrides, port, threads, playing), height, keep)
