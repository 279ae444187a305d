"""What a command costs: `python3 measure.py COMMAND…` prints its CPU seconds; other scripts import `run`."""
import os
import sys
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Cost:
    cpu: float  # seconds, user and system, of the command and all it started
    wall: float
    rss: int  # peak, in bytes; never less than that of this interpreter, of which the command begins as a copy
    output: str  # its stdout


def run(command, env=None):
    """Runs a command to its end; its stdout is a file, so that no reader holds it up."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        environment = {**os.environ, **(env or {})}
        pid = os.posix_spawnp(command[0], command, environment, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - start
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
        out.seek(0)
        output = out.read().decode(errors="replace")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, output)


if __name__ == "__main__":
    print(f"{run(sys.argv[1:]).cpu:.3f}")
