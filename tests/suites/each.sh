#!/bin/bash
# Several suites, one after the other; fails if one of them does.
# usage: each.sh SUITE...    environment: that of run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { sed -n 3p "$0"; exit 2; }
bad=0
for suite in "$@"; do
    "$here/run.sh" "$suite" || bad=1
done
exit $bad
