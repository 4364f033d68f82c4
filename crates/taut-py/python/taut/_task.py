"""One run of a sweep, as a process of its own: what to run comes by standard input."""

import json
import sys

from ._sweep import run_task

if __name__ == "__main__":
    run_task(*json.load(sys.stdin))
