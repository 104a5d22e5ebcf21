#!/usr/bin/env python3
"""ClickHouse of today behind ClickHouse's HTTP interface: the embedded engine, served on loopback.

usage: server.py LIBCHDB FOLDER PORT

Debian ships a server of 2018. npm ships the engine of this year as a library, without a server, so
this is the server around it: as much of the interface as store/clickhouse speaks. Statements are
handed on byte by byte; but for an INSERT, to which is added where its data lie, since the library
ends what follows a statement at the first end of a line. Settings stand in the URL and hold for
their statement: the engine's one session is given them before it, and loses those of the statement
before. An answer is made whole before it is sent, so it is never broken off in its midst, and one
statement runs at a time.

Source of the interface: ClickHouse documentation, "HTTP Interface"; of the library: chdb.h.
"""
import contextlib
import ctypes
import gzip
import http.server
import os
import re
import socketserver
import sys
import threading
import urllib.parse

# Parameters that are no settings of a statement.
OF_THE_SERVER = {"query", "database", "default_format", "query_id", "user", "password",
                 "wait_end_of_query", "buffer_size"}
CODE = re.compile(rb"Code: (\d+)")


class Refused(Exception):
    def __init__(self, words):
        super().__init__(words)
        self.words = words


class Engine:
    """The library, one session of it, and the settings of the statement that runs."""

    def __init__(self, library, folder):
        self._lock = threading.Lock()
        self._chdb = ctypes.CDLL(library)
        self._chdb.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self._chdb.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
        self._chdb.chdb_query_n.restype = ctypes.c_void_p
        self._chdb.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                            ctypes.c_char_p, ctypes.c_size_t]
        for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t),
                           ("error", ctypes.c_char_p)):
            of_result = getattr(self._chdb, f"chdb_result_{name}")
            of_result.restype, of_result.argtypes = kind, [ctypes.c_void_p]
        self._chdb.chdb_destroy_query_result.restype = None
        self._chdb.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
        self._database, self._settings = "default", {}
        words = [b"clickhouse", b"--path=" + os.fsencode(folder)]
        self._session = self._chdb.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words))
        if not self._session:
            raise SystemExit("the engine could not be opened")

    def _insert(self, statement, data):
        """`statement` ends with FORMAT and the name of one."""
        words, form = statement.rsplit(b"FORMAT", 1)
        memory = os.memfd_create("data")
        try:
            with open(memory, "wb", closefd=False) as out:
                out.write(data)
            return self._run(words + f"FROM INFILE '/proc/self/fd/{memory}' "
                             "COMPRESSION 'none' FORMAT".encode() + form)
        finally:
            os.close(memory)

    def _run(self, statement, form=b"TabSeparated"):
        result = self._chdb.chdb_query_n(self._session[0], statement, len(statement), form,
                                         len(form))
        if not result:
            raise Refused(b"Code: 1002. DB::Exception: the engine gave no result")
        try:
            error = self._chdb.chdb_result_error(result)
            if error:
                raise Refused(error)
            length = self._chdb.chdb_result_length(result)
            return ctypes.string_at(self._chdb.chdb_result_buffer(result), length) if length else b""
        finally:
            self._chdb.chdb_destroy_query_result(result)

    def ask(self, statement, data, form, database, settings):
        """`data`: of an INSERT; else None."""
        with self._lock:
            self._become(database, settings)
            return self._run(statement, form) if data is None else self._insert(statement, data)

    def _become(self, database, settings):
        """What the session lacks of them is set, and what it has beyond them taken back."""
        if database != self._database:
            self._run(f"USE {database}".encode())
            self._database = database
        changes = [f"{name} = '{quoted(value)}'" for name, value in settings.items()
                   if self._settings.get(name) != value]
        changes += [f"{name} = DEFAULT" for name in self._settings if name not in settings]
        if not changes:
            return
        changed = {*self._settings, *settings}
        try:
            self._run(("SET " + ", ".join(changes)).encode())
        except Refused:
            # One is refused; which of the others were set is not known.
            self._settings = {}
            for name in changed:
                with contextlib.suppress(Refused):
                    self._run(f"SET {name} = DEFAULT".encode())
            raise
        self._settings = dict(settings)


def quoted(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self._answer(200, b"Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        given = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query,
                                            keep_blank_values=True))
        statement, data = (given["query"].encode(), body) if "query" in given else (body, None)
        settings = {name: value for name, value in given.items() if name not in OF_THE_SERVER}
        try:
            rows = self.server.engine.ask(
                statement, data, given.get("default_format", "TabSeparated").encode(),
                given.get("database", "default"), settings)
        except Refused as refused:
            code = CODE.search(refused.words)
            self._answer(500, refused.words + b"\n",
                         {"X-ClickHouse-Exception-Code": (code[1] if code else b"1002").decode()})
            return
        packed = {}
        if given.get("enable_http_compression") == "1" and len(rows) > 1000 and \
                "gzip" in self.headers.get("Accept-Encoding", ""):
            rows, packed = gzip.compress(rows, 1), {"Content-Encoding": "gzip"}
        self._answer(200, rows, packed)

    def _answer(self, status, body, more=()):
        self.send_response(status)
        for name, value in dict(more).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_):
        pass  # what is refused says so to its asker


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    library, folder, port = sys.argv[1:]
    server = Server(("127.0.0.1", int(port)), Handler)
    server.engine = Engine(library, folder)
    server.serve_forever()


if __name__ == "__main__":
    main()
