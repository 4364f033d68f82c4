"""The package as its users meet it."""

import json
import os
import pickle
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import taut


def hanging(cells=12, **more):
    simulation = taut.Simulation(threads=1)
    sheet = simulation.add_cloth("sheet", *taut.grid(cells=(cells, cells)), stretch=0.05, pins=[0, cells], **more)
    return simulation, sheet


class Simulations(unittest.TestCase):
    def test_a_sheet_hangs_within_its_limit(self):
        simulation, sheet = hanging()
        x, triangles = taut.grid(cells=(12, 12))
        simulation.step(60)
        now = simulation.positions(sheet).astype(float)
        self.assertLess(now[:, 1].min(), -0.5)
        rest, moved = x[triangles].astype(float), now[triangles]
        # The largest singular value of the deformation gradient of each triangle.
        for k in range(len(triangles)):
            e, f = rest[k, 1:] - rest[k, 0], moved[k, 1:] - moved[k, 0]
            basis = np.linalg.qr(e.T)[0]
            gradient = f.T @ np.linalg.inv((e @ basis).T)
            self.assertLess(np.linalg.svd(gradient, compute_uv=False)[0], 1.05 + 1e-5)
        self.assertEqual(simulation.frame, 60)
        self.assertAlmostEqual(simulation.time, 1.0, places=4)

    def test_results_do_not_depend_on_threads(self):
        ends = []
        for threads in (1, 2):
            simulation = taut.Simulation(threads=threads)
            sheet = simulation.add_cloth("sheet", *taut.grid(cells=(24, 24)), stretch=0.02, pins=[0, 24])
            simulation.step(12)
            ends.append(simulation.positions(sheet))
        np.testing.assert_array_equal(*ends)

    def test_what_rust_steps_python_steps(self):
        """From a scene the frames are those of the program."""
        with TemporaryDirectory() as folder:
            taut.run("hanging-sheet", f"{folder}/run", frames=5, progress=False)
            wanted = np.load(f"{folder}/run/frames/sheet.0005.npy")
        simulation = taut.Simulation.from_scene(taut.scene("hanging-sheet"))
        simulation.step(5)
        np.testing.assert_array_equal(simulation.positions(simulation.body("sheet")), wanted)

    def test_arrays_of_any_kind_are_taken_or_refused_by_name(self):
        x, t = taut.grid(cells=(4, 4))
        simulation = taut.Simulation(threads=1)
        wide = np.zeros((len(x), 6), np.float32)
        wide[:, ::2] = x
        for k, (positions, triangles) in enumerate(
            [(x.astype(float), t.astype(np.int64)), (x.tolist(), t.tolist()), (wide[:, ::2], np.asfortranarray(t))]
        ):
            body = simulation.add_cloth(f"sheet-{k}", positions, triangles)
            np.testing.assert_allclose(simulation.positions(body), x, atol=1e-3)
        for positions, triangles, said in [
            (x[:, :2], t, r"positions must be .*\(n, 3\); it is of shape \(25, 2\)"),
            (x.ravel(), t, r"positions .* of shape \(75,\)"),
            (np.array(["a"]), t, r"positions .* of dtype"),
            (object(), t, r"positions must be"),
            (x, t.astype(float), r"triangles must be an array of integers.*float64"),
            (x, t[:, :2], r"triangles .*\(n, 3\)"),
            (x, t.astype(np.int64) - 1, r"triangles\[\d+\] names vertex -1"),
            (x, t + 99, "vertex"),
            (x * np.nan, t, "finite"),
        ]:
            with self.assertRaisesRegex(taut.Error, said):
                simulation.add_cloth("bad", positions, triangles)
        self.assertEqual(len(simulation.bodies), 3)

    def test_out_is_written_to_or_refused(self):
        simulation, sheet = hanging()
        out = np.empty((169, 3), np.float32)
        self.assertIs(simulation.positions(sheet, out), out)
        np.testing.assert_array_equal(out, simulation.positions(sheet))
        with self.assertRaisesRegex(taut.ParameterError, r"\(169, 3\)"):
            simulation.positions(sheet, np.empty((9, 3), np.float32))
        out.flags.writeable = False
        with self.assertRaises(taut.InUseError):
            simulation.positions(sheet, out)
        with self.assertRaises(TypeError):
            simulation.positions(sheet, np.empty((169, 3)))

    def test_a_view_is_the_memory_itself_and_keeps_it(self):
        simulation, sheet = hanging()
        simulation.step(3)
        view = simulation.view_positions(sheet)
        self.assertFalse(view.flags.owndata)
        self.assertFalse(view.flags.writeable)
        self.assertEqual(view.strides, (16, 4))
        np.testing.assert_array_equal(view[simulation.order(sheet)], simulation.positions(sheet))
        again = simulation.view_positions(sheet)
        self.assertEqual(view.__array_interface__["data"], again.__array_interface__["data"])
        part = view[3:5]
        del view, again
        for change in [
            simulation.step,
            simulation.reset,
            lambda: simulation.remove(sheet),
            lambda: simulation.set_gravity((0, 0, 0)),
            lambda: simulation.pin(sheet, 3),
        ]:
            with self.assertRaisesRegex(taut.InUseError, "view"):
                change()
        kept = part.copy()
        del simulation
        # The view keeps what it shows.
        np.testing.assert_array_equal(part, kept)
        simulation, sheet = hanging()
        del part
        simulation.step()

    def test_handles_go_stale_and_belong_to_one_simulation(self):
        simulation, sheet = hanging()
        other, theirs = hanging()
        for body in (theirs,):
            with self.assertRaisesRegex(taut.StaleHandleError, "another simulation"):
                simulation.positions(body)
        simulation.remove(sheet)
        with self.assertRaises(taut.StaleHandleError):
            simulation.positions(sheet)
        with self.assertRaises(LookupError):
            simulation.remove(sheet)
        ball = other.add_sphere((0, -1, 0), 0.2)
        with self.assertRaises(taut.StaleHandleError):
            simulation.set_pose(ball, (0, 0, 0))
        with self.assertRaises(taut.UnsupportedError):
            other.rigid_body(ball)
        with self.assertRaises(taut.UnsupportedError):
            other.remove("ball")

    def test_obstacles_are_moved_and_rigid_bodies_fall(self):
        simulation = taut.Simulation(threads=1, thickness=0.004)
        sheet = simulation.add_cloth(
            "sheet", *taut.grid(cells=(16, 16)), stretch=0.05, pins=[0, 16, 16 * 17, 17 * 17 - 1]
        )
        ball = simulation.add_sphere((0.5, 0.3, 0.5), 0.1, mass=0.2)
        plate = simulation.add_box((5, 0, 0), (1, 1, 1))
        simulation.set_pose(plate, (5, 1, 0), (0, 0, 0, 1))
        simulation.step(45)
        (_, y, _), rotation, _, _ = simulation.rigid_body(ball)
        self.assertLess(y, 0.3)
        self.assertEqual(len(rotation), 4)
        self.assertLess(simulation.certificate(sheet)["max_stretch"], 1.05001)
        with self.assertRaises(taut.UnsupportedError):
            simulation.set_pose(ball, (0, 0, 0))
        with self.assertRaisesRegex(taut.ParameterError, "quaternion"):
            simulation.set_pose(plate, (0, 0, 0), (0, 0, 0, 0))

    def test_grips_pull_and_pins_hold(self):
        simulation, sheet = hanging()
        grip = simulation.grip(sheet, (168, 167, 155), (1, 0, 0))
        simulation.move_grip(grip, (0.5, -0.4, 0.6))
        simulation.step(30)
        self.assertLess(np.linalg.norm(simulation.positions(sheet)[168] - (0.5, -0.4, 0.6)), 0.2)
        simulation.release(grip)
        with self.assertRaises(taut.StaleHandleError):
            simulation.release(grip)
        simulation.pin(sheet, 168, (0.9, -0.5, 0.3))
        simulation.step(5)
        np.testing.assert_allclose(simulation.positions(sheet)[168], (0.9, -0.5, 0.3), atol=1e-5)
        with self.assertRaises(taut.VertexError):
            simulation.pin(sheet, 169)

    def test_cloth_tears_and_says_so(self):
        simulation, sheet = hanging(tear=0.02)
        simulation.set_stretch_limit(sheet, None)
        simulation.set_stiffness(sheet, 0.01)
        torn = []
        for _ in range(60):
            simulation.step()
            torn += [event for event in simulation.events() if event["kind"] == "torn"]
        self.assertTrue(torn)
        self.assertEqual(torn[0]["body"], sheet)
        self.assertEqual(simulation.triangles(sheet).max() + 1, len(simulation.positions(sheet)))

    def test_developable_cloth_shows_its_vertices(self):
        x, t = taut.grid(size=(0.3, 0.2), cells=(12, 8), diagonals="regular")
        simulation = taut.Simulation(threads=1)
        sheet = simulation.add_cloth("sheet", x, t, material="denim", pins=[0, 12], model="developable")
        np.testing.assert_allclose(simulation.positions(sheet), x, atol=1e-3)
        np.testing.assert_array_equal(simulation.triangles(sheet), t)
        simulation.step(10)
        self.assertLess(simulation.certificate(sheet)["max_stretch"], 1.001 + 1e-5)
        with self.assertRaises(taut.UnsupportedError):
            simulation.view_positions(sheet)
        with self.assertRaisesRegex(taut.ParameterError, "developable"):
            simulation.add_cloth("other", x, t, model="paper")

    def test_settings_are_refused_by_name(self):
        for settings, said in [
            (dict(scheme="best"), "scheme is 'best'|scheme is \"best\""),
            (dict(gravity=(0, np.nan, 0)), "gravity"),
            (dict(dt=0), "time step|frame"),
            (dict(thickness=-1), "thickness"),
            (dict(friction=np.nan), "friction"),
            (dict(wind=(np.inf, 0, 0)), "wind"),
        ]:
            with self.assertRaisesRegex(taut.Error, said):
                taut.Simulation(**settings)
        simulation, sheet = hanging()
        with self.assertRaisesRegex(taut.ParameterError, "denim"):
            simulation.set_material(sheet, "adamant")
        with self.assertRaises(taut.Error):
            simulation.set_stretch_limit(sheet, (0.5, -0.5))
        with self.assertRaises(taut.Error):
            simulation.step(dt=-1)

    def test_threads_wait_for_each_other(self):
        simulation, sheet = hanging(24)
        heights = []

        def look():
            for _ in range(50):
                heights.append(simulation.positions(sheet)[:, 1].min())

        threads = [threading.Thread(target=simulation.step, args=(10,)) for _ in range(2)]
        threads.append(threading.Thread(target=look))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(simulation.frame, 20)
        self.assertEqual(len(heights), 50)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_fork_is_refused(self):
        simulation, _ = hanging()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                simulation.step()
                os.write(write, b"stepped")
            except taut.ForkError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertIn("spawn", os.read(read, 1000).decode())
        simulation.step()

    def test_everything_is_documented(self):
        for name in taut.__all__:
            found = getattr(taut, name)
            if not callable(found) or name == "SceneLike":
                continue
            self.assertTrue(found.__doc__, name)
            for member in vars(found) if isinstance(found, type) else ():
                if not member.startswith("_") and callable(getattr(found, member)):
                    self.assertTrue(getattr(found, member).__doc__, f"{name}.{member}")

    def test_stubs_name_what_there_is(self):
        from taut import _taut

        stubs = (Path(taut.__file__).parent / "_taut.pyi").read_text()
        for name in dir(_taut):
            if not name.startswith("__"):
                self.assertRegex(stubs, rf"(class|def) {name}\b", name)
        classes = re.findall(r"class (\w+):\n((?:    .*\n|\n)*)", stubs)
        for name, body in classes:
            wanted = set(re.findall(r"    def (\w+)\(", body)) - {"__new__", "__hash__", "__eq__"}
            found = {member for member in dir(getattr(_taut, name)) if not member.startswith("_")}
            self.assertEqual(wanted, found, name)


