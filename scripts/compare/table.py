"""Runs dedupe and its peers on the inputs that scripts/compare.sh made, and prints what each took, and which goals are met.

    table.py FOLDER REPEATS [INPUT…]        INPUT: warc.gz, warc, cdx, cdxj; all of them if none is named
"""
import json
import os
import shutil
import statistics
import sys
from dataclasses import dataclass, field

import measure

FOLDER, REPEATS = sys.argv[1], int(sys.argv[2])
# A folder in memory keeps a slow disk out of the figures.
REPORTS = os.environ.get("REPORTS", FOLDER)
PYTHON = [f"{FOLDER}/venv/bin/python", os.path.join(os.path.dirname(__file__), "peers.py")]
PEER = f"{FOLDER}/target/release/peer"
SUFFIXES = ("warc.gz", "warc", "cdx", "cdxj")
GZIP, PLAIN, CDX, CDXJ = (f"{FOLDER}/crawl.{suffix}" for suffix in SUFFIXES)
WANTED = {f"{FOLDER}/crawl.{suffix}" for suffix in sys.argv[3:] or SUFFIXES}


@dataclass
class Job:
    name: str
    command: list
    path: str
    found: object = lambda cost: int(cost.output.split()[-1])
    env: dict = None
    costs: list = field(default_factory=list)
    anonymous: int = 0

    def measure(self):
        cost = measure.run(self.command, self.env)
        self.n_found = self.found(cost)
        self.costs.append(cost)

    def median(self, of):
        return statistics.median(getattr(cost, of) for cost in self.costs)

    def rate(self):
        return os.path.getsize(self.path) / self.median("wall")


class Ours(Job):
    """The whole job, report and summary written."""

    def __init__(self, path, digests, threads):
        summary, report = f"{FOLDER}/summary.json", f"{REPORTS}/report.csv"
        command = [f"{FOLDER}/target/release/dedupe", "-q", "--in", path, "--report", report, "--summary", summary]
        command += ["--digests", digests, "--threads", str(threads)]
        is_index = path in (CDX, CDXJ)
        mode = "" if is_index else f" `{digests}`"
        super().__init__(f"**dedupe**{mode}, {threads} thread{'s' * (threads > 1)}", command, path)
        self.is_index, self.summary = is_index, summary
        self.found = self.read_summary

    def read_summary(self, _):
        with open(self.summary) as file:
            summary = json.load(file)
        self.anonymous = max(self.anonymous, summary["memory"]["peak_anonymous"])
        counts = summary["counts"]
        if self.is_index:
            return counts["captures"] + counts["revisits"] - counts["distinct_uris"]
        return counts["by_role"]["duplicate"]


def again(cost):
    """Digests of a CDXJ on stdout that stood in it before."""
    digests = [json.loads(line[line.index("{") :])["digest"] for line in cost.output.splitlines()]
    return len(digests) - len(set(digests))


def lines_less(path):
    """How many fewer lines than the CDX has, its header aside, `sort -u` left."""
    if path not in WANTED:
        return None
    with open(path, "rb") as file:
        n_lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return lambda cost: n_lines - 1 - int(cost.output.split()[-1])


def warc_jobs():
    jobs = [Ours(GZIP, digests, threads) for digests in ("verify", "content", "declared") for threads in (1, 2)]
    jobs += [
        Job("bare loop: libdeflate", [PEER, "inflate", GZIP], GZIP),
        Job("bare loop: libdeflate, SHA-1", [PEER, "inflate-sha1", GZIP], GZIP),
        Job("bare loop: libdeflate, BLAKE3", [PEER, "inflate-blake3", GZIP], GZIP),
        Job("`fastwarc` crate, SHA-1 into a set", [PEER, "fastwarc", GZIP], GZIP),
        Job("FastWARC (Python), the same", PYTHON + ["fastwarc", GZIP], GZIP),
        Job("warcio, the same", PYTHON + ["warcio", GZIP], GZIP),
        Job("cdxj-indexer", [f"{FOLDER}/venv/bin/cdxj-indexer", GZIP], GZIP, again),
    ]
    jar = os.environ.get("JWARC")
    if jar and shutil.which("java"):
        jobs.append(Job("jwarc cdx", ["java", "-jar", jar, "cdx", GZIP], GZIP, lambda _: 0))
    return jobs


def index_jobs(path, query):
    jobs = [Ours(path, "declared", threads) for threads in (1, 2)]
    for threads in (1, 2):
        name = f"DuckDB `group by url`, {threads} thread{'s' * (threads > 1)}"
        jobs.append(Job(name, PYTHON + [query, path, str(threads)], path))
    for threads in (1, 2):
        name = f"DuckDB, by URL and digest, report written, {threads} thread{'s' * (threads > 1)}"
        command = PYTHON + [f"{query}-report", path, str(threads), f"{REPORTS}/report.csv"]
        jobs.append(Job(name, command, path))
    if path == CDX:
        pipe = f"tail -n +2 {CDX} | cut -d' ' -f3 | LC_ALL=C sort -u --parallel=2 -S 25% -T {FOLDER} | wc -l"
        jobs.append(Job("GNU `sort -u` of the URLs", ["sh", "-c", pipe], CDX, lines_less(CDX)))
    return jobs


