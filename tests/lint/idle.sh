#!/bin/bash
# Does a cluster warn of the same fields without effect as standalone mode? usage: idle.sh
set -u
policy=deploy/kubernetes/policies/idle.yaml bad=0
warned=$(grep -c '^      message:' "$policy")
rows=0
while IFS= read -r sentence; do
    rows=$((rows + 1))
    grep -qF "message: \"$sentence\"" "$policy" || { echo "$policy does not say: $sentence"; bad=1; }
done < <(sed -nE 's/^SL_IDLE\([A-Z_]+, "([^"]+)", "([^"]+)", "([^"]+)"\)$/\1.\2 has no effect: \3/p' src/api/objects/idle.def)
[ "$rows" -gt 0 ] && [ "$rows" -eq "$warned" ] || { echo "src/api/objects/idle.def has $rows rows, $policy $warned messages"; bad=1; }
exit $bad
