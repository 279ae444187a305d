#!/usr/bin/env bash
# Make two real crawls with wget of a local site, and hold what `dedupe` says of them against wget's own CDX.
#
#   scripts/wget-crawls.sh BINARY [DOCS] [OUT]
#
# DOCS: a folder of HTML documentation (default /usr/share/doc). OUT: where the crawls go (default: a temporary folder).
# The first crawl is plain; the second reads the first's CDX (--warc-dedup) and so stores revisits.
# Needs wget and python3. Only loopback is spoken to.
set -euo pipefail
binary=$(realpath "$1")
docs=$(realpath "${2:-/usr/share/doc}")
out=${3:-$(mktemp -d)}
here=$(cd "$(dirname "$0")" && pwd)
port=8765
mkdir -p "$out" && cd "$out"

python3 "$here/serve.py" "$docs" "$port" & server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 50); do
    python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null && break
    sleep 0.1
done

crawl() {
    name=$1; shift
    rm -rf "$name.tree"
    wget --quiet --recursive --level=2 --span-hosts --domains=localhost,127.0.0.1 --max-redirect=5 --tries=1 \
        --no-verbose --execute robots=off --directory-prefix="$name.tree" --delete-after \
        --warc-file="$name" --warc-cdx "$@" "http://localhost:$port/" 2>"$name.log" || true
    rm -rf "$name.tree"
}
crawl first
crawl second --warc-dedup=first.cdx

python3 - "$binary" <<'PY'
import csv, json, subprocess, sys
binary, bad = sys.argv[1], 0

def run(*inputs):
    args = [a for i in inputs for a in ("--in", i)]
    code = subprocess.run([binary, *args, "--report", "r.csv", "--summary", "s.json", "--include-unique", "--quiet"]).returncode
    return code, list(csv.DictReader(open("r.csv", newline=""))), json.load(open("s.json"))

def hold(what, got, want):
    global bad
    bad += got != want
    print(f"{'ok ' if got == want else 'BAD'} {what}: {got}" + ("" if got == want else f", want {want}"))

def lines(name):
    return sum(not line.startswith(" CDX") for line in open(name, errors="replace"))

code, rows, _ = run("first.warc.gz")
hold("exit code, first", code, 0)
hold("http responses of the first crawl as wget's CDX has them",
     sum(r["record_type"] == "response" and r["url"].startswith("http") for r in rows), lines("first.cdx"))
code, rows, summary = run("first.warc.gz", "second.warc.gz")
hold("exit code, both", code, 0)
hold("dangling revisits", summary["counts"]["dangling"], 0)
print("revisits:", summary["counts"]["revisits"])
pages = {r["url"]: r["page_group"] for r in rows if r["url"].startswith("http://localhost") and r["status"] == "200"}
pairs = [(u, u.replace("/gz/", "/")) for u in pages if "/gz/" in u]
pairs = [(a, b) for a, b in pairs if b in pages]
hold(f"pages that differ only by compression and stay apart (of {len(pairs)})",
     [p for p in pairs if not pages[p[0]] or pages[p[0]] != pages[p[1]]][:3], [])
sys.exit(bool(bad))
PY
echo "crawls: $out"
