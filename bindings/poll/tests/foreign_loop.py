"""Carries the engine in two loops that know nothing of it: selectors (level-triggered) and asyncio.

Arguments: the shared library, the loop's name. Serves until 50 answers were read by a client thread.
"""

import asyncio
import ctypes
import http.client
import selectors
import sys
import threading

REQUESTS = 50


def load(path):
    library = ctypes.CDLL(path)
    library.vervet_poll_open.restype = ctypes.c_void_p
    for name in ("fd", "port", "turn", "close"):
        getattr(library, f"vervet_poll_{name}").argtypes = [ctypes.c_void_p]
    return library


def client(port, done):
    """Half of the requests on one kept connection, half on new ones."""
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    texts = []
    for number in range(REQUESTS):
        connection = kept if number % 2 else http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", f"/{number}")
        texts.append(connection.getresponse().read().decode())
    done(texts)


def with_selectors(library, server, finished):
    with selectors.DefaultSelector() as selector:
        selector.register(library.vervet_poll_fd(server), selectors.EVENT_READ)
        while not finished.is_set():
            for _ in selector.select(timeout=0.2):
                assert library.vervet_poll_turn(server) >= 0


def with_asyncio(library, server, finished):
    async def main():
        loop = asyncio.get_running_loop()
        loop.add_reader(library.vervet_poll_fd(server), library.vervet_poll_turn, server)
        await loop.run_in_executor(None, finished.wait)

    asyncio.run(main())


def run(path, carrier):
    library = load(path)
    server = library.vervet_poll_open(b"127.0.0.1:0")
    assert server, "no server"
    finished, texts = threading.Event(), []

    def done(got):
        texts.extend(got)
        finished.set()

    thread = threading.Thread(target=client, args=(library.vervet_poll_port(server), done), daemon=True)
    thread.start()
    {"selectors": with_selectors, "asyncio": with_asyncio}[carrier](library, server, finished)
    library.vervet_poll_close(server)
    assert texts == [f"carried by a foreign loop: /{number}\n" for number in range(REQUESTS)], texts
    print(f"{carrier}: {len(texts)} answers")


run(sys.argv[1], sys.argv[2])
