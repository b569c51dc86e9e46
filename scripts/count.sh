# Sourced by `scripts/test`: from what the parts print to the numbers of the sum. crates/testkit/tests/gate.rs tries it.

# count_tests LOG STATUS: adds what `cargo test` said of each test binary, and ended with. Its `ignored` and our
# `SKIPPED:` lines are skips; a binary that ends without a sum (a crash, code that does not compile) fails `cargo test`
# itself, which then counts as one more.
count_tests() {
    local log=$1 status=$2 passed failed ignored skipped
    read -r passed failed ignored < <(awk '
        /^test result: / { for (i = 2; i <= NF; i++) { n[$i] += $(i - 1) } }
        END { print n["passed;"] + 0, n["failed;"] + 0, n["ignored;"] + 0 }' "$log")
    skipped=$({ grep -o 'SKIPPED: ' "$log" || true; } | wc -l)
    # What another test runs as a program of its own is no skip.
    ignored=$((ignored - $(grep -c '^test .* \.\.\. ignored, run by ' "$log" || true)))
    TESTS_PASSED=$((passed - skipped))
    TESTS_FAILED=$failed
    TESTS_SKIPPED=$((ignored + skipped))
    if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        TESTS_FAILED=1
        say "cargo test ended with $status and no failed test: see above"
    fi
}

# failed_targets LOG: the targets that `cargo test --no-fail-fast` names at its end, as its own flags, one a line.
failed_targets() { sed -nE 's/^    `(-p [^`]+)`$/\1/p' "$1"; }

# count_again LOG: after `count_tests` counted failures, LOG is what the failed targets printed when each was run again.
# What fails now is what failed; what passed is told, as a test that can fail for want of a processor is worth mending.
count_again() {
    local first=$TESTS_FAILED passed=$TESTS_PASSED skipped=$TESTS_SKIPPED failed
    count_tests "$1" 0
    failed=$((TESTS_FAILED + $(grep -c '^AGAIN WITHOUT A SUM' "$1" || true)))
    [ "$failed" -le "$first" ] || failed=$first
    TESTS_PASSED=$((passed + first - failed))
    TESTS_FAILED=$failed
    TESTS_SKIPPED=$skipped
}

# count_fuzzing LOG STATUS: `fuzz/run` prints `fuzz TARGET ok` or `fuzz TARGET FAILED` for each target, and ends with
# 3 when it cannot run on this machine. Each target is recorded as a test.
count_fuzzing() {
    local log=$1 status=$2 verdict targets=0 failed=0
    if [ "$status" = 3 ]; then
        record skip "fuzz" "needs nightly Rust and cargo-fuzz"
        return
    fi
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
