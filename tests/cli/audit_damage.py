"""Full disks, and audit logs that are removed, cut, edited or replaced: no change is made that has no
line, and whatever was done to the log is found, also after a restart and further lines.

AUDIT_DAMAGE_ROUNDS=300 AUDIT_DAMAGE_SEED=7 for a long run; a failing round prints its seed. The half with
full disks needs to mount a small one, and is left out where that is not allowed.
"""
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading

from harness import BILL, BINARY, expect, expect_run, folder, report, run

ROUNDS = int(os.environ.get("AUDIT_DAMAGE_ROUNDS", "14"))
SEED = int(os.environ.get("AUDIT_DAMAGE_SEED", "1"))
PASSWORD = "tin otter under 42 lamps"
LOG = "pennyweight.duckdb.audit"
KEPT = [LOG, LOG + ".head", LOG + ".key"]
NO_HASH = "0" * 64


class Server:
    """`serve` and an admin who is signed in, unless that is refused."""

    def __init__(self, cwd):
        self.child = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=cwd,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.port, lines = None, []
        for line in self.child.stderr:
            lines.append(line)
            found = re.search(r'"event": "serving".*?"address": "127\.0\.0\.1:(\d+)"', line)
            if found:
                self.port = int(found.group(1))
                threading.Thread(target=self.child.stderr.read, daemon=True).start()
                break
        self.refusal = "" if self.port else "".join(lines)
        self.headers = {"Content-Type": "application/json"}

    def sign_in(self):
        status, answer = self.ask("POST", "/api/v1/session", {"user": "ada", "password": PASSWORD})
        if status == 200:
            self.headers["X-CSRF-Token"] = answer["csrf"]
        return status

    def ask(self, method, path, body=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        link.request(method, path, json.dumps(body) if body is not None else None, self.headers)
        answer = link.getresponse()
        if cookie := answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.split(";")[0]
        text = answer.read()
        link.close()
        return answer.status, json.loads(text) if text else {}

    def stop(self):
        self.child.terminate()
        self.child.wait(60)


def accounts(cwd):
    """The users with their roles, as the accounts have them, and the tokens' ids."""
    path = cwd / "pennyweight.duckdb.live" / "accounts.sqlite"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as link:
        users = dict(link.execute("SELECT name, role FROM users"))
        tokens = {row[0] for row in link.execute("SELECT id FROM tokens")}
    return users, tokens


def lines_of(cwd):
    text = (cwd / LOG).read_text() if (cwd / LOG).exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def closed_months(cwd):
    out = run(["close", "--format", "json"], cwd)[1]
    rows = json.loads(out) if out.strip().startswith(("[", "{")) else []
    rows = rows if isinstance(rows, list) else rows.get("rows", [])
    return {row["month"] for row in rows if row.get("closed_at") or row.get("closed")}


def every_change_has_its_line(cwd, words):
    """The accounts and the ledger hold nothing that no line of the log speaks of."""
    lines = lines_of(cwd)
    undone = {line["after"]["number"] for line in lines if line["action"].endswith("undone")}
    said = {}
    for line in lines:
        if line["action"] in ("user.add", "user.change") and line["number"] not in undone:
            said[line["subject"].removeprefix("user ")] = line["after"]["role"]
        if line["action"] == "user.remove" and line["number"] not in undone:
            said.pop(line["subject"].removeprefix("user "), None)
    users, tokens = accounts(cwd)
    expect(users == said, f"{words}: the accounts have {users}, the log says {said}")
    made = {line["subject"].split()[1] for line in lines if line["action"] == "token.add"}
    expect(tokens <= made, f"{words}: tokens without a line: {tokens - made}")
    for month in closed_months(cwd):
        expect(any(line["action"].startswith("period.close") and month in line["subject"] for line in lines),
               f"{words}: {month} is closed without a line")


# ------------------------------------------------------------------------------ damage

def write_lines(cwd, lines):
    (cwd / LOG).write_bytes(b"".join(lines))


def chained(lines, first):
    """The lines with numbers and hashes that follow one another, as somebody without the key can write them."""
    before = json.loads(lines[first - 1])["hash"] if first > 0 else NO_HASH
    made = lines[:first]
    for number, line in enumerate(lines[first:], first + 1):
        body = re.sub(rb'^\{"number":\d+', b'{"number":%d' % number, line.rstrip(b"\n"))
        body = body[:body.rindex(b',"hash":"')]
        before = hashlib.sha256(before.encode() + body).hexdigest()
        made.append(body + b',"hash":"' + before.encode() + b'"}\n')
    return made


def edited(line):
    return line.replace(b'"actor":"', b'"actor":"x', 1)


def damage(kind, chance, cwd, older):
    lines = (cwd / LOG).read_bytes().splitlines(keepends=True)
    at = chance.randrange(1, len(lines) - 1)
    if kind == "remove the log":
        (cwd / LOG).unlink()
    elif kind == "remove the log and its head":
        for name in KEPT[:2]:
            (cwd / name).unlink()
    elif kind == "remove the log, its head and its key":
        for name in KEPT:
            (cwd / name).unlink()
    elif kind == "empty the log":
        (cwd / LOG).write_bytes(b"")
    elif kind == "cut lines off its end":
        write_lines(cwd, lines[:at])
    elif kind == "cut into its last line":
        write_lines(cwd, [*lines[:-1], lines[-1][:chance.randrange(1, len(lines[-1]) - 1)]])
    elif kind == "edit a line":
        write_lines(cwd, [*lines[:at], edited(lines[at]), *lines[at + 1:]])
    elif kind == "edit a line and chain the rest anew":
        write_lines(cwd, chained([*lines[:at], edited(lines[at]), *lines[at + 1:]], at))
    elif kind == "leave a line out and chain the rest anew":
        write_lines(cwd, chained([*lines[:at], *lines[at + 1:]], at))
    elif kind == "insert a line and chain the rest anew":
        write_lines(cwd, chained([*lines[:at], lines[at - 1], *lines[at:]], at))
    elif kind == "swap two lines":
        write_lines(cwd, [*lines[:at - 1], lines[at], lines[at - 1], *lines[at + 1:]])
    elif kind == "add a line that is chained":
        write_lines(cwd, chained([*lines, edited(lines[at])], len(lines)))
    elif kind == "put an older log back":
        shutil.copy(older / LOG, cwd / LOG)
    elif kind == "put an older log and head back":
        for name in KEPT[:2]:
            shutil.copy(older / name, cwd / name)


KINDS = ["remove the log", "remove the log and its head", "remove the log, its head and its key", "empty the log",
         "cut lines off its end", "cut into its last line", "edit a line", "edit a line and chain the rest anew",
         "leave a line out and chain the rest anew", "insert a line and chain the rest anew", "swap two lines",
         "add a line that is chained", "put an older log back", "put an older log and head back"]


def is_found(cwd, words):
    code, out, err = run(["audit", "verify"], cwd)
    expect(code == 1, f"{words}: audit verify ends with {code}\n{out}{err}")


def try_changes(cwd, server, chance):
    """Changes of all kinds, over HTTP where a server runs, and by verbs; most are refused."""
    name = f"late-{chance.randrange(10 ** 9)}"
    run(["user", "add", name, "--role", "admin"], cwd)
    run(["token", "add", "ada", "--name", name], cwd)
    if server and server.port:
        for _ in range(5):
            server.ask("POST", "/api/v1/session", {"user": "bo", "password": "wrong"})
        server.ask("POST", "/api/v1/users", {"name": name + "-http", "role": "viewer"})
        server.ask("PATCH", "/api/v1/users/bo", {"role": "admin"})


def damaged_round(base, older, seed, kind):
    chance = random.Random(seed)
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-damage-"))
    shutil.copytree(base, cwd, dirs_exist_ok=True)
    is_running = chance.random() < 0.5
    words = f"seed {seed}, {kind}{' while it is served' if is_running else ''}"
    server = Server(cwd) if is_running else None
    if server:
        expect(server.port and server.sign_in() == 200, f"{words}: sign-in before the damage")
    known = accounts(cwd)
    damage(kind, chance, cwd, older)
    # Half a line is what a kill leaves: it is set aside, which the log says; nothing acknowledged may go.
    is_found(cwd, words)
    try_changes(cwd, server, chance)
    is_found(cwd, words + ", after attempts to change something")
    if kind in NOTHING_MAY_CHANGE:
        expect(accounts(cwd) == known, f"{words}: something changed: {accounts(cwd)}, was {known}")
    if server:
        server.stop()
    server = Server(cwd)
    try_changes(cwd, server, chance)
    if server.port:
        server.stop()
    is_found(cwd, words + ", after a restart and more lines")
    if kind in NOTHING_MAY_CHANGE:
        expect(accounts(cwd) == known, f"{words}: something changed after a restart: {accounts(cwd)}, was {known}")
    shutil.rmtree(cwd)


# An edit in the middle is not noticed when something is appended, but by `audit verify`; whatever moves the
# end of the log is noticed at once.
NOTHING_MAY_CHANGE = set(KINDS) - {"edit a line", "swap two lines"}


# ------------------------------------------------------------------------------ full disks

class SmallDisk:
    def __init__(self, mebibytes):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-disk-"))
        self.is_mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", self.path],
                                         capture_output=True).returncode == 0

    def fill(self, but):
        with open(self.path / "ballast", "wb", buffering=0) as ballast:
            try:
                while ballast.write(b"\1" * 65536):
                    pass
            except OSError:
                pass
            ballast.truncate(max(0, ballast.tell() - but))

    def release(self):
        (self.path / "ballast").unlink()

    def remove(self):
        subprocess.run(["umount", "-l", self.path], capture_output=True)
        self.path.rmdir()


