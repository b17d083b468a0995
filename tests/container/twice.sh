#!/bin/bash
# Builds the image a second time, from a copy of the tree in another directory, with other objects, umask and time of day: are the bytes the same?
# The time that stands in them is one of both, since a copy has no commit. usage: twice.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(readlink -f "${1:-build}")
export SOURCE_DATE_EPOCH=1
rm -rf "$build/twice" && mkdir -p "$build/twice/some/where/else"
git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -xf - -C "$build/twice/some/where/else"
make --no-print-directory -s -j2 BUILD="$build" image
(umask 077 && cd "$build/twice/some/where/else" && make --no-print-directory -s -j2 BUILD="$build/twice/objects" image)
if cmp "$build/sluice-image.tar" "$build/twice/objects/sluice-image.tar"; then
    rm -rf "$build/twice"
    echo "image-twice: 1 passed, 0 failed"
else
    cmp "$build/image/sluiced" "$build/twice/objects/image/sluiced" || true
    diff -r "$build/image/root" "$build/twice/objects/image/root" || true
    echo "image-twice: 0 passed, 1 failed"
    exit 1
fi
