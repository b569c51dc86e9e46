"""Says hello by Tornado; the arguments are the port and whether requests are logged."""

import asyncio
import logging
import sys

import tornado.httpserver
import tornado.netutil
import tornado.web


class Hello(tornado.web.RequestHandler):
    def get(self):
        name = self.get_query_argument("name", "World")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.write("Hello, %s\n" % tornado.escape.xhtml_escape(name))


async def main():
    if sys.argv[2] != "access":
        logging.getLogger("tornado.access").disabled = True
    application = tornado.web.Application([(r"/.*", Hello)])
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(tornado.netutil.bind_sockets(int(sys.argv[1]), "127.0.0.1", backlog=4096))
    await asyncio.Event().wait()


asyncio.run(main())
