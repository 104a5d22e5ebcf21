"""What the tests of alerts share: they run the program, receive what it sends, wait for that, and count failures."""
import asyncio
import email
import email.policy
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

try:
    from aiosmtpd.smtp import SMTP
except ImportError:
    SMTP = None
    # Debian's package is for Debian's Python.
    if sys.executable != "/usr/bin/python3" and subprocess.run(
            ["/usr/bin/python3", "-c", "import aiosmtpd"], capture_output=True).returncode == 0:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

DATA = pathlib.Path(sys.argv[2]).resolve() / "tests" / "data" / "cli"
BINARY = pathlib.Path(sys.argv[1]).resolve()
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
SKIPPED = 77
# How often `serve` is killed on the way in the long forms of tests.
KILLS = int(os.environ.get("PENNYWEIGHT_KILLS", "0"))
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)


def run(arguments, cwd):
    done = subprocess.run([BINARY, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def new_folder(name):
    return pathlib.Path(tempfile.mkdtemp(prefix=f"pennyweight-{name}-"))


def billed_folder(name, config, more=()):
    """A folder with a ledger of one cluster, billed for four days of March 2026 and allocated; `more`: further files,
    by name."""
    folder = new_folder(name)
    for file in ("nodes.csv", "jobs.txt"):
        shutil.copy(DATA / file, folder / file)
    for file, text in dict(more, **{"pennyweight.yaml": config}).items():
        (folder / file).write_text(text)
    run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-05",
         "--prices-as-of", "2026-07-20", "--out", "bill.csv"], folder)
    run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], folder)
    run(["import", "--cluster", "lab", "bill.csv"], folder)
    run(["allocate"], folder)
    return folder


def wait_for(find, what, patience_s=120):
    """What find() returns, once it is something."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            found = find()
        except OSError:  # nobody answers yet
            found = None
        if found:
            return found
        time.sleep(0.1)
    expect(False, what)
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def receive(take):
    """An HTTP server whose requests go to take(path, headers, body); it answers what that returns, 200 for nothing."""

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            status = take(self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status or 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def receive_mail(take):
    """The port of an SMTP server whose mails go to take(recipients, mail); it answers what that returns."""

    class Inbox:
        async def handle_DATA(self, server, session, envelope):
            mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
            return take(envelope.rcpt_tos, mail) or "250 taken"

    ready, port = threading.Event(), []

    def work():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(loop.create_server(
            lambda: SMTP(Inbox(), hostname="localhost", loop=loop), "127.0.0.1", 0))
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        loop.run_forever()

    threading.Thread(target=work, daemon=True).start()
    ready.wait(60)
    return port[0]


def begin_alertmanager(folder, log, receiver, group_by="..."):
    """A real Alertmanager that hands everything on to the address `receiver` at once: the process and its port."""
    port = free_port()
    (folder / "alertmanager.yml").write_text(json.dumps({
        "route": {"receiver": "all", "group_by": [group_by], "group_wait": "0s", "group_interval": "1s",
                  "repeat_interval": "1h"},
        "receivers": [{"name": "all", "webhook_configs": [{"url": receiver, "send_resolved": True}]}]}))
    process = subprocess.Popen(
        [ALERTMANAGER, "--config.file=alertmanager.yml", "--storage.path=data",
         f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
        cwd=folder, stdout=log, stderr=log)
    return process, port


class Serve:
    """`serve` in a folder, which is begun, killed and begun again."""

    def __init__(self, folder):
        self.folder, self.log_path = folder, folder / "serve.log"
        self.process = self.address = None

    def begin(self):
        mark = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=self.folder,
                                            stdout=log, stderr=log)

        def said():
            return re.search(rb"serving.*?(127\.0\.0\.1:\d+)", self.log_path.read_bytes()[mark:])

        self.address = wait_for(said, "serve begins")[1].decode()
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def kill_often(self, times):
        """Kills it and begins it again so often, each time while it does something else."""
        for _ in range(times):
            time.sleep(random.uniform(0.5, 3))
            self.kill()
            self.begin()

    def end(self):
        self.process.terminate()
        expect(self.process.wait(timeout=60) == 0, "serve ends in order")

    def machine_token(self):
        return next(self.folder.glob("*.live/machine-token")).read_text().strip()


def finish(name, folder, more=""):
    """Says how a test went, keeps its folder if it failed, and ends the program."""
    if failures:
        log = folder / "serve.log"
        print(log.read_text()[-3000:] if log.exists() else "", folder)
    else:
        shutil.rmtree(folder)
    print(f"{name}:", "ok" if not failures else f"{len(failures)} failed", more)
    sys.exit(bool(failures))
