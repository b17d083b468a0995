#!/bin/bash
# usage: unpack.sh TARGET DIRECTORY   A target's seeds: those of its archive and those that were made by hand.
set -eu
rm -rf "$2.new" && mkdir -p "$2.new"
[ ! -f "fuzz/corpus/$1.tar.gz" ] || tar -C "$2.new" -xzf "fuzz/corpus/$1.tar.gz"
[ ! -d "fuzz/corpus/$1" ] || cp "fuzz/corpus/$1"/* "$2.new/"
rm -rf "$2" && mv "$2.new" "$2"
