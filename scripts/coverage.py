#!/usr/bin/env python3
"""Holds the 95 % interval of `dedupe evaluate` against archives whose true rate is known.

    scripts/coverage.py [ARCHIVES] [RATE] [FOLDER]    defaults: 1000 0.1 target/release

Each archive has 300 domains or more, on which the pairs of one rule are wrong with probability RATE.
Says in what share of archives the interval of the verified precision covers 1 - RATE; exit 1 below 92 %.
"""
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

RULE = "trailing-slash=drop"


def interval(folder, seed, rate):
    generate = [folder / "examples/generate", "--format", "cdxj", "--captures", "1", "--seed", str(seed),
                "--domains", "400", "--plant-rate", f"{RULE}={rate}"]
    with tempfile.NamedTemporaryFile(suffix=".cdxj") as archive:
        subprocess.run(generate, stdout=archive, stderr=subprocess.DEVNULL, check=True)
        evaluate = [folder / "dedupe", "evaluate", "--in", archive.name, "--rules", RULE, "--report", "-", "-q"]
        report = subprocess.run(evaluate, stdout=subprocess.PIPE, check=True).stdout.decode()
    row = next(csv.DictReader(io.StringIO(report)))
    return float(row["verified_precision_ci_low"]), float(row["verified_precision_ci_high"]), int(row["urls_wrong"])


def main():
    n_archives = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "target/release")
    covered, n_wrong = 0, []
    for seed in range(n_archives):
        low, high, wrong = interval(folder, seed, rate)
        covered += low <= 1 - rate <= high
        n_wrong.append(wrong)
    share = covered / n_archives
    print(f"{covered} of {n_archives} intervals cover {1 - rate} ({share:.1%}); {min(n_wrong)} to {max(n_wrong)} wrong merges an archive")
    return 0 if share >= 0.92 else 1


if __name__ == "__main__":
    sys.exit(main())
