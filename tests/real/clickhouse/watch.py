"""A watch between programs and ClickHouse's servers, which knows in which phase a program is.

Every program that is to be watched gets an address of its own: the same ports, with a user that
nobody else has. From the statements that pass, the watch tells the phase: which table is read or
written, and of the log of commits which kind of row. So a program can be struck in a phase of one's
choice, just before a statement is sent on or just after it was done:

    kill    kill -9, as the kernel does when memory runs out
    stop    no processor until its lease is over (SIGSTOP), then on as if nothing had been
    lose    the answer never comes: was it done?
    late    the statement is held back until its sender has given up, and then done after all

A statement is passed on byte by byte but for the user's name, and its connection ends with it.
"""
import collections
import gzip
import os
import re
import signal
import socket
import threading
import time
import urllib.parse

from harness import free_port

USER = re.compile(rb"(?i)\r\nX-ClickHouse-User: ([^\r\n]*)")
LENGTH = re.compile(rb"(?i)\r\nContent-Length: (\d+)")
QUERY = re.compile(rb"[?&]query=([^& ]*)")
KIND = re.compile(rb"\x04kind\x06String.([a-z]+)", re.S)
TABLE = re.compile(r"(?:FROM|INTO)\s+\(?\s*(?:\w+\.)?(\w+)")

LATE_S = 9  # longer than a client of this test waits for a statement


def phase_of(head, body):
    """Of a statement that writes: "write charges", "log claim"; of another "read charges"."""
    target = head.split(b"\r\n", 1)[0]
    asked = QUERY.search(target)
    sql = urllib.parse.unquote_plus(asked.group(1).decode()) if asked else body.decode("latin-1")
    table = TABLE.search(sql)
    name = re.sub("_local$", "", table.group(1)) if table else sql.split(None, 1)[0].lower()
    if sql.startswith("INSERT") and asked:
        if name == "log":
            plain = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
            kind = KIND.search(plain)
            return "log " + (kind.group(1).decode() if kind else "?")
        return "write " + name
    if sql.startswith(("CREATE", "ALTER", "DROP")):
        return sql.split(None, 1)[0].lower()
    return "read " + (name if "system." not in sql else "servers")


class Strike:
    """What is to happen at the `nth` statement of a phase: `when` is before or after."""

    def __init__(self, phase, when, action, nth=1):
        self.phase, self.when, self.action, self.left = phase, when, action, nth
        self.struck = None  # the phase in which it was

    def __str__(self):
        return f"{self.action} {self.when} {self.phase}"


class Subject:
    """A program that is watched."""

    def __init__(self, name, strike=None, stop_s=0):
        self.name, self.strike, self.stop_s = name, strike, stop_s
        self.process = None  # to be set once it runs
        self.phase = "begins"
        self.statements = []  # (seconds, phase, status)


class Watch:
    """`servers`: what it stands before, each with host and port."""

    def __init__(self, servers):
        self._subjects = {}
        self._serial = 0
        self._lock = threading.Lock()
        self.struck = collections.Counter()  # by (action, when, phase)
        self.seen = collections.Counter()    # statements by phase
        self.ports = []
        self._ends = False
        self._listening = []
        for server in servers:
            here = socket.create_server(("127.0.0.1", free_port()), backlog=64)
            self._listening.append(here)
            self.ports.append(here.getsockname()[1])
            threading.Thread(target=self._accept, args=(here, server), daemon=True).start()

    def address(self, subject, database, options):
        """Where a program is watched as this subject."""
        with self._lock:
            self._serial += 1
            user = f"watched{self._serial}"
            self._subjects[user] = subject
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"clickhouse://{user}@{hosts}/{database}?{options}"

    def close(self):
        self._ends = True
        for here in self._listening:
            here.close()

    def _accept(self, here, server):
        while not self._ends:
            try:
                client, _ = here.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client, server):
        with client:
            try:
                client.settimeout(120)
                self._statement(client, server)
            except OSError:
                pass  # one of the two is gone; the other hears of it by the end of the connection

    def _statement(self, client, server):
        head, body = _request(client)
        if not head:
            return
        user = USER.search(head)
        subject = self._subjects.get(user.group(1).decode() if user else "")
        if subject is None:
            return
        head = USER.sub(b"\r\nX-ClickHouse-User: default", head)
        head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        phase = phase_of(head, body)
        begun = time.monotonic()
        subject.phase = phase
        with self._lock:
            self.seen[phase] += 1
        if self._strike(subject, "before", phase):
            return
        with socket.create_connection((server.host, server.port), timeout=2) as there:
            there.settimeout(120)
            there.sendall(head + body)
            answer = b""
            while piece := there.recv(1 << 16):
                answer += piece
        status = answer[9:12].decode("latin-1")
        subject.statements.append((time.monotonic() - begun, phase, status))
        if status == "200" and self._strike(subject, "after", phase):
            return
        client.sendall(answer)

    def _strike(self, subject, when, phase):
        """True where the connection is to be dropped."""
        strike = subject.strike
        if strike is None or strike.struck or strike.when != when or strike.phase != phase:
            return False
        strike.left -= 1
        if strike.left > 0:
            return False
        strike.struck = phase
        with self._lock:
            self.struck[strike.action, when, phase] += 1
        if strike.action == "late":
            time.sleep(LATE_S)
            return False
        if strike.action in ("kill", "stop"):
            while subject.process is None:
                time.sleep(0.001)
            if strike.action == "kill":
                _signal(subject.process, signal.SIGKILL)
                return True
            _signal(subject.process, signal.SIGSTOP)
            time.sleep(subject.stop_s)
            _signal(subject.process, signal.SIGCONT)
            return False
        return True


def _signal(process, number):
    if process.poll() is None:
        os.kill(process.pid, number)


def _request(client):
    text = b""
    while b"\r\n\r\n" not in text:
        piece = client.recv(1 << 16)
        if not piece:
            return b"", b""
        text += piece
    head, body = text.split(b"\r\n\r\n", 1)
    head += b"\r\n\r\n"
    length = LENGTH.search(head)
    want = int(length.group(1)) if length else 0
    while len(body) < want:
        piece = client.recv(1 << 16)
        if not piece:
            return b"", b""
        body += piece
    return head, body
