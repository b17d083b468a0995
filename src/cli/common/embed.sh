#!/bin/bash
# Prints files as a table in C (embed.h), each with its digest as ETag. usage: embed.sh TABLE FILE...
set -euo pipefail
export LC_ALL=C
table=$1
shift

type_of() { # NAME
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    *.yaml) echo 'application/yaml' ;;
    *) echo "embed: $1 has no content type" >&2; return 1 ;;
    esac
}

echo '/* Made by embed.sh. */'
echo '#include "cli/common/embed.h"'
i=0
for file in "$@"; do
    echo "static const unsigned char file_$i[] = {"
    od -An -v -tu1 -w32 "$file" | sed -E 's/ +/,/g; s/^,//; s/$/,/'
    echo '};'
    i=$((i + 1))
done
echo "const struct sl_embedded ${table}[] = {"
i=0
for file in "$@"; do
    name=$(basename "$file")
    type=$(type_of "$name")
    digest=$(sha256sum "$file" | cut -c1-24)
    printf '    {"%s", "%s", "\\"%s\\"", file_%d, sizeof file_%d},\n' "$name" "$type" "$digest" $i $i
    i=$((i + 1))
done
echo '    {0},'
echo '};'
