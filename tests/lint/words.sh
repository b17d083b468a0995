#!/bin/bash
# Words that are refused where they are, and words of our own that may only become fewer (words.txt).
# usage: words.sh [--write]    --write puts the present counts into words.txt: look at its diff
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

# English as people write it, in docs, in messages and help. A workload is "it", never "who".
prose=(README.md SECURITY.md ':(glob)docs/*.md' ':(glob)docs/internals/*.md' ':(exclude)docs/defects.md'
    ':(glob)deploy/**/*.md' ':(glob)deploy/**/*.yaml')
code=(':(glob)src/**/*.c' ':(glob)src/**/*.h' ':(glob)src/**/*.def' ':(glob)model/*.def')
persons='([Ww]hoever|[Ww]hom|[Nn]obody|[Ss]omebody|[Aa]nybody|[Ee]verybody)'
foreign='(anew|told apart|stands? (in|behind|there|on|off)|is gone|are gone|it is no|that (is|are) no|looked at anew)'
forbid "\\b$persons\\b|(^|[.;] |\\| )Who [a-z]|\\b(workload|job|pod|node|queue)s?,? who\\b" 'name the person or the thing; a workload is "it"' \
    "${prose[@]}"
forbid "\\b$foreign\\b" 'say it in plain English: again, distinguished, is in, was deleted, is not' "${prose[@]}"
forbid "\"[^\"]*\\b($persons|$foreign)\\b[^\"]*\"" 'a message that has to be read twice' "${code[@]}"
forbid '\b(FEATURES|SCENARIOS|UPSTREAM)(\.md|:| [0-9])' 'the project has no such document: name the symbol of Kueue, or link a page of docs' \
    src model tests fuzz docs README.md

# Words of our own (docs/glossary.md), counted by room, as words and as parts of names.
counts() {
    git ls-files -co --exclude-standard -- src README.md ':(glob)docs/*.md' ':(glob)docs/internals/*.md' \
        ':(exclude)docs/glossary.md' ':(exclude)docs/defects.md' ':(exclude)src/**/*.sh' |
        awk 'NR == FNR {if ($1 !~ /^#/) listed[$1] = 1; next}
             {split($0, at, "/"); room = at[1] == "src" ? at[2] : "docs"
              while ((getline line < $0) > 0) {
                  n = split(tolower(line), part, /[^a-z]+/)
                  for (i = 1; i <= n; i++) if (part[i] in listed) found[part[i] " " room]++
              }
              close($0)}
             END {for (key in found) {print key, found[key]; split(key, of, " "); used[of[1]] = 1}
                  for (word in listed) if (!(word in used)) print word, "-", 0}' tests/lint/words.txt - | LC_ALL=C sort
}
if [ "${1-}" = --write ]; then
    { grep '^#' tests/lint/words.txt; counts; } >tests/lint/words.new && mv tests/lint/words.new tests/lint/words.txt
fi
more=$(counts | awk 'NR == FNR {if ($1 !~ /^#/) most[$1 " " $2] = $3; next}
                     $3 > most[$1 " " $2] + 0 {print $2 ": \"" $1 "\" " $3 " times, at most " most[$1 " " $2] + 0}' tests/lint/words.txt -)
if [ -n "$more" ]; then
    printf '%s\n' "$more"
    echo 'words: use the word of docs/glossary.md; counts in tests/lint/words.txt only fall'
    failed=1
fi

# The glossary is a page, not a book, and what it names exists.
terms=$(awk '/^\| ---/ {table++; next} /^\| Kueue/ {next} table == 1 && /^\|/ {gsub(/[|`]/, ""); n += NF} END {print n + 0}' docs/glossary.md)
[ "$terms" -gt 0 ] && [ "$terms" -le 60 ] || { echo "words: the first table of docs/glossary.md has $terms words, 1 to 60"; failed=1; }
for file in $(grep -oE '`[a-z]+(/[a-z_]+)+\.h`' docs/glossary.md | tr -d '`'); do
    [ -f "src/$file" ] || { echo "words: docs/glossary.md names src/$file, which does not exist"; failed=1; }
done
exit $failed
