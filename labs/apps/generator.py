"""Loads a canned-response server with one load generator, load by load, and reports to the lab.

generator.py VERVET GENERATOR: the server runs on core 0, the generator on core 1. For each load it
prints how long a million requests took (`NAME`) and how much processor time of the generator they
cost (`NAME-cpu`), and as facts how full the server's core was and the response times. `half-p50` and
`half-p99` are the response times of vervet and wrk at the fewest connections with which the
generator reaches half of its rate of small64. `open` is how long a million requests of an open load
took, and `open-due` how long they should have taken.
"""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import time

SECONDS = 1
MILLION = 1_000_000
# Name, bytes, connections, kept, requests a second given to generators that take a number.
LOADS = [
    ("small64", 13, 64, True, 200_000),
    ("small1000", 13, 1000, True, 200_000),
    ("close64", 13, 64, False, 30_000),
    ("large64", 200 * 1024, 64, True, 25_000),
]
# Rate that is asked for with open load, and for how long.
OPEN_RATE, OPEN_SECONDS = 50_000, 5
# These send `Connection: close` and go on with the connection.
KEEP_ONLY = ("wrk", "h2load")


def arguments(name, load, url, seconds):
    _, _, connections, kept, per_second = load
    count = ["-n", str(per_second * seconds), "-c", str(connections)]
    if name == "vervet":
        flags = ["load", url, "-c", str(connections), "-d", f"{seconds}s", "--format", "json"]
        return flags + ([] if kept else ["--close"])
    if name in ("weighttp", "ab"):
        extra = ["-r"] if name == "ab" else []
        return (["-k"] if kept else []) + ["-q", *extra, *count, url]
    if name == "wrk":
        return ["-t1", "--latency", f"-d{seconds}s", f"-c{connections}", url]
    if name == "h2load":
        return ["--h1", "-t1", *count, url]
    close = [] if kept else ["--disable-keepalive"]
    return ["--no-tui", "--output-format", "json", "-z", f"{seconds}s", "-c", str(connections), *close, url]


def number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found.group(1)) if found else None


