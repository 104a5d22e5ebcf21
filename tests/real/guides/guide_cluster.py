#!/usr/bin/env python3
"""docs/guide/cluster.md, word by word: every block of it is tried, or said why not.

usage: guide_cluster.py PENNYWEIGHT REPOSITORY

ClickHouse is Debian's, with the package's configuration and the files of the page: one server, and
two shards of two replicas with ZooKeeper. The ledger is the demonstration's, with a `serve` that
scrapes a stand-in for an exporter all the time. What stands on the page for other machines is on
loopback here, and `systemctl` is this test.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import yaml

import guide
from packaged_clickhouse import Four, Packaged

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "top"))
import top_common  # noqa: E402
import harness  # noqa: E402
from harness import Program, expect, folder, free_port, guarded, need, say, wait_until  # noqa: E402
import test_demo  # noqa: E402
import test_move  # noqa: E402
import address_options  # noqa: E402

CLOSED = ["2017-10", "2023-01", "2023-02", "2023-03", "2023-04"]


class Machine:
    """The page's machine, with its `serve`."""

    def __init__(self, reader, where, port):
        self.reader, self.where = reader, where
        self.url = f"http://127.0.0.1:{port}"
        self.config = where / "pennyweight.yaml"
        self.serve = Program("serve", [where / "bin" / "pennyweight", "serve"], where,
                             ready=self.url + "/readyz")

    def set(self, **keys):
        """Keys of the configuration; None takes one out."""
        document = yaml.safe_load(self.config.read_text()) if self.config.exists() else {}
        for name, value in keys.items():
            merged = document.setdefault(name, {})
            if isinstance(value, dict):
                merged.update(value)
                document[name] = {key: at for key, at in merged.items() if at is not None}
            else:
                document[name] = value
        self.config.write_text(yaml.safe_dump(document))

    def types(self, text, patience=240):
        """A block; `systemctl` is said to this test."""
        said, lines = "", []
        for line in [*text.splitlines(), "systemctl"]:
            if not line.startswith("systemctl"):
                name = re.match(r"(\w+)='(.*)'$", line)
                if name:
                    self.reader.env[name[1]] = name[2]
                lines.append(line)
                continue
            if lines:
                said += self.reader.types("\n".join(lines), patience)
                lines = []
            if line == "systemctl stop pennyweight":
                expect(self.serve.stop() == 0, "serve ends with 0")
            elif line == "systemctl start pennyweight":
                self.serve.start(patience=120)
            elif line != "systemctl":
                raise RuntimeError(f"not understood: {line}")
        return said

    def count(self, what):
        """What this `serve` has written into the ledger."""
        found = harness.metrics(self.url + "/metrics")
        return harness.metric_sum(found, "pennyweight_ledger_total", f'what="{what}"')

    def takes_in(self, what="usages come into the ledger"):
        before = self.count("usages")
        wait_until(what, lambda: self.count("usages") > before, 150, pause=0.5)


class Mover(test_move.Mover):
    """The test of `move`, with the page's ledger."""

    def __init__(self, program, where):
        super().__init__(program, where, None)


def line_in(text, what):
    """A line of a block that has this."""
    return next(line for line in text.splitlines() if what in line)


def fails(reader, command, words, code=1):
    done = subprocess.run(["bash", "-c", command], cwd=reader.folder, env=reader.env, text=True,
                          capture_output=True, timeout=120, check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == code and words in said,
           f"{command}: {done.returncode}, and not {words!r}: {said[-600:]}")
    return said


