"""The page that shows a picture, inserts a row and reads the count, from SQLite. WSGI."""

import os
import sqlite3
import threading

DATABASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "visits.sqlite")
LOCAL = threading.local()


def connection():
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = sqlite3.connect(DATABASE, timeout=30, isolation_level=None)
        LOCAL.connection.execute("PRAGMA journal_mode = WAL")
        LOCAL.connection.execute("PRAGMA synchronous = NORMAL")
        LOCAL.connection.execute("CREATE TABLE IF NOT EXISTS visit (id INTEGER PRIMARY KEY, moment REAL)")
    return LOCAL.connection


def application(environ, start_response):
    database = connection()
    database.execute("INSERT INTO visit (moment) VALUES (julianday('now'))")
    count = database.execute("SELECT count(*) FROM visit").fetchone()[0]
    content = ("<!doctype html><img src=/picture.png alt=picture><p>Visit %d</p>\n" % count).encode()
    fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))]
    start_response("200 OK", fields)
    return [content]
