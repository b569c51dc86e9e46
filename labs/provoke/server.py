"""A small server with deliberate faults: server.py PORT MODE [CORE].

ok: responds with "hello". paced: the same, 500 times per second by the clock. starve: the same, while eight processes
compute on CORE. queue: one connection after another, 20 ms each, with an accept queue of one. tires: exits at its
100th request. stalls: stands still for a second at its 300th request. changes: "hello" for the first ten requests,
then something else. crash: exits at a request for /crash. wrong: responds with 404. gzip: claims to compress. silent:
never listens. dies: exits before it listens.
"""

import os
import socket
import sys
import threading
import time

PACE_SECONDS = 1 / 500
BEHIND_SECONDS_MAX = 0.02
SPINNERS = 8
QUEUED_SECONDS = 0.02
TIRED = 100
STALLED = 300
STALL_SECONDS = 1.0

port, mode = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
count = 0
due = 0.0


def spin(core):
    """Computes on a core until the server exits, for whatever reason."""
    server = os.getpid()
    for _ in range(SPINNERS):
        if os.fork() == 0:
            os.sched_setaffinity(0, {core})
            while os.getppid() == server:
                sum(range(100_000))
            os._exit(0)


def wait_for_pace():
    """Waits until the next response is due; a small backlog is caught up with."""
    global due
    with lock:
        now = time.monotonic()
        due = max(due + PACE_SECONDS, now - BEHIND_SECONDS_MAX)
        time.sleep(max(0.0, due - now))


def answer(head):
    global count
    with lock:
        count += 1
        number = count
        # With the lock: every other request waits, too.
        if mode == "stalls" and number == STALLED:
            time.sleep(STALL_SECONDS)
    if mode == "paced":
        wait_for_pace()
    if mode == "queue":
        time.sleep(QUEUED_SECONDS)
    if (mode == "crash" and b" /crash " in head) or (mode == "tires" and number == TIRED):
        print("out of luck", flush=True)
        os._exit(3)
    if mode == "wrong":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    content = b"hello" if mode != "changes" or number <= 10 else b"other"
    kind = b"gzip" if mode == "gzip" and b"gzip" in head else b"identity"
    coding = b"" if kind == b"identity" else b"Content-Encoding: gzip\r\n"
    return b"HTTP/1.1 200 OK\r\n" + coding + b"Content-Length: 5\r\n\r\n" + content


def serve(connection):
    data = b""
    with connection:
        while True:
            piece = connection.recv(4096)
            if not piece:
                return
            data += piece
            while b"\r\n\r\n" in data:
                head, data = data.split(b"\r\n\r\n", 1)
                connection.sendall(answer(head))
                if b"connection: close" in head.lower():
                    return


print("mode", mode, flush=True)
if mode == "dies":
    sys.exit(7)
if mode == "silent":
    threading.Event().wait()
if mode == "starve":
    spin(int(sys.argv[3]))
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(1 if mode == "queue" else 64)
while True:
    connection = listener.accept()[0]
    if mode == "queue":
        serve(connection)
    else:
        threading.Thread(target=serve, args=(connection,), daemon=True).start()