def micros(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(value) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def read(name, text):
    """Good answers, answers a second, failures, p50 and p99 in microseconds (None: not reported)."""
    if name == "vervet":
        run = json.loads(text)
        times = run["timings"]["service"]
        failed = sum(count for count in run["errors"].values() if isinstance(count, int))
        return run["achieved"]["done"], run["achieved"]["rate_per_s"], failed, times["p50_ns"] / 1e3, times["p99_ns"] / 1e3
    if name == "oha":
        run = json.loads(text)
        # What was under way when the time was up is reported as an error, and is none.
        errors = run["errorDistribution"].items()
        failed = sum(count for what, count in errors if "deadline" not in what)
        times = run["latencyPercentiles"]
        answers = sum(run["statusCodeDistribution"].values())
        return answers, run["summary"]["requestsPerSec"], failed, times["p50"] * 1e6, times["p99"] * 1e6
    if name == "weighttp" and text.lstrip().startswith("{"):
        run = json.loads(text)
        counts = run["response_counts"]
        return counts["pass"], run["reqs_per_sec"], counts["fail"] + counts["errs"], None, None
    if name == "ab":
        failed = number(r"Failed requests:\s+(\d+)", text) + (number(r"Non-2xx responses:\s+(\d+)", text) or 0)
        p50, p99 = (number(rf"^\s*{part}%\s+(\d+)", text) * 1e3 for part in (50, 99))
        return number(r"Complete requests:\s+(\d+)", text), number(r"Requests per second:\s+([\d.]+)", text), failed, p50, p99
    if name == "wrk":
        done = number(r"(\d+) requests in", text)
        seconds = micros(re.search(r"requests in ([\d.]+[mu]?s)", text).group(1)) / 1e6
        errors = re.search(r"Socket errors:(.*)", text)
        failed = sum(map(int, re.findall(r"\d+", errors.group(1)))) if errors else 0
        failed += number(r"Non-2xx or 3xx responses: (\d+)", text) or 0
        p50, p99 = (micros(re.search(rf"^\s*{part}%\s+([\d.]+[mu]?s)", text, re.M).group(1)) for part in (50, 99))
        return done, done / seconds, failed, p50, p99
    # weighttp of old and h2load have these two lines in common.
    rate = number(r"^finished in.*?([\d.]+) req/s", text)
    failed = number(r"^requests:.*?(\d+) failed", text) + number(r"^requests:.*?(\d+) errored", text)
    return number(r"^requests:.*?(\d+) succeeded", text), rate, failed, None, None


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def on_core(core):
    return lambda: os.sched_setaffinity(0, {core % os.cpu_count()})


def running_seconds(pid):
    """Processor time of all threads of a process, by the scheduler's clock."""
    tasks = f"/proc/{pid}/task"
    texts = [open(f"{tasks}/{task}/schedstat").read() for task in os.listdir(tasks)]
    return sum(int(text.split()[0]) for text in texts) / 1e9


def run(program, words, seconds):
    before = children_seconds()
    output = subprocess.run(
        [program, *words], preexec_fn=on_core(1), stdout=subprocess.PIPE, timeout=seconds + 30, check=False
    )
    return output.stdout.decode(), children_seconds() - before


class Canned:
    """A canned-response server on a free port of core 0."""

    def __init__(self, vervet, size):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [vervet, "load", "--canned", f"127.0.0.1:{self.port}", "--canned-bytes", str(size)]
        self.process = subprocess.Popen(command, preexec_fn=on_core(0), stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit("the canned-response server ended")
                time.sleep(0.01)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def report(phase, rate, answers, cpu_seconds):
    print(f"probe {phase} {MILLION} {round(MILLION / rate * 1e9)}")
    print(f"probe {phase}-cpu {MILLION} {round(cpu_seconds / answers * MILLION * 1e9)}")


def half(vervet, name, program, rate_min):
    """Response times at the fewest connections that reach a rate."""
    with Canned(vervet, 13) as server:
        for connections in range(1, 17):
            load = ("half", 13, connections, True, 200_000)
            text, _ = run(program, arguments(name, load, server.url, SECONDS), SECONDS)
            _, rate, _, p50, p99 = read(name, text)
            if rate >= rate_min:
                break
    print(f"probe half-p50 1 {round(p50 * 1e3)}")
    print(f"probe half-p99 1 {round(p99 * 1e3)}")


def main():
    vervet, name = sys.argv[1], sys.argv[2]
    program = vervet if name == "vervet" else shutil.which(name)
    if program is None:
        sys.exit(f"{name} is not installed")
    rates = {}
    for load in LOADS:
        phase, size, _, kept, _ = load
        if not kept and name in KEEP_ONLY:
            continue
        with Canned(vervet, size) as server:
            run(program, arguments(name, load, server.url, SECONDS), SECONDS)
            before = running_seconds(server.process.pid)
            text, cpu_seconds = run(program, arguments(name, load, server.url, SECONDS), SECONDS)
            used = running_seconds(server.process.pid) - before
        answers, rate, failed, p50, p99 = read(name, text)
        report(phase, rate, answers, cpu_seconds)
        rates[phase] = rate
        print(f"fact {phase}-server-core {100 * used * rate / answers:.0f} %")
        if failed:
            print(f"fact {phase}-failed {failed:.0f}")
        if p50 is not None:
            print(f"fact {phase}-p50 {p50:.0f} us")
            print(f"fact {phase}-p99 {p99:.0f} us")
    if name in ("vervet", "wrk"):
        half(vervet, name, program, rates["small64"] / 2)
    if name == "vervet":
        with Canned(vervet, 13) as server:
            line = f"load {server.url} -c 64 -d {OPEN_SECONDS}s --rate {OPEN_RATE} --format json --warm-up 0s"
            _, rate, _, _, _ = read(name, run(program, line.split(), OPEN_SECONDS)[0])
        print(f"probe open {MILLION} {round(MILLION / rate * 1e9)}")
        print(f"probe open-due {MILLION} {round(MILLION / OPEN_RATE * 1e9)}")


main()
