#!/usr/bin/env python3
"""How often a sample brackets the full answer: 100 seeded archives with planted rules, each evaluated whole and by --sample 0.1.

cargo build --release && cargo build --release --example generate && python3 scripts/sampling.py
"""
import collections, csv, json, os, subprocess, sys, tempfile

RULES = {"www=www": 0.02, "trailing-slash=drop": 0.3, "query-drop-list=tracking": 0.0}
FIGURES = ["urls_merged", "urls_right", "urls_wrong", "urls_unverifiable", "pairs_right", "pairs_wrong", "pairs_missed", "page_loss_first"]
N = int(sys.argv[1]) if len(sys.argv) > 1 else 100
SHARE = sys.argv[2] if len(sys.argv) > 2 else "0.1"


def evaluate(folder, *flags):
    at = lambda name: os.path.join(folder, name)
    command = ["target/release/dedupe", "evaluate", "-q", "--in", at("a.cdxj"), "--rules", ",".join(RULES),
               "--report", at("rules.csv"), "--summary", at("summary.json"), *flags]
    subprocess.run(command, check=True)
    with open(at("rules.csv")) as rows:
        figures = {row["rule"]: row for row in csv.DictReader(rows)}
    with open(at("summary.json")) as summary:
        return figures, json.load(summary)["evaluation"]


covered, width = collections.Counter(), collections.Counter()
with tempfile.TemporaryDirectory() as folder:
    for seed in range(N):
        with open(os.path.join(folder, "a.cdxj"), "wb") as archive:
            rates = [flag for rule, wrong in RULES.items() for flag in ("--plant-rate", f"{rule}={wrong}")]
            subprocess.run(["target/release/examples/generate", "--format", "cdxj", "--captures", "4000", "--seed", str(seed),
                            "--domains", "400", *rates], stdout=archive, check=True)
        whole, _ = evaluate(folder)
        part, evaluation = evaluate(folder, "--sample", SHARE, "--seed", str(seed))
        for rule in RULES:
            estimates = evaluation["sampled"]["rows"][rule]
            for figure in FIGURES:
                interval = estimates[figure.removesuffix("_first")]
                count = float(whole[rule][figure])
                covered[rule, figure] += interval["low"] <= count <= interval["high"]
                width[rule, figure] += (interval["high"] - interval["low"]) / max(count, 1) / N
            low, high = part[rule]["verified_precision_ci_low"], part[rule]["verified_precision_ci_high"]
            precision = float(whole[rule]["verified_precision"])
            covered[rule, "verified_precision"] += float(low or 0) <= precision <= float(high or 1)
            width[rule, "verified_precision"] += (float(high or 1) - float(low or 0)) / N
print(f"{N} archives, --sample {SHARE}: intervals that hold the full answer, and their mean width over it")
for (rule, figure), n in covered.items():
    print(f"{rule:26} {figure:20} {n:4} {width[rule, figure]:8.2f}")
