"""Reads the metrics of an admin socket each second, as Prometheus does: scrape.py SOCKET."""

import socket
import sys
import time

REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

while True:
    time.sleep(1)
    try:
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(sys.argv[1])
            admin.sendall(REQUEST)
            while admin.recv(65536):
                pass
    except OSError:
        # The server is not up yet.
        pass
