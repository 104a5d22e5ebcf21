"""kill -9 at random moments while people change users, roles, tokens and months, over HTTP and with the
verbs: no change exists without its line in the audit log, and the log is intact.

AUDIT_KILL_ROUNDS=1000 AUDIT_KILL_SEED=7 for a long run; a failing round prints its seed.
"""
import http.client
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

from harness import BILL, BINARY, expect, expect_run, folder, report

ROUNDS = int(os.environ.get("AUDIT_KILL_ROUNDS", "10"))
SEED = int(os.environ.get("AUDIT_KILL_SEED", "1"))
PASSWORD = "tin otter under 42 lamps"


class Client:
    """A signed-in admin. Requests that the kill cuts off are expected."""

    def __init__(self, port):
        self.port = port
        self.headers = {"Content-Type": "application/json"}
        answer = self.ask("POST", "/api/v1/session", {"user": "ada", "password": PASSWORD})
        if answer is not None:
            self.headers["X-CSRF-Token"] = answer["csrf"]

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            link.request(method, path, json.dumps(body) if body is not None else None, self.headers)
            answer = link.getresponse()
            cookie = answer.getheader("Set-Cookie")
            if cookie:
                self.headers["Cookie"] = cookie.split(";")[0]
            text = answer.read()
            return json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            link.close()


def hammer(port, seed, is_over):
    chance = random.Random(seed)
    client = Client(port)
    made = []
    while not is_over.is_set():
        what = chance.randrange(5)
        name = f"u{seed}-{len(made)}"
        if what < 2 or not made:
            client.ask("POST", "/api/v1/users", {"name": name, "role": "viewer"})
            made.append(name)
        elif what == 2:
            client.ask("PATCH", f"/api/v1/users/{chance.choice(made)}",
                       {"role": chance.choice(["finance", "operator", "admin"])})
        elif what == 3:
            client.ask("DELETE", f"/api/v1/users/{chance.choice(made)}")
        else:
            client.ask("POST", "/api/v1/tokens",
                       {"name": name, "expires_at": "2027-01-01T00:00:00Z"})


def serve(cwd):
    """The server and its port, once it answers."""
    child = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=cwd,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in child.stderr:
        found = re.search(r'"event": "serving".*?"address": "127\.0\.0\.1:(\d+)"', line)
        if found:
            threading.Thread(target=lambda: child.stderr.read(), daemon=True).start()
            return child, int(found.group(1))
    raise RuntimeError(f"serve did not start: {child.wait()}")


def lines_of(cwd):
    return [json.loads(line) for line in (cwd / "pennyweight.duckdb.audit").read_text().splitlines()]


def check(cwd, seed):
    out, _ = expect_run(["audit", "verify"], cwd)
    expect("is intact" in out, f"seed {seed}: {out}")
    lines = lines_of(cwd)
    closed = json.loads(expect_run(["close", "--format", "json"], cwd)[0] or "[]") \
        if any(line["action"].startswith("period.close") for line in lines) else []
    for row in closed if isinstance(closed, list) else closed.get("rows", []):
        expect(any(line["action"].startswith("period.close") and row["month"] in line["subject"]
                   for line in lines), f"seed {seed}: {row['month']} is closed without a line")


cwd = folder()
expect_run(BILL, cwd)
expect_run(["import", "bill.csv"], cwd)
(cwd / "password").write_text(PASSWORD + "\n")
expect_run(["user", "add", "ada", "--role", "admin", "--password-file", "password"], cwd)
for number in range(ROUNDS):
    seed = SEED * 1_000_003 + number
    chance = random.Random(seed)
    if number % 2 == 0:
        child, port = serve(cwd)
        is_over = threading.Event()
        threads = [threading.Thread(target=hammer, args=(port, seed * 10 + i, is_over))
                   for i in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.3, 1.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
        is_over.set()
        for thread in threads:
            thread.join()
    else:
        month = f"20{10 + number % 80:02}-01"
        verb = chance.choice([["user", "add", f"cli-{seed}", "--role", "viewer"],
                              ["token", "add", "ada", "--name", f"cli-{seed}"],
                              ["close", month, "--by", "ada"]])
        child = subprocess.Popen([BINARY, *verb], cwd=cwd, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.4))
        child.send_signal(signal.SIGKILL)
        child.wait()
    check(cwd, seed)
report("cli/audit_kill")