SECTIONS = {
    GZIP: warc_jobs(),
    PLAIN: [Ours(PLAIN, digests, threads) for digests in ("content", "declared") for threads in (1, 2)],
    CDX: index_jobs(CDX, "duckdb-cdx"),
    CDXJ: index_jobs(CDXJ, "duckdb-cdxj"),
}
SECTIONS = {path: jobs for path, jobs in SECTIONS.items() if path in WANTED}


def run_all():
    for path, jobs in SECTIONS.items():
        with open(path, "rb") as file:  # what is measured is not the disk
            while file.read(1 << 24):
                pass
        for _ in range(REPEATS):
            for job in jobs:
                print(f"{os.path.basename(path)}: {job.name}", file=sys.stderr, flush=True)
                job.measure()


def print_table():
    print("| input | job | CPU s | wall s | MB/s | CPU, ours 1 | wall, ours 1 | peak RSS MB | anonymous MB | seen before |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for path, jobs in SECTIONS.items():
        ours = jobs[0]
        for job in jobs:
            cpu, wall = job.median("cpu"), job.median("wall")
            anonymous = f"{job.anonymous / 1e6:,.0f}" if job.anonymous else ""
            print(
                f"| {os.path.basename(path)} | {job.name} | {cpu:.2f} | {wall:.2f} | {job.rate() / 1e6:,.0f} "
                f"| {cpu / ours.median('cpu'):.2f} | {wall / ours.median('wall'):.2f} "
                f"| {job.median('rss') / 1e6:,.0f} | {anonymous} | {job.n_found:,} |"
            )


def named(path, name):
    return next(job for job in SECTIONS[path] if name in job.name)


def ratio(slow, fast, of="wall"):
    return slow.median(of) / fast.median(of)


def gzip_goals():
    verify, verify2 = named(GZIP, "`verify`, 1"), named(GZIP, "`verify`, 2")
    content, content2 = named(GZIP, "`content`, 1"), named(GZIP, "`content`, 2")
    declared, crate = named(GZIP, "`declared`, 1"), named(GZIP, "`fastwarc` crate")
    sha1 = named(GZIP, "libdeflate, SHA-1")
    yield "verify, CPU of the `fastwarc` crate to ours", ratio(crate, verify, "cpu"), 1.2
    yield "verify, bare loop with SHA-1 to ours", ratio(sha1, verify, "cpu"), 1 / 1.12
    yield "verify, two threads, wall of the crate to ours", ratio(crate, verify2), 2.3
    yield "verify, two threads, parallel efficiency", ratio(verify, verify2) / 2, 0.92
    yield "content, wall of the crate to ours", ratio(crate, content), 1.5
    yield "content, two threads", ratio(crate, content2), 2.9
    yield "declared, own verify to it", ratio(verify, declared), 4


def plain_goals():
    yield "plain WARC, content, GB/s", max(job.rate() for job in SECTIONS[PLAIN][:2]) / 1e9, 2.5
    yield "plain WARC, declared, GB/s", max(job.rate() for job in SECTIONS[PLAIN][2:]) / 1e9, 8


def index_goals(path, name, at_least):
    jobs = SECTIONS[path]
    for what, one, two in (("by URL", jobs[2], jobs[3]), ("with a report", jobs[4], jobs[5])):
        yield f"{name}, DuckDB {what} to ours, one thread", ratio(one, jobs[0]), at_least[0]
        yield f"{name}, DuckDB {what} to ours, two threads", ratio(two, jobs[1]), at_least[1]
        yield f"{name}, memory of DuckDB {what} to ours", one.median("rss") / max(jobs[0].anonymous, 1), 4
    if path == CDX:
        yield "CDX, `sort -u` to ours", ratio(jobs[-1], jobs[1]), 8


GOALS = {
    GZIP: gzip_goals,
    PLAIN: plain_goals,
    CDX: lambda: index_goals(CDX, "CDX", (2.5, 3)),
    CDXJ: lambda: index_goals(CDXJ, "CDXJ", (3, 3)),
}


def goals():
    """Goal, what was measured, what it should be at least."""
    for path in SECTIONS:
        yield from GOALS[path]()


def print_goals():
    print("\n| goal | measured | at least | |")
    print("| --- | ---: | ---: | --- |")
    for name, measured, wanted in goals():
        print(f"| {name} | {measured:.2f} | {wanted:.2f} | {'met' if measured >= wanted else 'not met'} |")


run_all()
print_table()
print_goals()
