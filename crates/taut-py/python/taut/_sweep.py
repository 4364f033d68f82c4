"""Sweeps: one scene with the product of some values, process by process, here or on a Ray cluster."""

from __future__ import annotations

import csv
import itertools
import json
import os
import subprocess
import sys
from typing import Any, Callable, Mapping, Optional, Sequence

from ._errors import ParameterError
from ._run import PathLike, run
from ._scene import SceneLike, scene

_FIGURES = ("max_strain", "min_strain", "max_residual", "max_bend_excess", "max_penetration")


class Sweep:
    """What a sweep came to: a row for each run, in the order of the product."""

    def __init__(self, folder: str, keys: Sequence[str], rows: "list[dict[str, Any]]") -> None:
        self.folder = folder
        """Where the runs are, each in a folder of its own, with ``sweep.json`` and ``sweep.csv``."""
        self.keys = list(keys)
        """The keys that vary."""
        self.rows = rows
        """Of each run: its number, folder, values, status, and figures."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<taut.Sweep of {len(self.rows)} runs in {self.folder!r}>"


def sweep(
    what: SceneLike,
    vary: Mapping[str, Sequence[Any]],
    out: PathLike,
    *,
    frames: Optional[int] = None,
    jobs: int = 1,
    threads: int = 1,
    backend: str = "processes",
    progress: Optional[bool] = None,
) -> Sweep:
    """Runs a scene with every combination of values, and gives a table.

    ``vary`` maps keys of the scene to lists of values. Runs are in ``out/0000``, ``out/0001``, … and go on where they
    were stopped if the same sweep is begun again; those that are done are not repeated. ``jobs`` run side by side, each
    in a process of its own with so many ``threads``. ``backend="ray"`` gives them to the Ray cluster that is connected
    (or a local one): ``out`` must be a folder that all its machines share; a run whose worker dies goes on elsewhere
    from its last checkpoint.
    """
    if not vary or not all(len(list(values)) for values in vary.values()):
        raise ParameterError("vary needs at least one key, and each of them at least one value")
    keys = list(vary)
    folder = os.path.abspath(os.fspath(out))
    base = scene(what, {} if frames is None else {"scene.frames": frames})
    tasks = []
    for number, values in enumerate(itertools.product(*(vary[key] for key in keys))):
        given = dict(zip(keys, values))
        # Checked before anything runs: a wrong key or value is known at once.
        scene(base, given)
        place = os.path.join(folder, f"{number:04}")
        tasks.append((base.to_toml(), base.name, base.folder, given, place, threads))
    os.makedirs(folder, exist_ok=True)
    _check_same(folder, [task[3] for task in tasks])
    backends: "dict[str, Callable[..., list[dict[str, Any]]]]" = {"processes": _processes, "ray": _ray}
    if backend not in backends:
        raise ParameterError(f'backend is {backend!r}; must be "processes" or "ray"')
    outcomes = backends[backend](tasks, jobs, progress)
    rows = []
    for number, (task, outcome) in enumerate(zip(tasks, outcomes)):
        figures = outcome.get("figures", {})
        row: "dict[str, Any]" = {"run": number, "folder": f"{number:04}", **task[3], "status": outcome["status"]}
        row.update({key: _worst(figures[key]) for key in _FIGURES if key in figures})
        row["wall_seconds"] = outcome.get("wall_seconds")
        rows.append(row)
    _write(folder, keys, rows)
    return Sweep(folder, keys, rows)


def _worst(figure: Any) -> Any:
    return figure.get("value") if isinstance(figure, Mapping) else figure


def _check_same(folder: str, given: "list[dict[str, Any]]") -> None:
    """A folder belongs to one sweep."""
    path = os.path.join(folder, "values.json")
    text = json.dumps(given, default=str)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                raise ParameterError(f"{folder} contains a sweep of other values: choose another folder")
        return
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def _write(folder: str, keys: Sequence[str], rows: "list[dict[str, Any]]") -> None:
    for name in ("sweep.json", "sweep.csv"):
        part = os.path.join(folder, name + ".part")
        with open(part, "w", encoding="utf-8", newline="") as file:
            if name.endswith("json"):
                json.dump({"keys": list(keys), "runs": rows}, file, indent=2, default=str)
            else:
                columns = list(dict.fromkeys(column for row in rows for column in row))
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows(rows)
        os.replace(part, os.path.join(folder, name))


def _finished(out: str) -> "Optional[dict[str, Any]]":
    """The outcome of a run that is done."""
    try:
        with open(os.path.join(out, "outcome.json"), encoding="utf-8") as file:
            outcome: "dict[str, Any]" = json.load(file)
    except (OSError, ValueError):
        return None
    return outcome if outcome.get("status") in ("done", "expectation-failed") else None


def run_task(
    text: str, name: str, base_folder: str, given: "dict[str, Any]", out: str, threads: int
) -> "dict[str, Any]":
    """One run of a sweep, begun or resumed."""
    done = _finished(out)
    if done is not None:
        return done
    from ._taut import Scene

    base = Scene.parse(text, name, base_folder, [])
    return run(base, out, values=given, resume=True, threads=threads, progress=False)


def _processes(tasks: "list[Any]", jobs: int, progress: Optional[bool]) -> "list[dict[str, Any]]":
    waiting = [k for k in range(len(tasks)) if _finished(tasks[k][4]) is None]
    running: "dict[int, subprocess.Popen[bytes]]" = {}
    bar = _bar(len(tasks), len(tasks) - len(waiting), progress)
    try:
        while waiting or running:
            while waiting and len(running) < max(1, jobs):
                k = waiting.pop(0)
                command = [sys.executable, "-m", "taut._task"]
                running[k] = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                stdin = running[k].stdin
                assert stdin is not None
                with stdin:
                    stdin.write(json.dumps(tasks[k], default=_plain).encode())
                # What is closed is not to be written to again.
                running[k].stdin = None
            k = next(iter(running))
            child = running.pop(k)
            _, said = child.communicate()
            if child.returncode != 0:
                raise RuntimeError(f"run {tasks[k][4]} failed:\n{said.decode(errors='replace')}")
            if bar is not None:
                bar.update(1)
    except BaseException:
        for child in running.values():
            child.terminate()
        for child in running.values():
            child.wait()
        raise
    finally:
        if bar is not None:
            bar.close()
    outcomes = [_finished(task[4]) for task in tasks]
    return [outcome if outcome is not None else {"status": "failed"} for outcome in outcomes]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


def _ray(tasks: "list[Any]", jobs: int, progress: Optional[bool]) -> "list[dict[str, Any]]":
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=max(1, jobs))
    threads = tasks[0][5]
    # A worker that dies takes nothing with it: the next one goes on from the checkpoint in the shared folder.
    remote = ray.remote(num_cpus=max(1, threads), max_retries=8)(run_task)
    pending = {remote.remote(*task): k for k, task in enumerate(tasks)}
    outcomes: "list[dict[str, Any]]" = [{} for _ in tasks]
    bar = _bar(len(tasks), 0, progress)
    while pending:
        done, _ = ray.wait(list(pending), num_returns=1)
        outcomes[pending.pop(done[0])] = ray.get(done[0])
        if bar is not None:
            bar.update(1)
    if bar is not None:
        bar.close()
    return outcomes


def _bar(total: int, initial: int, progress: Optional[bool]) -> Any:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, initial=initial, unit="run", desc="sweep")
