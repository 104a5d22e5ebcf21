"""Strangers who are slow, greedy or endless, in a process of their own so that they don't hold up who
measures.

    python3 attackers.py KIND PORT SECONDS CONNECTIONS [TARGET]

runs one kind of attack from many addresses of this machine (127.1.x.y), opens again what the server
ends, and prints what became of it as JSON. TARGET is a large asset, for the slow readers.
"""
import gzip
import json
import resource
import select
import selectors
import socket
import ssl
import sys
import time

POST = b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
SLOW_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: "
# What they send first, and then as fast as they can.
ENDLESS = {
    "endless header lines": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n" * 10_000),
    "an endless header line": (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", b"a" * 60_000),
    "an endless request line": (b"GET /", b"a" * 60_000),
    "endless chunk extensions": (CHUNKED + b"5;", b"a" * 60_000),
    "endless tiny chunks": (CHUNKED, b"1;a=b\r\n \r\n" * 6_000),
    "endless trailers": (CHUNKED + b"0\r\n", b"A: b\r\n" * 10_000),
    "requests without an end": (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 1000),
}


def client_hello():
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def gzip_bomb():
    bomb = gzip.compress(b"{" + b" " * 32_000_000)
    assert len(bomb) < 40_000
    return POST + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb


def crowds(target):
    """What each connection of a crowd sends first, and how it goes on."""
    reader = f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 20
    hello = client_hello()
    return {
        "slow heads": {"first": SLOW_HEAD, "drop": b"a"},
        "one-byte heads": {"first": b"G"},
        "slow bodies": {"first": POST + b"Content-Length: 60000\r\n\r\n{", "drop": b" "},
        "slow readers": {"first": reader, "receive_bytes": 4096},
        "silent connections": {"first": b""},
        "gzip bombs": {"first": gzip_bomb()},
        "one-byte handshakes": {"first": hello[:1]},
        "handshakes but for a byte": {"first": hello[:-1]},
        "handshakes without the client's half": {"first": hello},
        "silence after a handshake": {"first": b"", "shakes_hands": True},
    }


LATE_S = 20


def is_on(deadline, reached):
    """Whether an attack goes on: on a busy machine until it has reached somebody at all."""
    now = time.monotonic()
    return now < deadline or (not reached and now < deadline + LATE_S)


class Addresses:
    """Of the strangers: with `many`, another for each connection."""

    def __init__(self, many):
        self.many, self.number = many, 0

    def next(self):
        if not self.many:
            return None
        self.number += 1
        return f"127.1.{self.number // 250 % 4}.{self.number % 250 + 1}", 0


class Crowd:
    """Connections that each send a beginning, then a drop now and then, and read nothing."""

    def __init__(self, port, count, first, drop=None, every_s=0.5, receive_bytes=None, many=False,
                 shakes_hands=False):
        self.port, self.first, self.drop, self.every_s = port, first, drop, every_s
        self.receive_bytes = receive_bytes
        self.tls = None
        if shakes_hands:
            self.tls = ssl.create_default_context()
            self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.count = count
        self.addresses = Addresses(many)
        self.sockets = {}
        self.ends = select.epoll()
        self.opened = 0
        self.dropped = 0  # connections that the server ended, or did not take

    def connect(self):
        one = socket.socket()
        if self.receive_bytes:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_bytes)
        one.settimeout(5 if self.opened else LATE_S)
        try:
            if address := self.addresses.next():
                one.bind(address)
            one.connect(("127.0.0.1", self.port))
            if self.tls:
                one = self.tls.wrap_socket(one)
            one.sendall(self.first)
            one.setblocking(False)
            self.sockets[one.fileno()] = one
            self.ends.register(one, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
            self.opened += 1
        except OSError:
            self.dropped += 1
            one.close()

    def run(self, seconds):
        deadline = time.monotonic() + seconds
        while is_on(deadline, self.opened):
            while len(self.sockets) < self.count and is_on(deadline, self.opened):
                self.connect()
            time.sleep(min(self.every_s, max(0, deadline - time.monotonic())))
            for number, _ in self.ends.poll(0):
                self.end(number)
            if self.drop is not None:
                for number in [number for number, one in self.sockets.items()
                               if not self.send_drop(one)]:
                    self.end(number)
        for one in self.sockets.values():
            one.close()

    def end(self, number):
        self.dropped += 1
        self.sockets.pop(number).close()

    def send_drop(self, one):
        try:
            one.send(self.drop)
            return True
        except BlockingIOError:
            return True
        except OSError:
            return False


def endless(port, seconds, first, piece, connections=4, many=False):
    """Connections that send as fast as they can, and begin anew when they are ended."""
    deadline = time.monotonic() + seconds
    sent = 0
    selector = selectors.DefaultSelector()
    addresses = Addresses(many)

    def connect():
        try:
            one = socket.create_connection(("127.0.0.1", port), timeout=5,
                                           source_address=addresses.next())
            one.sendall(first)
        except OSError:
            return  # there is no room; the next round tries again
        one.setblocking(False)
        selector.register(one, selectors.EVENT_WRITE)

    while is_on(deadline, sent):
        if len(selector.get_map()) < connections:
            connect()
        for key, _ in selector.select(0.1):
            try:
                sent += key.fileobj.send(piece)
            except BlockingIOError:
                pass
            except OSError:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return sent


def main(kind, port, seconds, connections, target="/"):
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    said = {"kind": kind}
    if kind in ENDLESS:
        sent = endless(int(port), float(seconds), *ENDLESS[kind], int(connections), many=True)
        said["sent"] = sent
    else:
        crowd = Crowd(int(port), int(connections), **crowds(target)[kind], many=True)
        crowd.run(float(seconds))
        said |= {"opened": crowd.opened, "ended": crowd.dropped}
    said["processor_s"] = round(time.process_time(), 1)
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