def kill_in_the_midst(reader, command, is_under_way):
    moving = subprocess.Popen(["bash", "-c", "exec " + command.strip()], cwd=reader.folder,
                              env=reader.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until("the move is under way", lambda: is_under_way() or moving.poll() is not None, 120,
               pause=0.02)
    moving.send_signal(signal.SIGKILL)
    moving.communicate()
    expect(moving.returncode == -signal.SIGKILL, f"it was killed: {moving.returncode}")


# ------------------------------------------------------------------------------ one server

def one_server(reader, server, place):
    """From the first import to TLS, and what `move` does there."""
    install, import_ = reader.block("apt-get install clickhouse-server").splitlines()
    print(f"not tried: {install!r}: installed already", flush=True)
    said = reader.types(f"cd {place} && {import_}")
    expect("353 nodes: 353 new" in said or "352 nodes: 352 new" in said, f"the import: {said}")
    (place / "pennyweight.yaml").write_text(reader.block("store: clickhouse://127.0.0.1"))
    reader.types(f"cd {place} && pennyweight allocate")
    in_here = reader.types(f"cd {place} && pennyweight report --by team --cost all --format csv")
    expect("7f04ca" in in_here, f"a report: {in_here[-400:]}")
    for verb in (import_.split("/pennyweight ", 1)[1], "allocate"):
        reader.types(f"cd {place} && pennyweight --store pennyweight.duckdb {verb}")
    in_file = reader.types(f"cd {place} && pennyweight --store pennyweight.duckdb report --by team "
                           "--cost all --format csv")
    expect(in_here == in_file, "ClickHouse says what a file says")
    form = reader.block("clickhouse://[user[:password]@]host").strip()
    expect(form == "clickhouse://[user[:password]@]host[:port][,host[:port]…]/database"
                   "[?option=value&…]", f"the address's form: {form}")
    moves(reader, server, place)
    say("one server: imported, divided, moved there and back")

    options = address_options.Options(reader, server, "pennyweight", place)
    options.try_all()
    say("one server: each option of the address")

    etc = reader.folder / "etc" / "pennyweight"
    etc.mkdir(parents=True)
    reader.instead["THE-SUM"] = reader.types(reader.block("head -c 24 /dev/urandom")).split()[0]
    secret = etc / "clickhouse-password"
    expect(secret.stat().st_mode & 0o777 == 0o600, "nobody else reads the password")
    reader.instead["THE-PASSWORD"] = secret.read_text().strip()
    expect(hashlib.sha256(secret.read_text().strip().encode()).hexdigest()
           == reader.instead["THE-SUM"], "the sum is the password's")
    users, tls = reader.block("users.d/pennyweight.xml"), reader.block("config.d/tls.xml")
    server.add("/etc/clickhouse-server/users.d/pennyweight.xml", users)
    server.add("/etc/clickhouse-server/config.d/tls.xml", tls)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=ch-0", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    server.home / "server.key", "-out", server.home / "server.crt"],
                   check=True, capture_output=True)
    shutil.copy(server.home / "server.crt", etc / "ca.crt")
    server.restart()
    (place / "pennyweight.yaml").write_text(reader.block("?tls=1&ca_file="))
    expect(reader.types(f"cd {place} && pennyweight report --by team --cost all --format csv")
           == in_file, "over TLS and with a password it says the same")
    options.try_password("pennyweight", secret)
    options.try_tls("127.0.0.1", server.https, etc / "ca.crt")
    say("one server: passwords and TLS")
    return users


def moves(reader, server, place):
    """The section on `move`: there and back, broken off, and onto a ledger that is there."""
    there, back = reader.block("/moved\n").splitlines()
    into = f"cd {place} && "

    def pieces():
        try:
            return int(server.ask("SELECT count() FROM moved.moving WHERE what = 'piece'")[0][0])
        except RuntimeError:
            return 0  # the table is not there yet
    kill_in_the_midst(reader, f"bash -c '{into}exec {there}'", lambda: pieces() > 0)
    moved = there.split("--to ")[1]
    fails(reader, f"{into}pennyweight --store {moved} report", "has begun and is not finished")
    said = reader.types(f"{into}{there} 2>&1", 300)
    expect("is now an exact copy of" in said, f"it goes on: {said[-400:]}")
    for what in ("rows", "digest", "effective"):
        expect(what in said, f"the table shows {what}: {said[:600]}")
    said = reader.types(f"{into}{there} 2>&1", 300)
    expect("exactly the same content" in said, f"a second time it is compared: {said[-400:]}")

    moving = place / "back.duckdb.moving"
    kill_in_the_midst(reader, f"bash -c '{into}exec {back}'", moving.exists)
    expect(not (place / "back.duckdb").exists(), "it has its name when it is intact")
    said = reader.types(f"{into}{back} 2>&1", 300)
    expect("is now an exact copy of" in said, f"and back: {said[-400:]}")
    expect(list(place.glob("back*")) == [place / "back.duckdb"], "nothing is left beside it")
    asked = ("report --by team,user,month,kind --cost all --format csv", "reconcile --format json",
             "explain --by team --key 7f04ca --top 3")
    for verb in asked:
        says = {reader.types(f"{into}pennyweight --store {store} {verb}")
                for store in ("pennyweight.duckdb", moved, "back.duckdb")}
        expect(len(says) == 1, f"{verb}: the same at all three places")
    reader.types(f"{into}pennyweight --store {moved} close 2017-10 --by ana --reason audited")
    fails(reader, f"{into}{there}", "is a ledger already, with different content")
    empty = moved.replace("/moved", "/opened")  # by any verb
    reader.types(f"{into}pennyweight --store {empty} doctor")
    fails(reader, f"{into}{there.replace(moved, empty)}", "is a ledger already")


