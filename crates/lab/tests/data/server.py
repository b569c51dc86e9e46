"""A small server that behaves as it is told: server.py PORT MODE.

ok answers "hello"; wrong answers 404; changes answers "hello" to the first ten requests and something else from then on;
crash ends at the request for /crash; silent never listens; dies ends before it listens.
"""

import os
import socket
import sys
import threading

port, mode = int(sys.argv[1]), sys.argv[2]
print("mode", mode, flush=True)
if mode == "dies":
    sys.exit(7)
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if mode == "silent":
    threading.Event().wait()
listener.bind(("127.0.0.1", port))
listener.listen(64)
count = 0


def answer(head):
    global count
    count += 1
    if mode == "crash" and b" /crash " in head:
        print("out of luck", flush=True)
        os._exit(3)
    if mode == "wrong":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    content = b"hello" if mode != "changes" or count <= 10 else b"other"
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


while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
