#!/usr/bin/env bash
# Checks that 1, 4 and 16 times an input of 64 MB costs 1, 4 and 16 times the CPU seconds, 15 % more or less; for indexes also
# where most of it is spilled.
#
#   scripts/growth.sh [FOLDER]         inputs go to FOLDER (target/growth)
#
# The least of REPEATS runs counts, since other work of the machine only adds. UNIT=8M is a smaller unit.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "${1:-$repository/target/growth}" && cd "${1:-$repository/target/growth}" && pwd)
unit=${UNIT:-64M} repeats=${REPEATS:-5}
number=${unit%[kMG]} suffix=${unit##*[0-9]}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$repository/target}
cargo build --quiet --release --locked --bin dedupe --example generate --manifest-path "$repository/Cargo.toml"

mkdir -p "$folder/spill"
# least FILE FLAG…: the fewest CPU seconds of all runs over it.
least() {
    for _ in $(seq "$repeats"); do
        python3 "$repository/scripts/compare/measure.py" "$CARGO_TARGET_DIR/release/dedupe" -q \
            --in "$1" --report "$folder/report.csv" --summary "$folder/summary.json" --threads 1 "${@:2}"
    done | sort -n | head -1
}
# spilled: the bytes that the last run spilled.
spilled() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["memory"]["spilled"])' "$folder/summary.json"; }

failed=0
for way in "warc 64GiB" "cdx 64GiB" "cdxj 64GiB" "cdx 16MiB" "cdxj 16MiB"; do
    read -r format memory <<< "$way"
    flags=(--memory "$memory")
    # A run with a folder saves what it read there, for --resume.
    [ "$memory" = 64GiB ] || flags+=(--temp-dir "$folder/spill")
    first=
    for factor in 1 4 16; do
        file=$folder/growth.$format
        "$CARGO_TARGET_DIR/release/examples/generate" --format "$format" --size "$((number * factor))$suffix" > "$file"
        seconds=$(least "$file" "${flags[@]}")
        first=${first:-$seconds}
        awk -v way="$way" -v factor="$factor" -v seconds="$seconds" -v first="$first" -v spilled="$(spilled)" 'BEGIN {
            share = seconds / first / factor
            is_off = share < 0.85 || share > 1.15 || (way ~ /16MiB/) != (spilled > 0)
            printf "%-10s %2d times %8.3f s, %4d MiB spilled, %.2f of what it should be%s\n", way, factor, seconds, spilled / 1048576,
                share, is_off ? ": FAILED" : ""
            exit is_off
        }' || failed=1
        rm "$file"
    done
done
rm -rf "$folder/report.csv" "$folder/summary.json" "$folder/spill"
exit $failed
