"""Greets by name: /?name=world. WSGI as `application`, ASGI as `app`."""

import html
from urllib.parse import parse_qs


def greeting(query):
    name = parse_qs(query).get("name", ["nobody"])[0]
    return ("Hello, %s\n" % html.escape(name)).encode()


def application(environ, start_response):
    content = greeting(environ["QUERY_STRING"])
    fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))]
    start_response("200 OK", fields)
    return [content]


async def app(scope, receive, send):
    content = greeting(scope["query_string"].decode())
    fields = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": content})
