#!/bin/bash
# usage: pack.sh DIRECTORY ARCHIVE   The same files always make the same archive.
set -eu
# In the C locale, so that the order is everybody's.
(cd "$1" && find . -type f -printf '%f\n' | LC_ALL=C sort) |
    tar -C "$1" --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - -T - | gzip -n9 >"$2.new"
mv "$2.new" "$2"