class Scenes(unittest.TestCase):
    def test_scenes_come_from_names_paths_and_dictionaries(self):
        self.assertIn("hanging-sheet", taut.scenes())
        built_in = taut.scene("hanging-sheet", {"scene.frames": 7, "cloth.sheet.strain.max": 0.02})
        self.assertEqual(built_in.frames, 7)
        self.assertIn("0.02", built_in.to_toml())
        given = {
            "scene": {"frames": 3},
            "cloth": [
                {
                    "name": "flag",
                    "mesh": {"grid": {"size": [1.0, 1.0], "cells": [8, 8]}},
                    "strain": {"max": 0.1},
                    "pin": [{"select": "corner:top"}],
                }
            ],
        }
        with self.assertRaises(taut.SceneError) as caught:
            taut.scene({**given, "cloth": [{**given["cloth"][0], "strain": {"max": -1}}]})
        self.assertIn("strain.max", str(caught.exception))
        self.assertIsInstance(caught.exception.problems[0].line, int)
        given["cloth"][0]["pin"] = [{"select": "box:-1,-1,-1,0.001,1,1"}]
        scene = taut.scene(given)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "flag.toml"
            path.write_text(scene.to_toml())
            self.assertEqual(taut.scene(path).name, "flag")
            self.assertEqual(taut.run(path, Path(folder) / "out", progress=False)["status"], "done")
        with self.assertRaises(taut.SceneError):
            taut.scene("no-such-scene")
        with self.assertRaises(taut.ParameterError):
            taut.scene(3)

    def test_scenes_pickle(self):
        for scene in (taut.scene("flag", {"scene.frames": 9}), taut.scene({"scene": {"frames": 2}, "cloth": [
            {"name": "sheet", "mesh": {"grid": {"size": [1.0, 1.0], "cells": [2, 2]}}}]})):
            again = pickle.loads(pickle.dumps(scene))
            self.assertEqual((again.to_toml(), again.name), (scene.to_toml(), scene.name))


