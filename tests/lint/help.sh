#!/bin/bash
# Every .PHONY target has its line in `make help`.
set -euo pipefail
cd "$(dirname "$0")/../.."
files=(Makefile */rules.mk tests/*/rules.mk)
missing=$(cat "${files[@]}" 2>/dev/null | awk '/^\.PHONY:/ {for (i = 2; i <= NF; i++) print $i}' | sort -u |
    while read -r target; do
        grep -qhE "^$target:.*## " "${files[@]}" 2>/dev/null || echo "$target"
    done)
[ -z "$missing" ] || { printf 'help: no ## text for %s\n' $missing; exit 1; }
