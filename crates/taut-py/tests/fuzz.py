"""Random calls with right and wrong arguments: exceptions of taut or of Python's own kinds, no crash, and memory that
does not grow. `python tests/fuzz.py CALLS SEED`."""

import gc
import random
import sys

import numpy as np

import taut

ALLOWED = (taut.Error, TypeError, ValueError, OverflowError)
WILD = [0, -1, 3, 1 << 40, 1e30, -1e-30, float("nan"), float("inf"), None, "x", b"y", (), (1,), (1, 2, 3), [0.1] * 3, {},
        (0, 0, 0, 1), np.zeros((3, 3)), np.zeros((0, 3), np.float32), np.arange(9), np.full((4, 3), np.nan), object(), True]


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


class Fuzz:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.begin()

    def begin(self):
        self.simulation = taut.Simulation(threads=1, thickness=self.random.choice([0.0, 0.005]))
        self.bodies, self.obstacles, self.grips, self.views = [], [], [], []
        self.filter = None

    def any(self, right):
        """What is right, or now and then something else."""
        return self.random.choice(WILD) if self.random.random() < 0.15 else right()

    def vector(self):
        return tuple(self.random.uniform(-1, 1) for _ in range(3))

    def mesh(self):
        cells = self.random.randint(1, 5)
        return taut.grid(cells=(cells, cells), diagonals=self.random.choice(["regular", "jittered", "delaunay"]))

    def body(self):
        return self.any(lambda: self.random.choice(self.bodies) if self.bodies else None)

    def obstacle(self):
        return self.any(lambda: self.random.choice(self.obstacles) if self.obstacles else None)

    def limit(self):
        return self.any(lambda: self.random.choice([None, 0.05, (-0.1, 0.1), (None, 0.3), (-0.05, None)]))

    def call(self):
        s, r = self.simulation, self.random
        n = lambda: self.any(lambda: r.randrange(40))
        v = lambda: self.any(self.vector)
        f = lambda low, high: self.any(lambda: r.uniform(low, high))

        def add():
            if len(self.bodies) > 3:
                return
            x, t = self.mesh()
            self.bodies.append(s.add_cloth(self.any(lambda: f"b{r.random()}"), self.any(lambda: x), self.any(lambda: t),
                                           stretch=self.limit(), bend=self.limit(), pins=self.any(lambda: [0]),
                                           velocity=v(), tear=self.any(lambda: r.choice([None, 0.2]))))

        def add_ball():
            if len(self.obstacles) > 3:
                return
            self.obstacles.append(s.add_sphere(v(), f(0.01, 0.2), mass=self.any(lambda: r.choice([None, 0.1]))))

        def look():
            if len(self.views) < 3:
                self.views.append(s.view_positions(self.body()))

        def forget():
            self.views.clear()

        def remove():
            what = r.choice([self.body, self.obstacle])()
            s.remove(what)
            for known in (self.bodies, self.obstacles):
                if what in known:
                    known.remove(what)

        def filtered():
            if self.filter is None or r.random() < 0.1:
                x, t = self.mesh()
                self.filter = (taut.VelocityFilter(x, t, np.full(len(x), 0.01), stretch=self.limit()), x)
            held, x = self.filter
            held.apply(self.any(lambda: x), self.any(lambda: x * 0 - 1), f(0.001, 0.05))

        calls = [
            (add, 3), (add_ball, 1), (look, 2), (forget, 4), (remove, 1), (filtered, 3),
            (lambda: s.step(self.any(lambda: 1), budget_ms=self.any(lambda: 1.0)), 6),
            (lambda: s.step(dt=f(0.001, 0.05)), 1),
            (lambda: s.positions(self.body()), 6),
            (lambda: s.velocities(self.body()), 2),
            (lambda: s.order(self.body()), 1),
            (lambda: s.triangles(self.body()), 1),
            (lambda: s.name(self.body()), 1),
            (lambda: s.body(self.any(lambda: "b")), 1),
            (lambda: s.pin(self.body(), n(), v()), 3),
            (lambda: s.unpin(self.body(), n()), 1),
            (lambda: self.grips.append(s.grip(self.body(), self.any(lambda: (0, 1, 2)), v(), f(1, 100))), 1),
            (lambda: s.move_grip(self.any(lambda: r.choice(self.grips or [None])), v()), 1),
            (lambda: s.release(self.any(lambda: self.grips.pop() if self.grips else None)), 1),
            (lambda: s.set_pose(self.obstacle(), v(), self.any(lambda: (0, 0, 0, 1))), 2),
            (lambda: s.rigid_body(self.obstacle()), 1),
            (lambda: s.set_stretch_limit(self.body(), self.limit()), 1),
            (lambda: s.set_bend_limit(self.body(), self.limit()), 1),
            (lambda: s.set_material(self.body(), self.any(lambda: r.choice(["silk", "denim"]))), 1),
            (lambda: s.set_stiffness(self.body(), f(0.1, 3)), 1),
            (lambda: s.set_pressure(self.body(), f(0, 100)), 1),
            (lambda: s.set_tear(self.body(), f(0.1, 1)), 1),
            (lambda: s.set_velocity(self.body(), v()), 1),
            (lambda: s.set_gravity(v()), 1),
            (lambda: s.set_wind(v()), 1),
            (lambda: s.certificate(self.body()), 1),
            (lambda: s.certificate(), 1),
            (lambda: s.events(), 2),
            (lambda: s.reset(), 1),
            (lambda: taut.scene(self.any(lambda: "hanging-sheet"), {"scene.frames": n()}), 1),
            (lambda: taut.grid(self.any(lambda: (1, 1)), self.any(lambda: (2, 2))), 1),
        ]
        what = r.choices([call for call, _ in calls], [weight for _, weight in calls])[0]
        what()


def main(calls, seed):
    fuzz = Fuzz(seed)
    refused, grown = 0, []
    for k in range(calls):
        if k % 2000 == 0:
            fuzz.begin()
            gc.collect()
            grown.append(memory())
        try:
            fuzz.call()
        except ALLOWED:
            refused += 1
    # What the first rounds take is the allocator's.
    early, late = max(grown[: max(2, len(grown) // 4)]), grown[-1]
    print(f"{calls} calls, {refused} refused; {early / 1e6:.0f} MB early, {late / 1e6:.0f} MB late")
    assert refused > calls // 50 and calls - refused > calls // 3
    assert late < 1.3 * early + 20e6, grown


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20000, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
