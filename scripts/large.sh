#!/usr/bin/env bash
# Dedupes CAPTURES (100,000,000) made-up index lines from a pipe, first in 12 GiB of memory, then in 1 GiB, and has DuckDB do as near
# as it comes to the same in 1 GiB; prints what each took. Reports go to a pipe, and are held against each other by their sum.
#
#   scripts/large.sh [FOLDER]          spills to FOLDER (target/large), which needs 210 bytes a capture
#
# DUCKDB=PYTHON names a python with the package duckdb, as scripts/compare.sh installs it (target/compare/venv/bin/python); without it
# DuckDB is left out.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "${1:-$repository/target/large}" && cd "${1:-$repository/target/large}" && pwd)
captures=${CAPTURES:-100000000}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$repository/target}
cargo build --quiet --release --locked --bin dedupe --example generate --manifest-path "$repository/Cargo.toml"
lines() { "$CARGO_TARGET_DIR/release/examples/generate" --format cdx --captures "$captures"; }

first=
for memory in 12GiB 1GiB; do
    start=$(date +%s)
    sum=$(lines | "$CARGO_TARGET_DIR/release/dedupe" -q --in - --memory "$memory" --temp-dir "$folder" --report - \
        --summary "$folder/summary.json" | md5sum)
    took=$(($(date +%s) - start))
    first=${first:-$sum}
    python3 - "$memory" "$took" "$folder/summary.json" << 'END'
import json, sys

memory, took, path = sys.argv[1:]
used = json.load(open(path))["memory"]
print(f"dedupe --memory {memory}: {took} s, {used['peak_anonymous'] / 1e9:.2f} GB anonymous, {used['spilled'] / 1e9:.1f} GB spilled")
END
    [ "$sum" = "$first" ] || { echo "the report is another one than with 12GiB"; exit 1; }
done

if [ -n "${DUCKDB:-}" ]; then
    start=$(date +%s)
    code=0
    lines | "$DUCKDB" "$repository/scripts/compare/peers.py" duckdb-cdx-report /dev/stdin 2 /dev/null 1GiB "$folder" || code=$?
    echo "DuckDB in 1 GiB: $(($(date +%s) - start)) s, exit code $code"
fi
rm -f "$folder/summary.json"
