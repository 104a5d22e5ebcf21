"""What the tests of the API share: a small ledger, `pennyweight serve` on it, people of every role
and scope, and what they send.

Every script is called as SCRIPT PENNYWEIGHT ROOT CACHE; CACHE is a folder in which the ledger is
made once for all of them. Everything runs on loopback, in a folder of its own.
"""
import fcntl
import hashlib
import http.client
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
import time
import traceback
import urllib.parse
from decimal import Decimal

BINARY, ROOT, CACHE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
DATA = ROOT / "tests" / "data" / "cli"
PASSWORD = "a long enough passphrase"  # of everybody here
ROLES = ("viewer", "team_lead", "finance", "operator", "admin", "client")
SCOPE = [{"dimension": "team", "values": ["nlp"]}]
ANSWER_S = 60 * float(os.environ.get("SLOW", "1"))  # longer is a hang; SLOW: on a busy machine
PATIENCE_S = 5
failures = []

# October to January have no jobs and are for closing; February is closed and invoiced; March is
# open, has two runs under two policies, and a file with rows that can't be read.
CONFIG = """
clusters: [{name: lab, kind: slurm, time_zone: UTC}]
prices: {rate_card: card.csv}
serve: {trust_loopback: false, flush_every: 2s}
policy:
  version: 1
  name: fair
  spread: [{kind: shared, how: even, dimension: team}]
invoice: {prefix: NW, by: team, issuer: {name: Northwind Compute Ltd}}
budgets:
  - {name: everything, amount: 50000 USD, owner: fin}
  - {name: nlp, filter: team=nlp, amount: 9000 USD, parent: everything, owner: ana}
  - {name: nlp-hours, filter: team=nlp, amount: 900 gpu_hours}
"""
# What takes an approval.
GUARDRAILS = """guardrails:
  pricing: {gpu_models: {default: A100-SXM4-80GB}}
  clients: [{name: nlp, dimension: team, regions: [us-east-1], dedicated_nodes: true}]
  rules: [{name: big, effect: require_approval, when: {gpus_above: 4}}]
"""
# A receiver that is told of nothing, and at whose address nothing may be reached.
ALERTS = """alerts:
  receivers: [{name: pager, url: "http://127.0.0.1:9/pager", owners: [nobody]}]
"""
CONFIG += ALERTS + GUARDRAILS
PRICES = "gpu_model,unit,price,currency\nNVIDIA-A100-SXM4-80GB,GPU-Hours,1.1,USD\n"
EARLIER = CONFIG.replace("name: fair", "name: before").replace("even, dimension: team",
                                                               "proportional")


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)
    return bool(condition)


def guarded(main, name):
    """Runs main() and exits with its result; everything that was started is stopped."""
    begun = time.monotonic()
    try:
        main()
    except Exception as error:
        traceback.print_exc()
        expect(False, f"{type(error).__name__}: {error}")
    for server in list(Server.running):
        server.stop()
        if failures:
            print(f"---- the end of the server's log, {server.log}\n{server.last_words()}")
        else:
            shutil.rmtree(server.folder, ignore_errors=True)
    said = "ok" if not failures else f"{len(failures)} failed"
    print(f"{name}: {said} ({time.monotonic() - begun:.1f} s)")
    sys.exit(bool(failures))


# ------------------------------------------------------------------------------ the ledger

