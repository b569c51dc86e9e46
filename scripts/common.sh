# Sourced by the other scripts: where things are, and how results are printed and counted.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
cd "$ROOT"

# A non-login shell may lack the folder that rustup installs to.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/sbin
export PATH

# In continuous integration, where everything can be installed, nothing may be skipped.
if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ]; then
    export VERVET_REQUIRE_ALL=${VERVET_REQUIRE_ALL:-1}
fi

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$*"
    exit 1
}

need_cargo() {
    command -v cargo >/dev/null && return
    die "cargo is missing: install rustup (your distribution has it, or see https://rustup.rs), then repeat;" \
        "it fetches the toolchain that rust-toolchain.toml names by itself"
}

# record pass|fail|skip NAME [WHY]: one line for the reader, and one for `scripts/test`, which counts them.
record() {
    local verdict=$1 name=$2 why=${3:-}
    if [ "$verdict" = skip ] && [ "${VERVET_REQUIRE_ALL:-}" = 1 ]; then
        verdict=fail
        why="skipping is not allowed here (VERVET_REQUIRE_ALL=1): $why"
    fi
    case $verdict in
        pass) printf '%s: ok%s\n' "$name" "${why:+ ($why)}" ;;
        fail) printf '%s: FAILED%s\n' "$name" "${why:+: $why}" ;;
        skip) printf 'SKIPPED: %s%s\n' "$name" "${why:+: $why}" ;;
    esac
    recorded "$verdict" "$name"
}

# recorded pass|fail|skip NAME: counts a result that has been printed already.
recorded() {
    [ -z "${VERVET_RESULTS:-}" ] || printf '%s %s\n' "$1" "$2" >>"$VERVET_RESULTS"
    [ "$1" != fail ] || FAILED=1
}

FAILED=0

# attempt NAME COMMAND...: runs it and records how it ended, with the seconds it took.
attempt() {
    local name=$1 began=$SECONDS
    shift
    if timed "$name" "$@"; then
        record pass "$name" "$((SECONDS - began)) s"
    else
        record fail "$name" "exit $? of: $*"
    fi
}

# timed NAME COMMAND...: runs it and leaves its seconds for the list of the slowest steps.
timed() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" || status=$?
    [ -z "${VERVET_STEPS:-}" ] || printf '%d %s\n' "$((SECONDS - began))" "$name" >>"$VERVET_STEPS"
    return "$status"
}

# Clippy's driver is the compiler with lints: wrapped around it, one build gives the test programs
# and all warnings. Every part of the gate uses this one choice of packages and features, so that
# nothing is built twice.
WORKSPACE_TESTS=(
    env RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo test --workspace --locked --all-features
)

# Builds all test programs; a warning is a failure.
build_tests() {
    local log=$TARGET/build-log
    mkdir -p "$TARGET"
    "${WORKSPACE_TESTS[@]}" --no-run 2>&1 | tee "$log"
    ! grep -qE '^warning' "$log"
}

# wait_for_address PID LOG SECONDS: prints the first address that a server of ours has written, as HOST:PORT.
wait_for_address() {
    local deadline=$((SECONDS + $3)) address
    while [ "$SECONDS" -lt "$deadline" ] && kill -0 "$1" 2>/dev/null; do
        address=$(sed -n 's|.*http://\([0-9.]*:[0-9]*\)/.*|\1|p' "$2" | head -1)
        if [ -n "$address" ]; then
            printf '%s\n' "$address"
            return
        fi
        sleep 0.02
    done
    return 1
}
