"""The page that shows a picture, inserts a row and reads the count, from MariaDB. WSGI."""

import os
import threading

import pymysql

SOCKET = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mariadb.sock")
LOCAL = threading.local()


def connection():
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = pymysql.connect(unix_socket=SOCKET, user="lab", database="lab", autocommit=True)
    return LOCAL.connection


def application(environ, start_response):
    with connection().cursor() as cursor:
        cursor.execute("INSERT INTO visit (moment) VALUES (UNIX_TIMESTAMP(NOW(6)))")
        cursor.execute("SELECT count(*) FROM visit")
        (count,) = cursor.fetchone()
    content = ("<!doctype html><img src=/picture.png alt=picture><p>Visit %d</p>\n" % count).encode()
    fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(content)))]
    start_response("200 OK", fields)
    return [content]
