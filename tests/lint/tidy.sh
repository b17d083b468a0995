#!/bin/bash
# clang-tidy over src with the checks of .clang-tidy, two files at a time.
set -u
cd "$(dirname "$0")/../.."
files=$(git ls-files -co --exclude-standard -- 'src/*.c')
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%s\n' $files | xargs -P 2 -n 4 sh -c \
    'clang-tidy --quiet "$@" -- -std=c17 -D_GNU_SOURCE -Isrc -I. 2>/dev/null' sh >"$log" 2>&1
bad=$(grep -cE ': (warning|error): ' "$log")
grep -E -A 3 ': (warning|error): ' "$log" | head -n 120
echo "tidy: $(($(wc -w <<<"$files") - (bad > 0 ? 1 : 0))) passed, $bad failed"
[ "$bad" -eq 0 ]
