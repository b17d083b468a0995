#!/bin/bash
# Words that may not stand where they stand. Each line: what, where, why.
set -u
cd "$(dirname "$0")/../.."
failed=0
forbid() { # PATTERN WHY PATH...
    local pattern=$1 why=$2
    shift 2
    local found
    found=$(git ls-files -co --exclude-standard -- "$@" | grep -v '^tests/lint/words.sh$' |
        xargs -r grep -nE -- "$pattern" 2>/dev/null)
    if [ -n "$found" ]; then
        printf '%s\n' "$found" | cut -c1-160
        echo "words: $why"
        failed=1
    fi
}
forbid '__FRAMAC__' 'the proved program is the shipped one: no prover #ifdef' src
forbid '(^|[^>._a-z])(malloc|calloc|realloc|free|strdup|strndup|asprintf)\(' 'the shell allocates through base/mem.h, the core not at all' \
    ':(glob)src/**/*.c' ':(exclude)src/base/mem.c'
forbid '\b(strcpy|strcat|sprintf|gets|strtok|atoi|atol)\(' 'use a bounded function' src
forbid '\b(TODO|FIXME|XXX|HACK)\b' 'finish it, or write it into docs or an issue' src fuzz tests model specs
forbid '/(work|tmp)/(main|shared|\.)' 'no machine paths' .
forbid '^//[^@]|[;{})][ \t]*//([^@]|$)' 'comments are /* */; inside ACSL //' ':(glob)src/**/*.c' ':(glob)src/**/*.h'
forbid '\b(admit|axiomatic)\b *[{;:]|\baxiom\b' 'no admitted goals, no axioms' src ':(glob)specs/*.acsl'
exit $failed