# ------------------------------------------------------------------------------ several

def make_demo(machine, mover, repository):
    """The steps of the demonstration beside a running `serve`, and the closing of what is over."""
    for name in ("philly-nodes.csv", "philly-sacct.txt", "openb-nodes.csv", "openb-pods.csv"):
        shutil.copy(repository / "data" / "demo" / name, machine.where)
    for verb in (*test_demo.BILLS, *test_demo.STEPS[:3],
                 *(["close", month, "--by", "ana", "--reason", "audited"] for month in CLOSED)):
        done = mover.run(*verb)
        expect(done.returncode == 0, f"{verb}: {done.stderr.decode()[-500:]}")


def month_that_goes_on(machine, mover):
    """An inventory and a bill of this month until yesterday, as `serve` counts it."""
    yesterday = time.gmtime(time.time() - 86400 - 600)
    first = time.strftime("%Y-%m-01", yesterday)
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 600))
    (machine.where / "lab-nodes.csv").write_text(
        "cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,"
        f"from,to\nlab,n1,i-1,p4d.24xlarge,us-east-1,train,A100-SXM4-40GB,8,96,1152,"
        f"{first}T00:00:00Z,\n")
    for verb in (["generate", "bill", "--nodes", "lab-nodes.csv", "--from", first, "--to", until,
                  "--prices-as-of", "2025-06-01", "--out", "lab-bill.csv"],
                 ["import", "--cluster", "lab", "lab-nodes.csv", "lab-bill.csv"]):
        done = mover.run(*verb)
        expect(done.returncode == 0, f"{verb}: {done.stderr.decode()[-500:]}")
    return first[:7]


def to_the_cluster(reader, machine, mover, four):
    """Steps 1 to 5."""
    block = reader.block("pennyweight backup /backups/before-the-cluster")
    machine.types(block)
    reader.types("pennyweight backup --check " + block.split()[2])
    machine.takes_in("serve goes on after the backup")
    machine.types(reader.block("> before.csv"))
    want = test_move.answers(mover, "ledger.duckdb")
    move = reader.block('--from ledger.duckdb --to "$ledger"')

    def pieces():
        try:
            return int(four.servers[1].ask("SELECT count() FROM pennyweight.moving WHERE "
                                           "what = 'piece'")[0][0])
        except RuntimeError:
            return 0
    kill_in_the_midst(reader, move, lambda: pieces() > 3)
    fails(reader, 'pennyweight --store "$ledger" report', "has begun and is not finished")
    begun = time.monotonic()
    said = machine.types(move.strip() + " 2>&1")
    expect("is now an exact copy of ledger.duckdb" in said and "resuming" in said,
           f"the same command goes on: {said[-600:]}")
    say(f"moved to the cluster in {time.monotonic() - begun:.1f} s")
    machine.set(**yaml.safe_load(reader.block("  path: /var/lib/pennyweight")))
    machine.types(reader.block("mv ledger.duckdb"))
    test_move.same("on the cluster", want, test_move.answers(mover, None, postings=False))
    said = machine.types(reader.block("> after.csv"))
    expect(said.rstrip().endswith("ready"), f"ready: {said[-300:]}")
    expect(not (machine.where / "ledger.duckdb").exists(), "no file is the ledger any more")
    machine.takes_in("what serve takes in comes to the cluster")
    audit = reader.types("pennyweight audit verify")
    expect("is intact" in audit, f"the audit log goes on: {audit}")
    expect(json.loads(reader.types("pennyweight user list --format json"))[0]["rows"],
           "the accounts are there")


