#!/bin/bash
# "The way of one workload" in docs/architecture.md is true: each file it names defines the function it names. So is the
# table in docs/internals/writes.md. The files of "The way of a plain Job" exist; `make way` says whether a Job enters them.
set -u
cd "$(dirname "$0")/../.."
failed=0 steps=0
while IFS='|' read -r _ _ place _; do
    [[ $place =~ \`([a-z_/]+\.c):\ ([a-z_0-9]+)\` ]] || continue
    steps=$((steps + 1))
    grep -qE "\b${BASH_REMATCH[2]}\(" "src/${BASH_REMATCH[1]}" 2>/dev/null ||
        { echo "way: src/${BASH_REMATCH[1]} has no ${BASH_REMATCH[2]}"; failed=1; }
done < <(sed -n '/way of one workload/,/^## /p' docs/architecture.md)
[ "$steps" -ge 8 ] || { echo "way: docs/architecture.md names only $steps steps"; failed=1; }
files=$(sed -n '/^## The way of a plain Job/,/^## The way of one/p' docs/architecture.md |
    grep -oE '`[a-z_0-9/]+/(\{[a-z_0-9,]+\}|[a-z_0-9]+)\.c`' | tr -d '`' |
    awk -F '[{}]' 'NF == 1 {print; next} {n = split($2, name, ","); for (i = 1; i <= n; i++) print $1 name[i] $3}')
[ "$(wc -w <<<"$files")" -ge 50 ] || { echo "way: docs/architecture.md names few files of a plain Job's way"; failed=1; }
for file in $files; do
    [ -f "src/$file" ] || { echo "way: docs/architecture.md names src/$file, which is not there"; failed=1; }
done
steps_of() { sed -nE "$2" "$1" | tr -d ' '; }
diff <(steps_of src/controllers/control/write_steps.def 's/^SL_WRITE_STEP\((.*)\)$/\1/p') \
    <(steps_of docs/internals/writes.md 's/^\| ([A-Z]+) \| ([A-Z]+) \| ([A-Z]+) \| ([A-Z_]+) \|.*/\1,\2,\3,\4/p') ||
    { echo "way: docs/internals/writes.md has other rows than write_steps.def"; failed=1; }
exit $failed
