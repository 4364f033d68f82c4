#!/usr/bin/env python3
"""Hashes every frame of every built-in scene under every scheme that runs it, so that two builds can be compared bit for bit.

    scripts/frame_hashes.py --taut target/release/taut --out before.json
    scripts/frame_hashes.py --taut target/release/taut --out after.json --against before.json

With --against, lists every scene and scheme whose frames differ and exits 1 if there is one. A scheme that refuses a scene
is recorded as refused: an engine that suddenly accepts or refuses one is a difference too.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

SCHEMES = ["nearest", "cycle", "paper", "sweep", "serial", "jacobi"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--taut", required=True, help="the program to run")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="file to write the hashes into (JSON)")
    parser.add_argument("--against", type=pathlib.Path, help="file of hashes to compare with")
    parser.add_argument("--frames", type=int, default=30, help="frames of each run (default: %(default)s)")
    parser.add_argument("--scenes", help="names separated by commas (default: all built-in scenes)")
    parser.add_argument("--schemes", default=",".join(SCHEMES), help="schemes separated by commas (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side, each on one thread (default: %(default)s)")
    parser.add_argument("--most", type=float, default=600.0, help="seconds that a run may take before it is left out")
    args = parser.parse_args()

    scenes = args.scenes.split(",") if args.scenes else built_in_scenes(args.taut)
    cases = [(scene, scheme) for scheme in args.schemes.split(",") for scene in scenes]
    hashes: dict[str, str] = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = {pool.submit(frames_of, args, *case): case for case in cases}
        for number, run in enumerate(concurrent.futures.as_completed(runs), 1):
            scene, scheme = runs[run]
            hashes[f"{scene} {scheme}"], seconds = run.result()
            print(f"{number:4}/{len(cases)} {seconds:7.1f} s  {scene} {scheme}: {hashes[f'{scene} {scheme}'][:40]}", flush=True)
            write(args.out, {"frames": args.frames, "hashes": dict(sorted(hashes.items()))})
    return compare(hashes, args) if args.against else 0


def built_in_scenes(taut: str) -> list[str]:
    listed = json.loads(subprocess.run([taut, "scenes", "--json"], check=True, capture_output=True).stdout)
    return [scene["name"] for scene in listed]


def frames_of(args: argparse.Namespace, scene: str, scheme: str) -> tuple[str, float]:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run")
        command = [args.taut, "run", scene, "-o", str(out), "--frames", str(args.frames), "--threads", "1", "--quiet"]
        command += ["--set", f'solver.scheme="{scheme}"']
        try:
            # Whether the scene's expectations are met is no question here: 1 is as good as 0.
            run = subprocess.run(command, capture_output=True, timeout=args.most)
        except subprocess.TimeoutExpired:
            return "left out: too slow", time.monotonic() - begun
        if run.returncode not in (0, 1):
            return f"refused with exit code {run.returncode}", time.monotonic() - begun
        digest = hashlib.sha256()
        files = sorted(pathlib.Path(out, "frames").iterdir())
        for file in files:
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
        return f"{digest.hexdigest()} over {len(files)} files", time.monotonic() - begun


def write(path: pathlib.Path, value: object) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    beside.replace(path)


def compare(hashes: dict[str, str], args: argparse.Namespace) -> int:
    before = json.loads(args.against.read_text())
    if before["frames"] != args.frames:
        print(f"{args.against} has {before['frames']} frames a run, this one {args.frames}: not comparable", file=sys.stderr)
        return 2
    differ = 0
    for case, found in sorted(hashes.items()):
        expected = before["hashes"].get(case, "not there")
        if "left out" in found or "left out" in expected:
            print(f"not compared: {case} (too slow)")
        elif found != expected:
            differ += 1
            print(f"differs: {case}: {expected[:16]} before, {found[:16]} now")
    print(f"{len(hashes)} compared, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
