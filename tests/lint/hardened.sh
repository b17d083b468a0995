#!/bin/bash
# The programs have what makes a defect in memory an end instead of a way in.
# usage: hardened.sh BUILD-DIR
set -u
problems=0

has() { # PROGRAM WHAT PATTERN OPTION
    readelf --wide "$4" "$1" 2>/dev/null | grep -E "$3" >/dev/null || {
        echo "hardened: $1 has no $2"
        problems=$((problems + 1))
    }
}

for program in "$1/sluiced" "$1/sluicectl"; do
    has "$program" "address of its own at each start (PIE)" 'Type: +DYN' --file-header
    has "$program" "read-only relocations" 'GNU_RELRO' --program-headers
    has "$program" "symbols bound at start (BIND_NOW)" 'BIND_NOW|Flags: .*NOW' --dynamic
    has "$program" "stack that cannot be executed" 'GNU_STACK .* RW +0x' --program-headers
    has "$program" "stack protector" '__stack_chk_fail' --symbols
    has "$program" "checked copies (FORTIFY_SOURCE)" '__(mem|str|v?s?n?printf|v?f?printf).*_chk' --symbols
done
exit $((problems > 0))