def full_disk_round(base, seed):
    chance = random.Random(seed)
    words = f"seed {seed}, a full disk"
    disk = SmallDisk(96)
    if not disk.is_mounted:
        return False
    cwd = disk.path
    try:
        shutil.copytree(base, cwd, dirs_exist_ok=True)
        is_served = chance.random() < 0.7
        server = Server(cwd) if is_served else None
        if server:
            expect(server.port and server.sign_in() == 200, f"{words}: sign-in before it is full")
        disk.fill(but=chance.choice([0, 0, 4096, 8192, 65536, 200_000]))
        answered = []
        for number in range(chance.randrange(2, 12)):
            name = f"full{number}"
            if server:
                answered.append((name, server.ask("POST", "/api/v1/users", {"name": name, "role": "viewer"})[0]))
                server.ask("PATCH", "/api/v1/users/bo", {"role": chance.choice(["viewer", "finance", "operator"])})
                server.ask("POST", "/api/v1/tokens", {"name": name, "expires_at": "2027-01-01T00:00:00Z"})
                server.ask("POST", "/api/v1/session", {"user": "bo", "password": "wrong"})
            else:
                run(["user", "add", name + "-cli", "--role", "viewer"], cwd)
                run(["close", "2026-03", "--by", "ada"], cwd)
        if server and chance.random() < 0.3:
            server.child.kill()
            server.child.wait()
        elif server:
            server.stop()
        disk.release()
        users, _ = accounts(cwd)
        for name, status in answered:
            expect((name in users) == (status == 201), f"{words}: {name} was answered {status}, users {users}")
        out, err = expect_run(["audit", "verify"], cwd)
        expect("is intact" in out, f"{words}: {out}{err}")
        every_change_has_its_line(cwd, words)
        expect_run(["user", "add", "afterwards", "--role", "viewer"], cwd)
        expect_run(["audit", "verify"], cwd, 0, ["is intact"])
        return True
    finally:
        disk.remove()


