"""What Python costs: a sheet of 33K triangles stepped, and positions of a million vertices read. The engine's own times
are those of the same calls, so that other programs on the machine slow both."""

import time

import numpy as np

import taut


def stepping(cells=128, frames=30):
    simulation = taut.Simulation()
    sheet = simulation.add_cloth("sheet", *taut.grid(cells=(cells, cells)), stretch=0.05, pins=[0, cells])
    simulation.step(5)
    outside, inside = 0.0, 0.0
    for _ in range(frames):
        begun = time.perf_counter()
        report = simulation.step()
        outside += time.perf_counter() - begun
        inside += sum(report[key] for key in ("velocity_ms", "limit_ms", "contact_ms", "position_ms")) / 1e3
    view = simulation.view_positions(sheet)
    print(f"{2 * cells * cells} triangles: {1e3 * outside / frames:.2f} ms a frame from Python, "
          f"{1e3 * inside / frames:.2f} ms in the engine's boxes: {100 * (outside / inside - 1):.2f} % more")
    return outside / inside - 1


def reading(cells=1000):
    # Nothing is limited or stepped: it is the reading that is looked at.
    simulation = taut.Simulation(scheme="sweep")
    sheet = simulation.add_cloth("sheet", *taut.grid(cells=(cells, cells)))
    begun = time.perf_counter()
    view = simulation.view_positions(sheet)
    viewed = time.perf_counter() - begun
    begun = time.perf_counter()
    copy = simulation.positions(sheet)
    copied = time.perf_counter() - begun
    assert view.base is not None and np.isfinite(view[::1000]).all()
    print(f"{len(copy)} vertices: a view in {1e6 * viewed:.0f} µs, a copy in {1e3 * copied:.1f} ms")


if __name__ == "__main__":
    stepping()
    reading()
