"""What docs/guide/cluster.md says of each option of a ledger's address, tried at a real server."""
import socket
import subprocess
import threading
import time

from harness import expect, free_port

SHORT_MS = 1500
REPORT = ("report", "--by", "cluster", "--format", "csv")
SLACK_S = 12  # for a machine that has much else to do


class Relay:
    """Passes on what is said between a client and a server, and writes it down."""

    def __init__(self, port):
        self.heard = bytearray()
        self._to = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        try:
            while data := one.recv(65536):
                self.heard += data
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self._socket.close()


def silent_port():
    """Takes connections, and never says a word."""
    return socket.create_server(("127.0.0.1", 0), backlog=128)


def deaf_port():
    """Takes no more connections, and refuses none: as where packets vanish."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    waiting = []
    for _ in range(8):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listening.getsockname())
        waiting.append(one)
    time.sleep(0.2)
    return listening, waiting


class Options:
    """`database` is a ledger at `server`; programs run in `reader`'s folder."""

    def __init__(self, reader, server, database, folder):
        self.reader, self.server, self.database = reader, server, database
        self.folder = folder

    def asks(self, options="", host=None, user="", verb=REPORT):
        """Exit code, what it said, and after how many seconds."""
        host = host or f"127.0.0.1:{self.server.port}"
        address = f"clickhouse://{user}{host}/{self.database}" + (options and "?" + options)
        begun = time.monotonic()
        done = subprocess.run(["pennyweight", "--store", address, *verb], cwd=self.folder,
                              env=self.reader.env, text=True, capture_output=True, timeout=120,
                              check=False)
        return done.returncode, done.stdout + done.stderr, time.monotonic() - begun

    def refused(self, words, options, code=1, **more):
        got, said, took = self.asks(options, **more)
        expect(got == code and words in said, f"{options}: {got}, and not {words!r}: {said[-400:]}")
        return took

    def taken(self, options, want, **more):
        got, said, _ = self.asks(options, **more)
        expect((got, said) == (0, want), f"{options}: {got} {said[-400:]}")

    def try_all(self):
        code, want, _ = self.asks()
        expect(code == 0 and "philly" in want, f"without an option: {code} {want[-300:]}")
        self._cluster()
        self._times(want)
        self._lease()
        self._compress(want)
        self.refused("none of ca_file, cluster", "retries=3", code=2)

    def _cluster(self):
        self.refused('the servers have no cluster "production"', "cluster=production", code=2)

    def _times(self, want):
        self.taken("connect_timeout_ms=3000&timeout_ms=300000&retry_ms=60000&lease_ms=30000", want)
        listening, waiting = deaf_port()
        took = self.refused("", f"connect_timeout_ms={SHORT_MS}&retry_ms=0",
                            host="127.0.0.1:%d" % listening.getsockname()[1])
        self._took("connect_timeout_ms", SHORT_MS, took)
        for one in (*waiting, listening):
            one.close()
        with silent_port() as silent:
            took = self.refused("", f"timeout_ms={SHORT_MS}&retry_ms=0",
                                host="127.0.0.1:%d" % silent.getsockname()[1])
        self._took("timeout_ms", SHORT_MS, took)
        nobody = f"127.0.0.1:{free_port()}"
        took = self.refused(f"{2 * SHORT_MS} ms after the first failed", f"retry_ms={2 * SHORT_MS}",
                            host=nobody)
        self._took("retry_ms", SHORT_MS, took)  # a last wait that would end too late is left out
        # One of several that is away is no matter.
        self.taken("", want, host=f"{nobody},127.0.0.1:{self.server.port}")

    @staticmethod
    def _took(what, least_ms, seconds):
        expect(least_ms / 1000 * 0.9 <= seconds <= 2 * least_ms / 1000 + SLACK_S,
               f"{what}: {least_ms} ms at least, and it took {seconds:.1f} s")

    def _lease(self):
        """A program died while it committed: the log has its claim, and nothing after it."""
        self.refused("from 1000", "lease_ms=999", code=2)
        log = f"{self.database}.log"
        self.server.ask(f"INSERT INTO {log} SELECT 'claim', max(turn) + 1, 42, 0, '', 0, '', "
                        f"toInt64(toUnixTimestamp(now())) * 1000 FROM {log}")
        lease_ms = 2 * SHORT_MS
        code, said, took = self.asks(f"lease_ms={lease_ms}",
                                     verb=("import", "--cluster", "philly", "nodes.csv"))
        expect(code == 0, f"another takes the turn: {said[-400:]}")
        self._took("lease_ms", lease_ms, took)

    def _compress(self, want):
        for value in (1, 0):
            relay = Relay(self.server.port)
            host = f"127.0.0.1:{relay.port}"
            self.taken(f"compress={value}", want, host=host)
            code, said, _ = self.asks(f"compress={value}", host=host,
                                      verb=("import", "--cluster", "philly", "jobs.txt"))
            expect(code == 0, f"compress={value}: {said[-300:]}")
            relay.close()
            sent = bytes(relay.heard).lower().count(b"content-encoding: gzip")
            expect((sent > 0) == bool(value), f"compress={value}: gzip {sent} times")
        self.refused("neither 0 nor 1", "compress=yes", code=2)

    def try_password(self, user, file):
        """At a server that knows the user."""
        code, want, _ = self.asks()
        password = file.read_text().strip()
        quoted = password.replace("/", "%2F").replace("+", "%2B")
        self.taken("", want, user=f"{user}:{quoted}@")
        self.taken(f"password_file={file}", want, user=f"{user}@")
        self.refused(f"Wrong password for user {user}", "", user=f"{user}:wrong@")
        self.refused(f"Password required for user {user}", "", user=f"{user}@")
        self.refused("keep one", f"password_file={file}", user=f"{user}:{quoted}@", code=2)
        self.refused("no-such-file", "password_file=/no-such-file", user=f"{user}@", code=2)
        # As long as the file has another one, nobody gets in.
        file.write_text("not the password\n")
        self.refused("Wrong password", f"password_file={file}", user=f"{user}@")
        file.write_text(password + "\n")

    def try_tls(self, host, port, ca_file):
        code, want, _ = self.asks()
        at = f"{host}:{port}"
        self.taken(f"tls=1&ca_file={ca_file}", want, host=at)
        # Nobody whom the system knows vouches for it.
        self.refused("certificate", "tls=1&retry_ms=0", host=at)
        self.refused("needs tls=1", f"ca_file={ca_file}", code=2)
        self.refused("SSL", f"tls=1&ca_file={ca_file}&retry_ms=0")  # a port that speaks no TLS
        self.refused("no-such-file", "tls=1&ca_file=/no-such-file", host=at, code=2)
        self.refused(":8443", "tls=1&retry_ms=0", host="127.0.0.13")
        self.refused(":8123", "retry_ms=0", host="127.0.0.13")
