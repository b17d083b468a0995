#!/bin/bash
# The core calls nothing outside itself but memcpy and its kin: no allocation, no I/O, no clock. __stack_chk_fail is the
# compiler's: where a function's frame was written over, the program ends there.
# usage: core_symbols.sh BUILD-DIR
set -euo pipefail
objects=("$1"/kernel/*/*.o "$1"/policy/*/*.o)
defined=$(nm --defined-only "${objects[@]}" | awk 'NF == 3 {print $3}' | sort -u)
outside=$(nm -u "${objects[@]}" | awk '$1 == "U" {print $2}' | sort -u |
    grep -vxF -e memcpy -e memset -e memmove -e memcmp -e __stack_chk_fail -e _GLOBAL_OFFSET_TABLE_ | grep -vxFf <(printf '%s\n' "$defined") || true)
if [ -n "$outside" ]; then
    printf 'core_symbols: the core may not use: %s\n' $outside
    exit 1
fi
