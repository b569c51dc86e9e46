"""A realistic WSGI application: it computes, waits for another service, and writes a file."""

import tempfile
import time

# The result is kept, so that the loop cannot be optimized away.
STEPS = 10_000
WAIT_SECONDS = 0.1
WRITES = 10_000


def compute():
    total = 0
    for number in range(STEPS):
        total = (total * 31 + number) % 1_000_003
    return total


def application(environ, start_response):
    total = compute()
    time.sleep(WAIT_SECONDS)
    with tempfile.TemporaryFile("w") as file:
        for number in range(WRITES):
            file.write(str(number))
    content = b"%d\n" % total
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(content)))])
    return [content]
