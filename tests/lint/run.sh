#!/bin/bash
# Runs every lint; each is one check. usage: run.sh BUILD
set -u
cd "$(dirname "$0")/../.."
build=$1 passed=0 failed=0
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "lint: $name FAILED"
    fi
}
sources=$(git ls-files -co --exclude-standard -- 'src/*.c' 'src/*.h' 'src/*.def')
check layers awk -f tests/lint/layers.awk tests/lint/folders.txt tests/lint/core_users.txt $sources
check groups tests/lint/groups.py "$build"
check core-symbols tests/lint/core_symbols.sh "$build"
check core-users tests/lint/core_users.py "$build"
check hardened tests/lint/hardened.sh "$build"
check core-state tests/lint/core_state.sh "$build"
check words tests/lint/words.sh
check links site/links.py
check links-rules site/test_links.py -q
check sizes tests/lint/sizes.py
check help tests/lint/help.sh
check contracts tests/lint/contracts.py
check two-contracts tests/lint/two_contracts.py
check hidden-state tests/lint/hidden_state.py "$build"
check hidden-state-rules tests/lint/test_hidden_state.py -q
check doors tests/lint/doors.py "$build"
check gates tests/lint/gates.py
check proof-records tests/lint/test_proof_records.py -q
check both tests/lint/test_both.py -q
check suites tests/lint/test_suites.py -q
check suites-tables tests/suites/table.py check
check plays-table tests/plays/table.py check
check guarantees tests/lint/guarantees.sh
check mutants tests/lint/mutants.py -q What Answers Clauses TheTable "$build"
check model tests/lint/model.sh --check
check crds make --no-print-directory -s BUILD="$build" crds-check
check answers env LC_ALL=C sort -c -u specs/answers.txt
check both-answers env LC_ALL=C sort -c -u specs/both_answers.txt
check cases tests/conformance/format.py --check tests/conformance/cases/*/*.json
check defects tests/defects/run.py --build "$build" --table check
check reference make --no-print-directory -s BUILD="$build" reference-check
check chart tests/lint/chart.py
check metrics tests/lint/metrics.py
check idle tests/lint/idle.py
check way tests/lint/way.sh
echo "lint: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
