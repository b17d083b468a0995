#!/bin/bash
# Where the core's state lies, for images of it (journal_image.c; docs/decisions/0018).
# usage: journal_core.sh mark OBJECT      give each section of a core object that holds state a global name
#        journal_core.sh table OBJECT...  print the table of all variables of these marked objects, as C
set -euo pipefail
export LC_ALL=C

# OBJECT... -> lines "room/file section offset size name" (hex) of its variables. Names with two underscores are the
# compiler's: counters of coverage and the like.
variables() {
    objdump -t "$@" | awk '
        / file format / { sub(/\.o:.*/, ""); n = split($0, part, "/"); file = part[n - 1] "/" part[n] }
        / O / {
            for (i = 1; $i != "O"; i++) {}
            section = $(i + 1)
            if (section ~ /^\.(rodata|data\.rel\.ro)/ || $(i + 3) ~ /^__/) next
            if (section !~ /^\.l?(data|bss)$/) {
                print file ": " $(i + 3) " is in " section ": no state may be there" >"/dev/stderr"
                exit 1
            }
            print file, section, $1, $(i + 2), $(i + 3)
        }'
}

# The same behind the global name of the section.
marks() {
    awk '{name = "sl_core_" $1 $2; gsub(/[\/.]/, "_", name); print name, $0}'
}

mark() {
    local options=() name section
    while read -r name section; do
        options+=(--add-symbol "$name=$section:0,global")
    done < <(variables "$1" | marks | cut -d ' ' -f 1,3 | sort -u)
    [ ${#options[@]} -eq 0 ] || objcopy "${options[@]}" "$1"
}

# What the core is: its text without comments and blanks.
sources() {
    cat src/{kernel,policy}/*/*.{c,h,def} model/*.def 2>/dev/null | awk '
        {
            line = $0
            while (1) {
                if (inside) {
                    if (!(end = index(line, "*/"))) next
                    line = substr(line, end + 2)
                    inside = 0
                }
                sub(/\/\/.*/, "", line)
                if (!(begin = index(line, "/*"))) break
                printf "%s", substr(line, 1, begin - 1)
                line = substr(line, begin + 2)
                inside = 1
            }
            print line
        }' | tr -s ' \t\n' ' '
}

table() {
    local spans digest
    # name, size, is it initialised, mark, offset
    spans=$(variables "$@" | marks | sort -k 2,2 -k 6,6 |
        awk '{print $2 ":" $6, "0x" $5, $3 ~ /data$/ ? "true" : "false", $1, "0x" $4}')
    digest=$({ cut -d ' ' -f 1-3 <<<"$spans"; sources; } | sha256sum | cut -c 1-16)
    echo '#include "engine/journal/journal_image.h"'
    cut -d ' ' -f 4 <<<"$spans" | sort -u | sed 's/.*/extern unsigned char &[];/'
    echo 'const struct sl_core_span sl_core_spans[] = {'
    awk '{printf "    {%s + %s, %su, %s}, /* %s */\n", $4, $5, $2, $3, $1}' <<<"$spans"
    echo '};'
    echo 'const uint32_t sl_core_span_count = sizeof sl_core_spans / sizeof sl_core_spans[0];'
    echo "const char sl_core_digest[] = \"$digest\";"
}

case ${1:-} in
mark) mark "$2" ;;
table) shift && table "$@" ;;
*) echo "usage: journal_core.sh mark OBJECT | table OBJECT..." >&2; exit 2 ;;
esac