def while_a_server_is_down(reader, machine, four):
    """Everybody reads and nobody commits."""
    report = "pennyweight report --by cluster,month,kind --cost all --format csv"
    before = reader.types(report)
    down = four.servers[3]
    down.stop()
    hosts = four.hosts()
    other_way_round = reader.env["ledger"].replace(hosts, ",".join(reversed(hosts.split(","))))
    for store in ("$ledger", other_way_round):
        expect(reader.types(f'{report} --store "{store}"') == before, "everybody reads")
    (machine.where / "more.csv").write_text(
        (machine.where / "lab-nodes.csv").read_text().replace(",n1,i-1,", ",n2,i-2,"))
    begun = time.monotonic()
    said = fails(reader, 'pennyweight --store "$ledger&retry_ms=3000" import --cluster lab '
                         "more.csv", "3000 ms after the first failed")
    took = time.monotonic() - begun
    expect(took >= 2 and "nothing is committed" in said, f"after {took:.1f} s: {said[-600:]}")
    say(f"nobody commits, and it says so: {said.strip()[-200:]}")
    waits = subprocess.Popen(["bash", "-c", "exec pennyweight import --cluster lab more.csv"],
                             cwd=reader.folder, env=reader.env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    time.sleep(3)
    expect(waits.poll() is None, "it waits")
    down.start()
    said = waits.communicate(timeout=120)[0].decode()
    expect(waits.returncode == 0 and "1 node: 1 new" in said, f"then it goes through: {said}")
    machine.takes_in("what waited in the journal comes")


def replaced(reader, machine, four):
    """A server is lost with all that it had, and an empty one takes its place."""
    report = "pennyweight report --by cluster,month,kind --cost all --format csv"
    before = reader.types(report)
    lost = four.servers[1]
    lost.kill()
    shutil.rmtree(lost.home / "data")
    reader.types(reader.block("deleteall"))
    lost.start()
    (machine.where / "other.csv").write_text(
        (machine.where / "lab-nodes.csv").read_text().replace(",n1,i-1,", ",n3,i-3,"))
    said = reader.types("pennyweight import --cluster lab other.csv", 180)
    expect("1 node: 1 new" in said, f"it goes on: {said}")
    wait_until("the new server is full", lambda: int(lost.ask(
        "SELECT sum(queue_size) + sum(is_readonly) + countIf(active_replicas < total_replicas) "
        "FROM system.replicas WHERE database = 'pennyweight'")[0][0]) == 0, 90)
    alone = reader.env["ledger"].replace(four.hosts(), f"127.0.0.1:{lost.port}")
    expect(alone != reader.env["ledger"], "it can be asked alone")
    expect(reader.types(f"pennyweight --store '{alone}' " + report.split(" ", 1)[1]) == before,
           "the new server says what the old one said")


def workers(reader, machine, four, month):
    """Step 6, and the section on workers."""
    runs = f"SELECT count() FROM pennyweight.runs WHERE month = '{month}' AND cluster = 'lab'"
    expect(machine.serve.stop() == 0, "serve ends with 0")
    machine.set(**yaml.safe_load(reader.block("  allocate: workers")))
    scraped = yaml.safe_load(machine.config.read_text())["scrape"]
    machine.set(scrape=[])  # what comes all the time is always a little behind
    machine.serve.start(patience=120)
    had = four.servers[0].ask(runs)
    once, = [line for line in reader.block("work --once").splitlines() if "--once" in line]
    first, second = (subprocess.Popen(["bash", "-c", f"exec {once.split('#')[0]}"],
                                      cwd=reader.folder, env=reader.env, stderr=subprocess.PIPE,
                                      text=True) for _ in range(2))
    logged = []
    for worker in (first, second):
        words = worker.communicate(timeout=300)[1]
        expect(worker.returncode == 0, f"work --once: {words[-600:]}")
        logged += events(words)
    claims = [one["claim"] for one in logged if one["event"] == "claimed"]
    divided = {(one["cluster"], one["month"]) for one in logged if one["event"] == "divided"}
    planned = {one["month"] for one in logged if one["event"] == "planned"}
    expect(len(claims) == len(set(claims)), f"no claim is had by two: {claims}")
    expect({("philly", "2017-11"), ("openb", "2023-05"), ("lab", month)} <= divided,
           f"what is due was divided: {divided}")
    expect(planned == {"2017-11", "2023-05", month}, f"closed months are nobody's work: {planned}")
    names = {one["worker"] for one in logged if one["event"] == "working"}
    expect(len(names) == 2 and all(":" in name for name in names), f"host:process: {names}")
    unchanged = [one for one in logged if one["event"] == "divided" and one["unchanged"] == "yes"]
    say(f"two workers: {len(claims)} claims, {len(unchanged)} of {len(divided)} runs as they were")

    unit = reader.block("pennyweight-work.service")
    reader.passed_over("systemctl enable --now pennyweight-work", "nobody has systemd here")
    command = line_in(unit, "ExecStart=").split("=", 1)[1]
    expect(command.startswith("/usr/bin/pennyweight --config "), f"the unit's command: {command}")
    if shutil.which("systemd-analyze"):
        (machine.where / "pennyweight-work.service").write_text(
            unit.replace("/usr/bin/", f"{machine.where}/bin/"))
        done = subprocess.run(["systemd-analyze", "verify",
                               machine.where / "pennyweight-work.service"],
                              capture_output=True, text=True, check=False)
        expect("pennyweight-work.service" not in done.stderr, f"the unit: {done.stderr}")
    other = folder("guide-worker")  # another machine: a configuration and a password, no more
    (other / "pennyweight.yaml").write_text(machine.config.read_text().replace(
        f"{machine.where}/ledger", f"{other}/ledger"))
    arguments = command.replace("/usr/bin/", "").split()
    arguments[0] = machine.where / "bin" / "pennyweight"
    arguments[2] = other / "pennyweight.yaml"
    worker = Program("worker", arguments, other).start(wait=False)

    user, token, *asking = reader.block("token add watch").splitlines()
    reader.types(user)
    reader.env["token"] = reader.types(re.fullmatch(r"token=\$\((.*)\)", token)[1]).strip()
    asking = "\n".join(asking)
    all_done = {"done"}, 0
    wait_until("all is done", lambda: progress(reader.types(asking)) == all_done, 90, 1)
    expect(worker.stop() == 0, "a worker ends with 0")  # so that the lag is there to be seen
    (machine.where / "support.csv").write_text(SUPPORT.format(month=month, next=next_month(month)))
    reader.types("pennyweight import support.csv")
    wait_until("an import that a run lacks is seen",
               lambda: progress(reader.types(asking))[1] > 0, 60, 0.5)
    worker.start(wait=False)
    wait_until("the worker divides it",
               lambda: any(one["event"] == "divided" for one in events(worker.log.read_text())), 60)
    wait_until("nothing is behind any more", lambda: progress(reader.types(asking)) == all_done,
               60, 1)
    expect(worker.stop() == 0, "a worker ends with 0")
    log = [one["event"] for one in events(worker.log.read_text())]
    expect(log[0] == "working" and log[-2:] == ["stopping", "stopped"], f"its log: {log}")
    expect("allocate" in (other / "ledger.duckdb.audit").read_text(), "its own audit log")
    machine.set(scrape=scraped)
    expect(machine.count("runs") == 0, "serve left the days that are over to the workers")
    expect(four.servers[0].ask(runs) != had or unchanged, "and they divided them")


SUPPORT = ("BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,"
           "ChargeCategory,ChargeDescription,BilledCost,EffectiveCost,ListCost,ContractedCost,"
           "BillingCurrency,ServiceName\n"
           "a,{month}-01T00:00:00Z,{next}-01T00:00:00Z,{month}-01T00:00:00Z,{next}-01T00:00:00Z,"
           "Usage,Support,777.77,777.77,777.77,777.77,USD,Support\n")


def next_month(month):
    year, number = map(int, month.split("-"))
    return f"{year + number // 12:04}-{number % 12 + 1:02}"


def events(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")
            and line.endswith("}")]


def progress(said):
    """The states of all items, and the lag: what the page's three lines show."""
    body, end = json.JSONDecoder().raw_decode(said)
    lines = said[end:].splitlines()
    states = {item["state"] for item in body["data"]}
    lag = next(line for line in lines if line.startswith("pennyweight_work_lag_seconds "))
    expect(any(line.startswith('pennyweight_work_items{state="due"}') for line in lines), said)
    return states, float(lag.split()[1])


def swept(reader):
    """What was broken off while a server was down is noted, and then deleted."""
    sweep = reader.block("pennyweight sweep").strip()
    first = reader.types(sweep)
    expect(re.match(r"[1-9]\d* interrupted or under way, 0 abandoned", first),
           f"it is noted: {first}")
    again = reader.types(sweep + " --days 0")
    expect(re.match(r"\d+ interrupted or under way, [1-9]\d* abandoned", again),
           f"and deleted: {again}")


def backup_and_back(reader, machine, mover):
    """Step 7, and the way back."""
    said = machine.types(reader.block("/backups/2026-03-31\nrm"))
    expect("bytes, of" in said, f"a backup: {said[-300:]}")
    reader.types(f"pennyweight backup --check {machine.where}/backups/2026-03-31")
    expect(not (machine.where / "ledger.duckdb").exists(), "the copy is gone")
    back = reader.block("systemctl stop pennyweight\npennyweight move")
    stop, move = back.splitlines()
    machine.types(stop)
    on_cluster = test_move.answers(mover, None, postings=False)
    said = machine.types(move + " 2>&1")
    expect("is now an exact copy of" in said, f"back: {said[-400:]}")
    machine.set(store={"address": None}, serve={"allocate": None})
    test_move.same("back in the file", test_move.answers(mover, None), on_cluster)
    machine.serve.start()
    machine.takes_in("and serve goes on with the file")
    expect((machine.where / "ledger.duckdb").exists(), "the file is the ledger")


# ------------------------------------------------------------------------------ all of it

def main():
    binary, repository = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    need(binary, "clickhouse-server", "clickhouse-client", "java", "openssl",
         "/usr/share/java/zookeeper.jar")
    where, one, four = folder("guide-cluster"), Packaged("one", folder("guide-one")), Four()
    port, one.https = free_port(), free_port()
    reader = guide.Reader("cluster.md", where, binary, {
        "<ip>10.0.0.0/8<": "<ip>127.0.0.1<", "<listen_host>0.0.0.0<": "<listen_host>127.0.0.1<",
        "<interserver_http_host>ch-2<": "<interserver_http_host>127.0.0.1<",
        "<https_port>8443<": f"<https_port>{one.https}<", "ch-0/": f"127.0.0.1:{one.https}/",
        "/etc/clickhouse-server/server.": f"{one.home}/server.",
        "/etc/pennyweight/clickhouse-password": f"{where}/etc/pennyweight/clickhouse-password",
        "/etc/pennyweight/ca.crt": f"{where}/etc/pennyweight/ca.crt",
        "/var/lib/pennyweight/ledger": f"{where}/ledger", "/backups/": f"{where}/backups/",
        "127.0.0.1:8123": f"127.0.0.1:{one.port}", "127.0.0.1:9595": f"127.0.0.1:{port}",
        **four.substitutions()})
    (where / "backups").mkdir()
    exporter = top_common.exporter([top_common.Card("n1", index, busy=0.5) for index in range(8)])
    machine, mover = Machine(reader, where, port), Mover(binary, where)
    machine.set(clusters=[{"name": "philly", "kind": "slurm", "time_zone": "UTC"},
                          {"name": "openb", "kind": "kubernetes", "origin": "2023-01-01"}],
                store={"path": f"{where}/ledger.duckdb"},
                serve={"listen": f"127.0.0.1:{port}", "cluster": "lab", "resolution": "10s",
                       "grace": "2s", "flush_every": "10s", "trust_loopback": True},
                scrape=[{"job": "dcgm", "targets": [exporter.target], "interval": "2s",
                         "honor_labels": True}])
    month = month_that_goes_on(machine, mover)
    make_demo(machine, mover, repository)
    machine.serve.start()
    say("there is a ledger in a file, and a serve")

    place = where / "one"
    place.mkdir()
    for name, source in (("nodes.csv", "philly-nodes.csv"), ("jobs.txt", "philly-sacct.txt"),
                         ("bill.csv", "philly-bill.csv")):
        shutil.copy(where / source, place / name)
    one.start()
    users = one_server(reader, one, place)
    one.stop()

    four.start(reader, users)
    trial = reader.block("/trial?cluster=production")
    said = reader.types(trial, 240)
    expect("trial?cluster=production" in said and "WRONG" not in said, f"a trial: {said}")
    new = yaml.safe_load(reader.block("store: clickhouse://pennyweight@ch-1"))["store"]
    wait_until("machine takes in", lambda: machine.count("usages") > 0, 60)
    expect(machine.count("runs") > 0, "serve divides the days that are over")
    to_the_cluster(reader, machine, mover, four)
    expect(new == reader.env["ledger"], "a ledger that begins there has the same address")
    while_a_server_is_down(reader, machine, four)
    say("a server was away")
    replaced(reader, machine, four)
    say("a server was lost and replaced")
    workers(reader, machine, four, month)
    say("workers have worked")
    swept(reader)
    backup_and_back(reader, machine, mover)
    for what in reader.finished():
        expect(False, what)
    say("the page was gone through")


if __name__ == "__main__":
    guarded(main, "guide_cluster")
