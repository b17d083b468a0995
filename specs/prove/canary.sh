#!/bin/bash
# The smoke tests must find the planted defects, name them, and fail when they are not given the time.
# usage: canary.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 failed=0
mkdir -p "$build"
smoke() { # what it says, and fails if the run was good
    ! "$here/prove.py" --build "$build" --smoke --fresh "$@" "${here#"$PWD"/}/canary.c"
}
expect() { # FILE TEXT
    grep -q -- "$2" "$1" || { echo "canary: no '$2' in $1" && failed=1; }
}
smoke --limit 120 >"$build/canary.log" 2>&1 || { echo "canary: the planted defects passed" && failed=1; }
expect "$build/canary.log" "dead code: function contradictory, property default_requires"
expect "$build/canary.log" "dead code: function unreachable, property dead_code_s"
smoke --limit 0 >"$build/canary-late.log" 2>&1 || { echo "canary: a run that was stopped passed" && failed=1; }
expect "$build/canary-late.log" "stopped after 0 s"
exit $failed
