#!/usr/bin/env bash
# Ends runs that spill at random moments, by SIGINT, by SIGKILL and by a full --temp-dir, and holds what is left against
# what may be: no report but the right one, nothing in --temp-dir but what --resume goes on from, one line on stderr. Then
# the same command with --resume must give the right report, and leave nothing.
#
#   scripts/kill.sh DEDUPE INPUT...         ROUNDS=100 of each; more than one input, else nothing is saved before the end
#
# A full disk needs root (a tmpfs of a random size is mounted); without it that part is left out.
set -euo pipefail
dedupe=$(realpath "$1") rounds=${ROUNDS:-100}
shift
inputs=()
for input in "$@"; do inputs+=("$(realpath "$input")"); done
work=$(mktemp -d)
trap 'mountpoint -q "$work/full" && umount "$work/full"; rm -rf "$work"' EXIT
cd "$work"
mkdir spill full

# arguments FOLDER: of every run.
arguments=(--in "${inputs[@]}" --memory 16MiB --include-unique --report report.csv --no-progress)
run() { "$dedupe" "${arguments[@]}" --temp-dir "$@" 2>stderr; }

start=$(date +%s%N)
run spill
took=$((($(date +%s%N) - start) / 1000000))
mv report.csv right.csv

# Milliseconds from 0 to a little more than a run takes.
moment() { awk -v max="$took" -v seed="$RANDOM$RANDOM" 'BEGIN { srand(seed); printf "%.3f", rand() * max * 1.1 / 1000 }'; }

fail() { echo "$*"; cat stderr; exit 1; }

declare -A ended
count() { ended["$1"]=$((${ended["$1"]:-0} + 1)); }

# check HOW CODE FOLDER: what a run left that was ended, or was done before.
check() {
    local how=$1 code=$2 folder=$3 left
    if [ -e report.csv ]; then
        cmp -s report.csv right.csv || fail "$how: a wrong report"
        rm report.csv
    elif [ "$code" = 0 ]; then
        fail "$how: 0 and no report"
    fi
    left=$(find "$folder" -mindepth 1 ! -path "$folder/dedupe-resume" ! -path "$folder/dedupe-resume/input-*")
    [ -z "$left" ] || fail "$how: $left is left in --temp-dir"
    if [ "$how" != KILL ] && [ -n "$(find . -name '.dedupe-*.tmp')" ]; then
        fail "$how: a temporary file is left"
    fi
    find . -name '.dedupe-*.tmp' -delete
    if [ "$code" = 0 ] || [ "$how" = KILL ] || [ "$(wc -l <stderr)" = 1 ]; then
        count "$how: ended with $code"
    elif [ "$how $code" = "INT 130" ] && [ ! -s stderr ]; then
        # The system was still loading the program.
        count "$how: ended before it began"
    else
        fail "$how: not one line but:"
    fi
}

# resume HOW: goes on from what is left in spill.
resume() {
    local saved
    saved=$(find spill -name 'input-*' | wc -l)
    run spill --resume || fail "$1: --resume ended with $?"
    cmp -s report.csv right.csv || fail "$1: a wrong report from $saved saved inputs"
    [ -z "$(ls -A spill)" ] || fail "$1: $(ls -A spill) is left after --resume"
    rm report.csv
    count "$1: gone on from $saved saved inputs"
}

for signal in INT KILL; do
    for ((round = 0; round < rounds; round++)); do
        code=0
        # The shell would tell of each that was killed.
        { timeout --foreground --preserve-status -s "$signal" "$(moment)" bash -c "exec \"\$@\"" _ \
            "$dedupe" "${arguments[@]}" --temp-dir spill 2>stderr || code=$?; } 2>/dev/null
        check "$signal" "$code" spill
        resume "$signal"
    done
done

if [ "$(id -u)" = 0 ]; then
    for ((round = 0; round < rounds; round++)); do
        mount -t tmpfs -o "size=$((RANDOM % 64 + 1))m" tmpfs full
        code=0
        run full || code=$?
        check full "$code" full
        cp -a full/. spill
        umount full
        resume full
    done
fi
for how in "${!ended[@]}"; do echo "$how: ${ended[$how]} times"; done | sort
