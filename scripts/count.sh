# Sourced by `scripts/test`: from what the parts print to the numbers of the sum.
# crates/testkit/tests/gate.rs tests it.

# count_tests LOG STATUS: adds what `cargo test` said of each test program, and ended with. Its
# `ignored` and our `SKIPPED:` lines are skips; a program that ends without a sum (a crash, code
# that does not compile) fails `cargo test` itself, which then counts as one more.
count_tests() {
    local log=$1 status=$2 passed failed ignored skipped
    read -r passed failed ignored < <(awk '
        /^test result: / { for (i = 2; i <= NF; i++) { n[$i] += $(i - 1) } }
        END { print n["passed;"] + 0, n["failed;"] + 0, n["ignored;"] + 0 }' "$log")
    skipped=$({ grep -o 'SKIPPED: ' "$log" || true; } | wc -l)
    # A test that another test runs as a program of its own is not skipped.
    ignored=$((ignored - $(grep -c '^test .* \.\.\. ignored, run by ' "$log" || true)))
    TESTS_PASSED=$((passed - skipped))
    TESTS_FAILED=$failed
    TESTS_SKIPPED=$((ignored + skipped))
    if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        TESTS_FAILED=1
        say "cargo test ended with $status and no failed test: see above"
    fi
}

# failed_tests LOG: the names of the tests that failed, one a line.
failed_tests() { sed -nE 's/^test (.*) \.\.\. FAILED( <.*)?$/\1/p' "$1" | sort -u; }

# count_again LOG: after `count_tests` counted failures, LOG is what the failed tests printed when
# they were run again. What fails again has failed; a program that crashes fails all it holds.
count_again() {
    local first=$TESTS_FAILED again
    again=$(awk '/^test result: / { n += $4; m += $6 } END { print n + 0, m + 0 }' "$1")
    TESTS_FAILED=$((first - ${again% *}))
    [ "$TESTS_FAILED" -ge "${again#* }" ] || TESTS_FAILED=${again#* }
    [ "$TESTS_FAILED" -le "$first" ] || TESTS_FAILED=$first
    TESTS_PASSED=$((TESTS_PASSED + first - TESTS_FAILED))
}

# flaky_or_failed LOG AGAIN: a line for each test that failed at first.
flaky_or_failed() {
    local name verdict
    while read -r name; do
        verdict=FAILED
        [ ! -e "$2" ] || ! grep -qE "^test $name \.\.\. ok( <.*)?$" "$2" || verdict=FLAKY
        printf '%s: %s\n' "$verdict" "$name"
    done < <(failed_tests "$1")
}

# program_steps LOG: the seconds of each test program that ran, and its name. All integration tests
# are called `main`; cargo runs them after the unit tests of their crate.
program_steps() {
    awk '
        /^ *Running / {
            path = $NF; sub(/.*\//, "", path); sub(/-[0-9a-f]+\)$/, "", path)
            if ($2 == "unittests") { crate = path; name = "unit tests of " path }
            else name = "integration tests of " crate (path == "main" ? "" : " (" path ")") }
        /^test result: / { sub(/s$/, "", $NF); printf "%d %s\n", $NF + 0.5, name }' "$1"
}

# slow_tests LOG SECONDS: names the tests that took longer.
slow_tests() {
    sed -nE 's/^test (.*) \.\.\. .*<([0-9.]+)s>$/\2 \1/p' "$1" | sort -rn |
        awk -v most="$2" '$1 > most { printf "SLOW: %s took %.1f s, at most %d\n", $2, $1, most }'
}

# budget WHAT USED MOST UNIT
budget() {
    local verdict=
    [ "$2" -le "$3" ] || verdict=": OVER BUDGET"
    printf '%s: %d of %d %s%s\n' "$1" "$2" "$3" "$4" "$verdict"
}

# count_fuzzing LOG STATUS: `fuzz/run` prints `fuzz TARGET ok` or `fuzz TARGET FAILED` for each
# target. Each target is recorded as a test.
count_fuzzing() {
    local log=$1 status=$2 verdict targets=0 failed=0
    while read -r verdict; do
        targets=$((targets + 1))
        if [ "$verdict" = ok ]; then
            recorded pass "fuzz"
        else
            failed=$((failed + 1))
            recorded fail "fuzz"
        fi
    done < <(sed -nE 's/^fuzz [^ ]+ (ok|FAILED)( .*)?$/\1/p' "$log")
    if [ "$targets" = 0 ]; then
        record fail "fuzz" "fuzz/run ended with $status and named no target"
    elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        record fail "fuzz" "fuzz/run ended with $status and no failed target"
    fi
}

# how_many KIND: how many of that kind have been recorded.
how_many() { grep -c "^$1 " "$VERVET_RESULTS" || true; }
