"""A sweep on a local Ray cluster with two workers, one of which is killed half-way: the results are those of a serial
sweep, bit for bit. `python tests/ray_sweep.py`"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import ray
import taut

VARY = {"cloth.sheet.strain.max": [0.01, 0.02, 0.05, 0.1], "scene.gravity": [[0.0, -g, 0.0] for g in (1.0, 3.0, 6.0, 9.81)]}
FRAMES = 40


def workers():
    """Processes that do a run now."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if name.isdigit() and file.read().startswith(b"ray::run_task"):
                    found.append(int(name))
        except OSError:
            pass
    return found


def kill_one(folder, killed):
    """Kills a worker in the middle of a run, when half of all are done."""
    while len(list(folder.glob("*/outcome.json"))) < 8:
        time.sleep(0.02)
    while not killed:
        for worker in workers()[:1]:
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)
        time.sleep(0.01)


def main():
    with TemporaryDirectory() as place:
        serial, shared = Path(place) / "serial", Path(place) / "shared"
        taut.sweep("hanging-sheet", VARY, serial, frames=FRAMES, progress=False)
        shared.mkdir()
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        killed = []
        killer = threading.Thread(target=kill_one, args=(shared, killed), daemon=True)
        killer.start()
        found = taut.sweep("hanging-sheet", VARY, shared, frames=FRAMES, backend="ray", progress=False)
        ray.shutdown()
        assert killed, "no worker was killed"
        assert [row["status"] for row in found] == ["done"] * 16, found.rows
        for run in range(16):
            for frame in range(FRAMES + 1):
                one, two = [p / f"{run:04}" / "frames" / f"sheet.{frame:04}.npy" for p in (serial, shared)]
                assert one.read_bytes() == two.read_bytes(), (run, frame)
        print(f"16 runs over 2 workers, of which {killed[0]} was killed: as the serial ones")


if __name__ == "__main__":
    sys.exit(main())
