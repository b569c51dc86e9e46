# Sourced by the scripts beside it: the machine as every comparison wants it, and what is to be known of it.

# What is measured is built with a recorded profile, as `make dist` builds it, but for the C library of this machine.
# BENCH_PROFILE=release builds without the recording, BENCH_PROFILE=dev without optimisation, to try the harness itself.
profile=${BENCH_PROFILE:-recorded}
host=$(rustc -vV | sed -n 's/^host: //p')

# programs ROOT: $vervet is the program, $tools the folder of the other programs of the workspace.
programs() {
  local target
  target=$(realpath -m "${CARGO_TARGET_DIR:-$1/target}")
  tools=$target/$(folder_of "$profile")
  vervet=$tools/vervet
  [ "$profile" != recorded ] || vervet=$target/$host/release/vervet
}

folder_of() {
  case $1 in
    recorded) echo release ;;
    dev) echo debug ;;
    *) echo "$1" ;;
  esac
}

# build ROOT PACKAGE: the program, and another package of the workspace.
build() {
  local cargo=(cargo build --quiet --profile "${profile/#recorded/release}" --manifest-path "$1/Cargo.toml" -p "$2")
  if [ "$profile" = recorded ]; then
    "${cargo[@]}"
    "$1/scripts/profiled" "$host" >/dev/null
  else
    "${cargo[@]}" -p vervet
  fi
}

# in_network SCRIPT ARGUMENTS...: goes on in a network namespace of our own: no other traffic, and one congestion control
# for all. To be called after the build, because nothing can be fetched from inside; returns when it is there.
in_network() {
  local script=$1
  shift
  if [ -z "${BENCH_NETWORK:-}" ]; then
    if [ "$(id -u)" = 0 ] && unshare --net true 2>/dev/null; then
      BENCH_NETWORK="private namespace" exec unshare --net "$script" "$@"
    fi
    BENCH_NETWORK="the system's own"
    echo "not root: measuring in the system's network, with its congestion control" >&2
  elif [ "$BENCH_NETWORK" = "private namespace" ]; then
    ip link set lo up
    # BBR paces even on loopback and costs a third more for big contents; reno is there where the
    # kernel does not let a namespace choose cubic.
    for control in cubic reno; do
      { echo $control >/proc/sys/net/ipv4/tcp_congestion_control; } 2>/dev/null && break
    done
    echo 16384 65000 >/proc/sys/net/ipv4/ip_local_port_range
  fi
  # The same limit for all: servers that keep files open need a descriptor for each.
  ulimit -n 500000 2>/dev/null || ulimit -n "$(ulimit -Hn)"
}

# The first line that says something: some programs begin with an empty one.
first_line() { "$@" 2>&1 | sed -n '/[^[:space:]]/{p;q}' || true; }

# environment PROGRAM...: what a reader has to know of the machine, one fact a line.
environment() {
  local name
  echo "commit: $(git rev-parse --short=12 HEAD)$(git diff --quiet HEAD || echo ', with changes')"
  echo "date: $(date -u +%F)"
  echo "processor: $(nproc) ×$(sed -n 's/^model name.*:/ /p' /proc/cpuinfo | head -n 1)"
  echo "cores: server on 0, generator on 1"
  echo "kernel: $(uname -r)"
  echo "network: $BENCH_NETWORK"
  echo "descriptors: $(ulimit -n)"
  for name in net/ipv4/tcp_{congestion_control,rmem,wmem,tw_reuse} net/ipv4/ip_local_port_range net/core/somaxconn; do
    echo "sysctl ${name//\//.}: $(tr '\t' ' ' </proc/sys/$name)"
  done
  echo "vervet: $(first_line "$vervet" version), $(built)"
  for name in "$@"; do
    echo "$name: $(command -v "$name" >/dev/null && version_of "$name" || echo missing)"
  done
}

# How the program says that it was built: what was asked for may not have been there.
built() {
  local said
  said=$("$vervet" version --build)
  case $(awk '$1 == "recording" { print $2 }' <<<"$said") in
    used) echo "$(awk '$1 == "profile" { print $2 }' <<<"$said") with a recorded profile" ;;
    *) awk '$1 == "profile" { print $2 " without a recorded profile" }' <<<"$said" ;;
  esac
}

version_of() {
  case $1 in
    ab | weighttp) first_line "$1" -V ;;
    h2load | oha) first_line "$1" --version ;;
    *) first_line "$1" -v ;;
  esac
}