class Runs(unittest.TestCase):
    def test_a_run_is_recorded_verified_drawn_and_exported(self):
        with TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            outcome = taut.run("hanging-sheet", out, frames=6, progress=False)
            self.assertEqual(outcome["frames"], 6)
            with self.assertRaisesRegex(taut.RunFolderError, "run"):
                taut.run("hanging-sheet", out, frames=6, progress=False)
            self.assertEqual(taut.verify(out)["failures"], [])
            recording = taut.recording(out)
            self.assertEqual((recording.bodies, recording.last_frame), (["sheet"], 6))
            x = recording.positions("sheet", 6)
            np.testing.assert_array_equal(x, np.load(out / "frames" / "sheet.0006.npy"))
            self.assertEqual(recording.triangles("sheet").shape[1], 3)
            self.assertEqual(len(recording.metrics()), 7)
            with self.assertRaises(taut.VertexError):
                recording.positions("sheet", 7)
            with self.assertRaises(taut.StaleHandleError):
                recording.positions("shirt", 0)
            picture = taut.render(out, size=(160, 90))
            self.assertEqual((picture.shape, picture.dtype), ((90, 160, 3), np.uint8))
            self.assertGreater(picture.std(), 5)
            taut.render(out, out / "last.png", size=(160, 90), color="strain")
            self.assertEqual((out / "last.png").read_bytes()[:4], b"\x89PNG")
            taut.render(out, out / "all.gif", size=(80, 45))
            self.assertEqual((out / "all.gif").read_bytes()[:3], b"GIF")
            with self.assertRaisesRegex(taut.ParameterError, "png"):
                taut.render(out, out / "all.bmp")
            with self.assertRaises(taut.ParameterError):
                taut.render(out, size=(0, 5))
            written = taut.export(out, "npz", Path(folder) / "all.npz")
            self.assertIn("sheet/positions", np.load(written).files)
            with self.assertRaisesRegex(taut.ParameterError, "usd"):
                taut.export(out, "docx")

    def test_runs_go_on_where_they_were_stopped(self):
        with TemporaryDirectory() as folder:
            whole, parts = f"{folder}/whole", f"{folder}/parts"
            taut.run("hanging-sheet", whole, frames=8, progress=False)
            taut.run("hanging-sheet", parts, frames=3, progress=False)
            taut.run("hanging-sheet", parts, frames=8, resume=True, progress=False)
            for frame in range(9):
                one, two = [Path(p) / "frames" / f"sheet.{frame:04}.npy" for p in (whole, parts)]
                self.assertEqual(one.read_bytes(), two.read_bytes(), frame)
            with self.assertRaisesRegex(taut.SceneError, "different scene"):
                taut.run("flag", parts, resume=True, progress=False)

    def test_expectations_are_checked_if_asked(self):
        with TemporaryDirectory() as folder:
            values = {"expect.max_strain": 1e-6}
            outcome = taut.run("hanging-sheet", f"{folder}/a", frames=3, values=values, progress=False)
            self.assertEqual(outcome["status"], "expectation-failed")
            with self.assertRaises(taut.ExpectationError) as caught:
                taut.run("hanging-sheet", f"{folder}/b", frames=3, values=values, progress=False, check=True)
            self.assertTrue(caught.exception.unmet)

    def test_ctrl_c_leaves_a_run_that_can_be_resumed(self):
        code = "import sys, taut; print('go', flush=True); taut.run('hanging-sheet', sys.argv[1], frames=4000)"
        with TemporaryDirectory() as folder:
            out = f"{folder}/run"
            child = subprocess.Popen([sys.executable, "-c", code, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.readline()
            while not (Path(out) / "frames" / "sheet.0003.npy").exists():
                self.assertIsNone(child.poll())
            child.send_signal(2)
            _, said = child.communicate(timeout=120)
            self.assertIn(b"KeyboardInterrupt", said)
            outcome = json.loads((Path(out) / "outcome.json").read_text())
            self.assertEqual(outcome["status"], "interrupted")
            frames = outcome["frames"]
            self.assertEqual(taut.run(None, out, frames=frames + 1, resume=True, progress=False)["frames"], frames + 1)


class Filters(unittest.TestCase):
    def test_velocities_keep_the_limits(self):
        x, t = taut.grid(cells=(8, 8))
        masses = np.full(81, 0.01)
        masses[[0, 8]] = 0
        held = taut.VelocityFilter(x, t, masses, stretch=0.05)
        v = np.zeros_like(x)
        v[:, 1] = -3
        v[[0, 8]] = 0
        new, report = held.apply(x, v, 1 / 30)
        self.assertTrue(report["converged"])
        self.assertLess(report["strain"]["max_stretch"], 1.0501)
        np.testing.assert_array_equal(new[[0, 8]], 0)
        with self.assertRaisesRegex(taut.ParameterError, "81"):
            held.apply(x, v[:5], 1 / 30)
        with self.assertRaises(taut.ParameterError):
            held.apply(x, v * np.nan, 1 / 30)
        with self.assertRaises(taut.VertexError):
            held.set_held(81, True)


class Sweeps(unittest.TestCase):
    def test_a_sweep_is_the_product_of_its_values(self):
        with TemporaryDirectory() as folder:
            vary = {"cloth.sheet.strain.max": [0.01, 0.1], "scene.gravity": [[0.0, -9.81, 0.0], [0.0, -1.0, 0.0]]}
            found = taut.sweep("hanging-sheet", vary, folder, frames=4, jobs=2)
            # What the scene expects of its own gravity does not hold with less of it.
            self.assertTrue(all(row["status"] in ("done", "expectation-failed") for row in found), found.rows)
            self.assertEqual([row["cloth.sheet.strain.max"] for row in found], [0.01, 0.01, 0.1, 0.1])
            for row in found:
                self.assertLess(row["max_strain"], row["cloth.sheet.strain.max"] + 1e-5)
                alone = taut.run("hanging-sheet", Path(folder) / "alone", frames=4, force=True, progress=False, values={
                    key: row[key] for key in vary})
                last = [Path(folder) / run / "frames" / "sheet.0004.npy" for run in (row["folder"], "alone")]
                self.assertEqual(last[0].read_bytes(), last[1].read_bytes())
                self.assertEqual(alone["status"], row["status"])
            self.assertEqual(len((Path(folder) / "sweep.csv").read_text().splitlines()), 5)
            times = [os.stat(Path(folder) / row["folder"] / "outcome.json").st_mtime_ns for row in found]
            again = taut.sweep("hanging-sheet", vary, folder, frames=4)
            self.assertEqual(
                times, [os.stat(Path(folder) / row["folder"] / "outcome.json").st_mtime_ns for row in again])
            with self.assertRaisesRegex(taut.ParameterError, "other values"):
                taut.sweep("hanging-sheet", {"cloth.sheet.strain.max": [0.5]}, folder, frames=4)
            with self.assertRaises(taut.SceneError):
                taut.sweep("hanging-sheet", {"cloth.sheet.strain.max": [-3]}, Path(folder) / "x", frames=4)


class Studios(unittest.TestCase):
    def test_a_studio_runs_until_it_is_closed(self):
        import urllib.request

        try:
            shown = taut.view("hanging-sheet", threads=1, playing=False)
        except taut.UnsupportedError:
            self.skipTest("built without the page")
        with shown:
            self.assertIn("<iframe", shown._repr_html_())
            page = urllib.request.urlopen(shown.url, timeout=20).read()
            self.assertIn(b"<html", page.lower())
        self.assertIsNone(shown.url)


if __name__ == "__main__":
    unittest.main()
