#!/bin/bash
# The gate must find the planted defects, name them, and fail when it is not given the time: smoke tests what
# contradicts itself and what is dead, the proofs what is believed without a proof (canary_gate), and the lint of two
# contracts what a .c file asks beyond its header.
# usage: canary.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 failed=0
mkdir -p "$build"
relative=${here#"$PWD"/}
smoke() { # what it says, and fails if the run was good
    ! "$here/prove.py" --build "$build" --smoke --fresh "$@" "$relative/canary.c"
}
rejected() { # NAME OPTION... : the proof of canary_gate/NAME.c fails
    local name=$1
    shift
    ! "$here/prove.py" --build "$build/gate" --fresh --timeout 2 "$@" "$relative/canary_gate/$name.c" >"$build/$name.log" 2>&1
}
expect() { # FILE TEXT
    grep -q -- "$2" "$1" || { echo "canary: no '$2' in $1" && failed=1; }
}
must() { # TEXT COMMAND...
    local text=$1
    shift
    "$@" || { echo "canary: $text passed" && failed=1; }
}
smoke --limit 120 >"$build/canary.log" 2>&1 || { echo "canary: the planted defects passed" && failed=1; }
expect "$build/canary.log" "dead code: function contradictory, property default_requires"
expect "$build/canary.log" "dead code: function unreachable, property dead_code_s"
smoke --limit 0 >"$build/canary-late.log" 2>&1 || { echo "canary: a run that was stopped passed" && failed=1; }
expect "$build/canary-late.log" "stopped after 0 s"

must "an admitted clause" rejected admitted --cache none
expect "$build/admitted.log" "admitted: Post-condition 'seven' is Extern"
must "a clause that WP leaves out" rejected left_out --cache none
expect "$build/left_out.log" "left_out: Default behavior is -"
must "a ghost function without a body" rejected without_body --cache none
expect "$build/without_body.log" "the contract of sl_lemma_lie is taken for true, and no file proves it"

# A forged answer is believed by who asks the cache, and found by who asks the solvers.
must "a false claim" rejected forged --cache rebuild
sed -i 's/"verdict": "[a-z]*"/"verdict": "valid"/' "$build"/gate/prove/session/forged/cache/*.json
must "a forged answer, in a sample" rejected forged --cache none --sample 1000 --seed any
expect "$build/forged.log" "typed_forged_ensures_odd"
"$here/prove.py" --build "$build/gate" --fresh --cache offline "$relative/canary_gate/forged.c" >"$build/believed.log" 2>&1 ||
    { echo "canary: the forged answer was not even asked for" && failed=1; }

# What a .c file asks for or writes beyond its header.
rm -rf "$build/two" && mkdir -p "$build/two" && cp -r src specs "$build/two" 2>/dev/null
sed -i 's/assigns is_restrained\[id\], restrained_generation\[id\]; \*\//assigns is_restrained[id], restrained_generation[id], sl_workloads[id].active; *\//
s/^\/\*@ terminates \\true; exits \\false; assigns is_restrained/\/*@ requires small: id < 5; terminates \\true; exits \\false; assigns is_restrained/' \
    "$build/two/src/policy/preemption/restraint.c"
printf '%s\n' '/*@ ensures \false; */' 'enum sl_status sl_commit_apply(void);' '/*@ ghost /@ ensures \false; @/ void sl_lie(void); */' \
    >>"$build/two/src/policy/preemption/victims.c"
tests/lint/two_contracts.py "$build/two" >"$build/two.log" && echo "canary: a contract beyond its header passed" && failed=1
expect "$build/two.log" "sl_restraint_set asks for .id < 5., which its header does not say"
expect "$build/two.log" "sl_restraint_set writes sl_workloads, which its header does not say"
expect "$build/two.log" "declares: sl_commit_apply, which it does not define"
expect "$build/two.log" "declares: sl_lie, which it does not define"
rm -rf "$build/two"
exit $failed