def run(arguments, cwd, code=0):
    done = subprocess.run([BINARY, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode != code:
        raise RuntimeError(f"pennyweight {' '.join(arguments)}: {done.returncode}\n"
                           f"{done.stdout}{done.stderr}")
    return done.stdout


def make_ledger(folder):
    nodes = (DATA / "nodes.csv").read_text().replace("2026-03-01T00:00:00Z", "2025-10-01T00:00:00Z")
    (folder / "nodes.csv").write_text(nodes)
    march = (DATA / "jobs.txt").read_text()
    head, *jobs = march.splitlines()
    february = [re.sub(r"^\d", "9", job).replace("2026-03-", "2026-02-") for job in jobs
                if not re.search(r"2026-03-(29|30|31)|2026-04-", job)]
    (folder / "march.txt").write_text(march)
    (folder / "february.txt").write_text("\n".join([head, *february]) + "\n")
    (folder / "bad.txt").write_text(
        f"{head}\n9901|x|train|nlp|ana|COMPLETED|yesterday|2026-03-02T00:00:00|1|1|1|cpu=1|gpu-01\n"
        "9902|y|train|nlp|ana|COMPLETED|2026-03-02T00:00:00|never|1|1|1|cpu=1|gpu-01\n"
        "9903|z|train|nlp|ana|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|3600|x|1|cpu=1|gpu-01\n"
        "9904|z|train|nlp|ana|COMPLETED|2026-03-02T00:00:00|2026-03-02T00:00:01|1|1|1|cpu=1|gpu-01\n")
    (folder / "card.csv").write_text(PRICES)
    (folder / "pennyweight.yaml").write_text(EARLIER)
    for name, begin, end in (("october", "2025-10-01", "2025-10-31"),
                             ("november", "2025-11-01", "2025-11-30"),
                             ("december", "2025-12-01", "2025-12-31"),
                             ("january", "2026-01-01", "2026-01-31"),
                             ("february", "2026-02-01", "2026-02-28"),
                             ("march", "2026-03-01", "2026-03-31")):
        run(["generate", "bill", "--nodes", "nodes.csv", "--from", begin, "--to", end,
             "--prices-as-of", "2026-07-20", "--out", f"{name}.csv"], folder)
    run(["import", "--cluster", "lab", "nodes.csv", "february.txt", "march.txt"], folder)
    run(["import", "--cluster", "lab", "october.csv", "november.csv", "december.csv",
         "january.csv", "february.csv", "march.csv"], folder)
    run(["import", "--cluster", "lab", "bad.txt"], folder)
    run(["allocate"], folder)
    (folder / "pennyweight.yaml").write_text(CONFIG)
    run(["allocate", "--month", "2026-03"], folder)
    run(["close", "2026-02", "--by", "fixture", "--reason", "February is final"], folder)
    run(["invoice", "--month", "2026-02", "--issue"], folder)


def ledger_copy():
    """A folder with the ledger, made once for each version of the program and of this file."""
    stamp = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    stamp.update(f"{BINARY} {BINARY.stat().st_mtime_ns}".encode())
    CACHE.mkdir(parents=True, exist_ok=True)
    made = CACHE / f"ledger-{stamp.hexdigest()[:16]}"
    with open(CACHE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for old in CACHE.glob("ledger-*"):
                shutil.rmtree(old)
            begun = pathlib.Path(tempfile.mkdtemp(prefix="making-", dir=CACHE))
            try:
                make_ledger(begun)
            except BaseException:
                shutil.rmtree(begun)
                raise
            begun.rename(made)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-api-"))
        shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


# ------------------------------------------------------------------------------ the server

class Server:
    """`pennyweight serve` on a copy of the ledger."""
    running = []

    def __init__(self, config=CONFIG, port=None):
        """On a port that is free, or on the one that is given."""
        self.wanted_port = port
        self.folder = ledger_copy()
        (self.folder / "pennyweight.yaml").write_text(config)
        self.log = self.folder / "serve.log"
        self.port = None
        self.admin = None
        self.people = {}
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.begun = log.tell()
            self.process = subprocess.Popen(
                [BINARY, "serve", "--listen", f"127.0.0.1:{self.wanted_port or free_port()}"],
                cwd=self.folder, stdout=log, stderr=subprocess.STDOUT)
        Server.running.append(self)
        deadline = time.monotonic() + ANSWER_S
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r'"event": "serving".*?"address": "127\.0\.0\.1:(\d+)"', self.words())
            if found:
                self.port = int(found[1])
                break
            time.sleep(0.05)
        if self.port is None:
            raise RuntimeError("serve did not begin:\n" + self.last_words())
        while time.monotonic() < deadline:
            if self.anonymous().get("/readyz").status == 200:
                return
            time.sleep(0.1)
        raise RuntimeError("serve is not ready:\n" + self.last_words())

    def words(self):
        return self.log.read_bytes()[self.begun:].decode("utf-8", "replace")

    def last_words(self):
        return "\n".join(self.words().splitlines()[-20:])

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        if self in Server.running:
            Server.running.remove(self)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            expect(False, "serve does not end at SIGTERM")

    # -- people

    def anonymous(self):
        return Asker(self)

    def one_time_password(self):
        """The password of the first admin, from a file that only its owner can read."""
        found = [path for path in self.folder.rglob("*password*") if path.is_file()]
        if len(found) != 1:
            raise RuntimeError(f"one file with the first password is wanted, there is {found}")
        expect(found[0].stat().st_mode & 0o077 == 0, f"{found[0].name} is for its owner alone")
        words = found[0].read_text().split()
        return words[-1]

    def sign_in_admin(self):
        """Signs the first admin in, and changes the password."""
        if self.admin is None:
            self.admin = self.sign_in_new("admin", self.one_time_password())
        return self.admin

    def sign_in_new(self, name, password):
        """The first sign-in of a user, who changes the one-time password."""
        asker = self.anonymous()
        asker.sign_in(name, password)
        changed = asker.put("/api/v1/session/password", {"old": password, "new": PASSWORD})
        if changed.status != 204:
            raise RuntimeError(f"{name}: password not changed: {changed}")
        # The change may have ended the session; then the new one is used.
        asker = self.anonymous()
        asker.sign_in(name, PASSWORD)
        return asker

    def add_person(self, role, scope=(), name=None):
        """A new user, signed in."""
        name = name or f"{role}-{len(self.people)}"
        made = self.sign_in_admin().post("/api/v1/users", {
            "name": name, "display_name": name.title(), "email": f"{name}@example.org", "role": role, "scope": list(scope)})
        if made.status != 201:
            raise RuntimeError(f"cannot add {name}: {made}")
        self.people[name] = (role, scope)
        asker = self.sign_in_new(name, made.json()["password"])
        asker.role, asker.scope = role, list(scope)
        return asker

    def add_token(self, asker, **more):
        """An asker with a token of a user."""
        body = {"name": f"token of {asker.name}", **more}
        body.setdefault("expires_at", instant(time.time() + 3600))
        made = asker.post("/api/v1/tokens", body)
        if made.status != 201:
            raise RuntimeError(f"no token: {made}")
        bearer = self.anonymous()
        bearer.name, bearer.token = asker.name, made.json()["secret"]
        bearer.token_id = made.json()["token"]["id"]
        bearer.role, bearer.scope, bearer.session_of = asker.role, asker.scope, asker
        return bearer

    def document(self):
        return self.anonymous().get("/api/v1/openapi.json").json()


def free_port():
    """A port without a listener, outside of the range for outgoing connections."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_240, max(lowest, 12_000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # names in lower case
        self.body = body

    def json(self):
        """Numbers with every digit."""
        return json.loads(self.body, parse_float=Decimal)

    @property
    def kind(self):
        return self.headers.get("content-type", "").split(";")[0]

    def __str__(self):
        return f"{self.status} {self.body[:400].decode('utf-8', 'replace')}"


class Asker:
    """A client: without sign-in, with the cookie of a session, or with a token."""

    def __init__(self, server):
        self.server = server
        self.name = ""
        self.role = None
        self.scope = []
        self.cookies = {}
        self.csrf = None
        self.token = None
        self.token_id = None
        self.session_of = None  # of a token: who made it

    def sign_in(self, name, password, code=None):
        body = {"user": name, "password": password}
        if code is not None:
            body["code"] = code
        answer = self.post("/api/v1/session", body)
        if answer.status != 200:
            raise RuntimeError(f"{name} can't sign in: {answer}")
        self.name = name
        self.csrf = answer.json()["csrf"]
        return answer

    def headers_for(self, method):
        headers = {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.csrf is not None and method not in ("GET", "HEAD"):
            headers["X-CSRF-Token"] = self.csrf
        return headers

    def ask(self, method, target, body=None, headers=None, keep_cookies=True, read=None):
        """One request. `body` is JSON unless it is bytes; `read`: read at most this many bytes of an
        answer without an end. After a 429 it waits and tries again."""
        sent = self.headers_for(method)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        sent = {name: value for name, value in sent.items() if value is not None}
        answer = self.ask_once(method, target, body, sent, keep_cookies, read)
        wait = int(answer.headers.get("retry-after", "0")) if answer.status == 429 else 0
        if 0 < wait <= PATIENCE_S:
            time.sleep(wait)
            answer = self.ask_once(method, target, body, sent, keep_cookies, read)
        return answer

    def ask_once(self, method, target, body, sent, keep_cookies, read):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=ANSWER_S)
        try:
            connection.request(method, target, body=body, headers=sent)
            got = connection.getresponse()
            text = got.read() if read is None else read_some(got, read)
            answer = Answer(got.status, {name.lower(): value for name, value in got.getheaders()},
                            text)
            for cookie in got.headers.get_all("Set-Cookie") or []:
                name, _, value = cookie.split(";")[0].partition("=")
                if keep_cookies and value:
                    self.cookies[name] = value
                elif keep_cookies:
                    self.cookies.pop(name, None)
            return answer
        finally:
            connection.close()

    def get(self, target, query=None, **more):
        return self.ask("GET", with_query(target, query), **more)

    def post(self, target, body=None, **more):
        return self.ask("POST", target, body, **more)

    def put(self, target, body=None, **more):
        return self.ask("PUT", target, body, **more)

    def patch(self, target, body=None, **more):
        return self.ask("PATCH", target, body, **more)

    def delete(self, target, body=None, **more):
        return self.ask("DELETE", target, body, **more)


def read_some(got, at_least):
    text = b""
    while len(text) < at_least:
        piece = got.read1(4096)
        if not piece:
            break
        text += piece
    return text


def with_query(target, query):
    if not query:
        return target
    return target + "?" + urllib.parse.urlencode(query, doseq=True)


def quoted(text):
    return urllib.parse.quote(text, safe="")
