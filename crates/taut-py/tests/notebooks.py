"""Runs the code of notebooks from top to bottom, each in a namespace of its own. `python tests/notebooks.py FILE…`"""

import json
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")


def main(paths):
    for path in paths:
        begun, space = time.time(), {"__name__": "notebook"}
        for k, cell in enumerate(json.loads(Path(path).read_text(encoding="utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"{path}, cell {k}", "exec"), space)
        print(f"{Path(path).name}: {time.time() - begun:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