def make_base():
    """A ledger with users, a token and some lines, and an older copy of it."""
    cwd = folder()
    expect_run(BILL, cwd)
    expect_run(["import", "bill.csv"], cwd)
    expect_run(["allocate"], cwd)
    (cwd / "password").write_text(PASSWORD + "\n")
    expect_run(["user", "add", "ada", "--role", "admin", "--password-file", "password"], cwd)
    expect_run(["user", "add", "bo", "--role", "viewer", "--password-file", "password"], cwd)
    older = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-older-"))
    shutil.copytree(cwd, older, dirs_exist_ok=True)
    expect_run(["user", "add", "cy", "--role", "finance"], cwd)
    expect_run(["token", "add", "ada", "--name", "one"], cwd)
    expect_run(["user", "change", "cy", "--role", "operator"], cwd)
    expect_run(["audit", "verify"], cwd, 0, ["is intact"])
    every_change_has_its_line(cwd, "the base")
    return cwd, older


def main():
    base, older = make_base()
    full = 0
    for number in range(ROUNDS):
        damaged_round(base, older, SEED * 1_000_003 + number, KINDS[number % len(KINDS)])
        if number % 3 == 0:
            full += full_disk_round(base, SEED * 1_000_003 + number)
    print(f"{ROUNDS} damaged logs, {full} full disks")
    report("cli/audit_damage")


main()
