#!/usr/bin/env bash
# Holds dedupe against its peers in one paired run and prints one table: CPU seconds, wall, peak RSS, ratios, duplicates found.
#
#   scripts/compare.sh [FOLDER]        inputs, peers and results go to FOLDER (target/compare)
#
# Takes an hour or so and some 15 GB as it is; smaller:
#   CAPTURES=2000 LINES=200000 REPEATS=1 scripts/compare.sh
# REPORTS=/dev/shm puts the reports into memory, so that a slow disk is not what is measured.
# or a part: ONLY='warc.gz warc' scripts/compare.sh
# The peers come from their registries: the crate fastwarc; fastwarc, warcio, cdxj-indexer and duckdb from PyPI. JWARC=FILE.jar adds jwarc.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "${1:-$repository/target/compare}" && cd "${1:-$repository/target/compare}" && pwd)
captures=${CAPTURES:-100000} lines=${LINES:-11500000} repeats=${REPEATS:-3}

build() {
    export CARGO_TARGET_DIR=$folder/target
    cargo build --quiet --release --locked --bin dedupe --example generate --manifest-path "$repository/Cargo.toml"
    mkdir -p "$folder/peer/src"
    cp "$repository/scripts/compare/peer.rs" "$folder/peer/src/main.rs"
    cat > "$folder/peer/Cargo.toml" <<'END'
[package]
name = "peer"
version = "0.0.0"
edition = "2024"
[dependencies]
blake3 = "1"
fastwarc = "2"
libdeflate-sys = "1"
memmap2 = "0.9"
sha1 = "0.10"
[profile.release]
lto = "thin"
codegen-units = 1
[workspace]
END
    cargo build --quiet --release --manifest-path "$folder/peer/Cargo.toml"
}

install() {
    [ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet fastwarc warcio cdxj-indexer duckdb
}

# make NAME FLAGS…: an input, unless it was made by the same flags before.
make() {
    local file=$folder/$1
    shift
    [ "$(cat "$file.flags" 2> /dev/null)" = "$*" ] && return
    "$folder/target/release/examples/generate" "$@" > "$file"
    echo "$*" > "$file.flags"
}

generate() {
    # An archive name as crawlers make them, so that index lines are as long as theirs.
    local name=crawl-2024-18-20240501000000-00000-crawler1.example.org.warc.gz
    make crawl.warc.gz --captures "$captures" --median 36000
    make crawl.warc --captures "$captures" --median 36000 --plain
    make crawl.cdx --captures "$lines" --format cdx --name "$name"
    make crawl.cdxj --captures "$lines" --format cdxj
}

build
install
generate
echo "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(uname -sm); $captures captures, $lines lines, median of $repeats"
ls -l "$folder"/crawl.{warc.gz,warc,cdx,cdxj} | awk '{ n = split($NF, part, "/"); printf "%s: %.2f GB\n", part[n], $5 / 1e9 }'
echo
# shellcheck disable=SC2086
python3 "$repository/scripts/compare/table.py" "$folder" "$repeats" ${ONLY:-}
