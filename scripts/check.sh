#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, documentation, tests.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '== %s\n' "$*"
    "$@"
}

step cargo fmt --check
step cargo clippy --all-targets --locked --quiet -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --no-deps --locked --quiet
step cargo test --locked --quiet
