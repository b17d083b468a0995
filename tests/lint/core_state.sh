#!/bin/bash
# Images of the core have all of its variables, and these hold no addresses. usage: core_state.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0

# What nm calls data of any kind, by object, against the table that images are made with.
variables=$(for object in "$1"/{kernel,policy}/*/*.o; do
    nm -S --defined-only "$object" | awk -v file="$(basename "$(dirname "$object")")/$(basename "${object%.o}")" '
        NF == 4 && $3 ~ /^[bBdDgGsSlLcCuvV]$/ && $4 !~ /^__/ { print file ":" $4, "0x" $2 }'
done | sort)
table=$(sed -nE 's#^    \{.*, (0x[0-9a-f]+)u, (true|false)\}, /\* (.*) \*/$#\3 \1#p' "$1/engine/journal/journal_core.c" | sort)
if [ -z "$table" ] || ! diff <(echo "$variables") <(echo "$table"); then
    echo "core_state: the table of the core's variables is not what its objects have"
    bad=1
fi

# At file scope, static in a function, or a field: a name behind a star that is no parameter.
pointers=$(grep -nE '^ +static [^();]*\*|^(static |extern )?[a-z][a-z0-9_ ]*\*[^();]*(;|=)|^[^*/(]*\(\*[a-z_]+(\[[^]]*\])?\)\(.*\);' src/{kernel,policy}/*/*.[ch] || true
    awk '/^(typedef )?(struct|union)[^;()]*\{$|^(static )?struct \{$/ {inside = 1}
         inside && /^[^\/(]*\*[ ]*[a-z_]+(\[[^]]*\])?;/ {print FILENAME ":" FNR ":" $0}
         /^\}/ {inside = 0}' src/{kernel,policy}/*/*.[ch])
if [ -n "$pointers" ]; then
    printf 'core_state: an address in the state of the core: %s\n' "$pointers"
    bad=1
fi
exit $bad
