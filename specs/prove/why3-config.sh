#!/bin/bash
# Writes a Why3 configuration with the solvers z3 and cvc5 to FILE, without touching the user's own. Why3 1.5
# does not know cvc5, so its driver (cvc4's, with the logic's new name) lies beside this script.
# usage: why3-config.sh FILE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
conf=$1
mkdir -p "$(dirname "$conf")"
rm -f "$conf"
why3 --config "$conf" config detect >"$conf.log" 2>&1 || { cat "$conf.log"; exit 1; }
grep -q '"Z3"' "$conf" || { echo "why3-config: z3 was not found"; exit 1; }
solver=$(command -v cvc5) || { echo "why3-config: cvc5 was not found"; exit 1; }
version=$("$solver" --version | sed -n 's/^This is cvc5 version \([0-9.]*\).*/\1/p')
cat >>"$conf" <<END

[prover]
command = "$solver --tlimit=%t000 --lang=smt2 %f"
command_steps = "$solver --tlimit=%t000 --lang=smt2 %f"
driver = "$here/cvc5.drv"
editor = ""
in_place = false
interactive = false
name = "CVC5"
shortcut = "cvc5"
version = "$version"
END
