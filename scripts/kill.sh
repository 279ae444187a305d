#!/usr/bin/env bash
# Ends runs that spill at random moments, by SIGINT, by SIGKILL and by a full --temp-dir, and holds what is left against
# what may be: no report but the right one, no file in --temp-dir, one line on stderr.
#
#   scripts/kill.sh DEDUPE INPUT [ROUNDS]
#
# A full disk needs root (a tmpfs of a random size is mounted); without it that part is left out.
set -euo pipefail
dedupe=$(realpath "$1") input=$(realpath "$2") rounds=${3:-100}
work=$(mktemp -d)
trap 'mountpoint -q "$work/full" && umount "$work/full"; rm -rf "$work"' EXIT
cd "$work"
mkdir spill full

run() {
    "$dedupe" --in "$input" --memory 16MiB --temp-dir "$1" --include-unique --report report.csv --no-progress 2>stderr
}

start=$(date +%s%N)
run spill
took=$((($(date +%s%N) - start) / 1000000))
mv report.csv right.csv

# Milliseconds from 0 to a little more than a run takes.
moment() { awk -v max="$took" -v seed="$RANDOM$RANDOM" 'BEGIN { srand(seed); printf "%.3f", rand() * max * 1.1 / 1000 }'; }

declare -A ended
check() {
    local how=$1 code=$2 leftovers
    if [ -e report.csv ]; then
        cmp -s report.csv right.csv || { echo "$how: a wrong report"; exit 1; }
        rm report.csv
    elif [ "$code" = 0 ]; then
        echo "$how: 0 and no report" && exit 1
    fi
    [ -z "$(ls -A spill)" ] || { echo "$how: $(ls -A spill) is left in --temp-dir"; exit 1; }
    leftovers=$(find . -name '.dedupe-*.tmp' | wc -l)
    if [ "$how" != KILL ] && [ "$leftovers" != 0 ]; then
        echo "$how: a temporary file is left" && exit 1
    fi
    find . -name '.dedupe-*.tmp' -delete
    if [ "$code" != 0 ] && [ "$how" != KILL ] && [ "$(wc -l <stderr)" != 1 ]; then
        echo "$how: not one line but:" && cat stderr && exit 1
    fi
    ended["$how $code"]=$((${ended["$how $code"]:-0} + 1))
}

for signal in INT KILL; do
    for ((round = 0; round < rounds; round++)); do
        code=0
        timeout --preserve-status -s "$signal" "$(moment)" bash -c "exec \"\$@\"" _ \
            "$dedupe" --in "$input" --memory 16MiB --temp-dir spill --include-unique --report report.csv --no-progress \
            2>stderr || code=$?
        # A run that was done in time says so in a dozen lines.
        check "$signal" "$code"
    done
done

if [ "$(id -u)" = 0 ]; then
    for ((round = 0; round < rounds; round++)); do
        mount -t tmpfs -o "size=$((RANDOM % 64 + 1))m" tmpfs full
        code=0
        run full || code=$?
        umount full
        check full "$code"
    done
fi
for how in "${!ended[@]}"; do echo "$how: ${ended[$how]} times"; done | sort
