#!/bin/bash
# The table of the core's variables as images have it, with their names, and variables.txt as C.
# usage: variables.sh variables.txt OBJECT...
set -euo pipefail
rules=$1
shift
table=$(src/engine/journal/journal_core.sh table "$@")
echo "$table"
echo '#include "tests/explore/variables.h"'
echo 'const char *const variable_names[] = {'
sed -n 's|.*/\* \([^ ]*\) \*/$|    "\1",|p' <<<"$table"
echo '};'
echo 'const struct variable_rule variable_rules[] = {'
awk '/^(rank|pair|age) / { if (!($2 in group)) group[$2] = ++n; printf "    {\"%s\", \"%s\", %u},\n", $1, $3, group[$2] }
     /^(wipe|seen|count) / { printf "    {\"%s\", \"%s\", 0},\n", $1, $2 }' "$rules"
echo '};'
echo 'const uint32_t variable_rule_count = sizeof variable_rules / sizeof variable_rules[0];'
