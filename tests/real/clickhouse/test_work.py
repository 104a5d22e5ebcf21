#!/usr/bin/env python3
"""Workers on ClickHouse: several at once, one killed in the midst of it, divide a ledger into the
same postings, byte for byte, as one `allocate` does in a file, and no scope twice.

usage: test_work.py one|cluster PENNYWEIGHT
"""
import json
import os
import signal
import subprocess
import sys
import time

import cluster
from harness import expect, folder, guarded, say

CONFIG = """policy:
  name: spread
  spread:
    - {kind: shared, how: proportional}
"""
CLUSTERS = 4
NODES = ("cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,from,"
         "to\n")
SACCT = ("JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|"
         "NodeList\n")
SUPPORT = ("BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,"
           "ChargeCategory,ChargeDescription,BilledCost,EffectiveCost,ListCost,ContractedCost,"
           "BillingCurrency,ServiceName\n"
           "a,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
           "Usage,Support,777.77,777.77,777.77,777.77,USD,Support\n")


class Ledger:
    """A ledger somewhere, with the files in a folder of its own."""

    def __init__(self, program, files, store):
        self.program, self.store = program, ["--store", store] if store else []
        self.place = folder("work")
        (self.place / "pennyweight.yaml").write_text(CONFIG)
        for name, text in files.items():
            (self.place / name).write_text(text)

    def run(self, *verb, code=0):
        done = subprocess.run([self.program, *self.store, *verb], cwd=self.place,
                              capture_output=True)
        expect(done.returncode == code, f"{verb}: {done.returncode} {done.stderr.decode()[-800:]}")
        return done.stdout.decode()

    def take_in(self):
        for i in range(CLUSTERS):
            self.run("import", "--cluster", f"c{i}", f"nodes{i}.csv", f"jobs{i}.txt")
            self.run("import", f"bill{i}.csv")
        self.run("import", "support.csv")

    def worker(self, name, *options):
        return Worker([self.program, *self.store, "work", "--worker", name, "--poll", "0.3",
                       *options], self.place, name)

    def postings(self):
        self.run("export", "postings", "--out", "postings.csv")
        return (self.place / "postings.csv").read_bytes()


class Worker:
    def __init__(self, argv, place, name):
        self.log = place / f"{name}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(argv, cwd=place, stderr=log)

    def logged(self, event):
        lines = self.log.read_text().splitlines()
        return [line for line in map(json.loads, (l for l in lines if l.endswith("}")))
                if line["event"] == event]

    def wait_for(self, event, seconds=120):
        end = time.monotonic() + seconds
        while not self.logged(event):
            expect(time.monotonic() < end, f"no '{event}' in {self.log.read_text()[-600:]}")
            if time.monotonic() >= end:
                return
            time.sleep(0.002)

    def end(self, seconds=300):
        code = self.process.wait(seconds)
        expect(code == 0, f"{self.log.name}: exit code {code} {self.log.read_text()[-800:]}")


def files_of(program):
    """Machines, jobs and bills of some clusters, and a line that is spread over all of them."""
    place, files = folder("work-files"), {"support.csv": SUPPORT}
    for i in range(CLUSTERS):
        nodes, jobs = NODES, SACCT
        for n in range(3):
            nodes += (f"c{i},c{i}-gpu-{n},i-{i}-{n},p4d.24xlarge,us-east-1,train,"
                      "A100-SXM4-40GB,8,96,1152,2026-01-01T00:00:00Z,\n")
            for day in range(1, 28):
                jobs += (f"{i}{n:02}{day:02}|train|train|team{(day + i) % 3}|user{day % 5}|COMPLETED|"
                         f"2026-03-{day:02}T0{n + 1}:00:00|"
                         f"2026-03-{day:02}T1{n}:30:00|{9 * 3600 + 1800}|1|"
                         f"16|billing=16,cpu=16,gres/gpu=4,mem=64G,node=1|c{i}-gpu-{n}\n")
        files[f"nodes{i}.csv"], files[f"jobs{i}.txt"] = nodes, jobs
        (place / "nodes.csv").write_text(nodes)
        subprocess.run([program, "generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01",
                        "--to", "2026-03-31", "--prices-as-of", "2026-07-20", "--seed", str(i + 1),
                        "--out", "bill.csv"], cwd=place, check=True, capture_output=True)
        files[f"bill{i}.csv"] = (place / "bill.csv").read_text()
    return files


def same(one, other, what):
    want, got = one.postings(), other.postings()
    expect(want == got, f"{what}: {len(want)} bytes of postings in a file, {len(got)} on ClickHouse")
    expect(len(want) > 100_000, "there are postings to compare")


def main():
    kind, program = sys.argv[1], os.path.abspath(sys.argv[2])
    servers = (cluster.OneServer() if kind == "one" else cluster.Cluster()).start()
    files = files_of(program)
    file = Ledger(program, files, "")
    here = Ledger(program, files, servers.address("work", "lease_ms=3000"))
    file.take_in()
    file.run("allocate")
    here.take_in()
    say("the facts are in both")

    # A worker killed while it allocates has written rows that nobody sees, and has a claim.
    victim = here.worker("victim", "--lease", "3")
    victim.wait_for("claimed")
    os.kill(victim.process.pid, signal.SIGKILL)
    victim.process.wait()
    taken = victim.logged("claimed")
    say(f"killed {len(taken)} claims and {len(victim.logged('divided'))} items into it")

    workers = [here.worker(f"w{i}", "--once", "--lease", "3") for i in range(3)]
    for worker in workers:
        worker.end()
    divided = [line for worker in [victim, *workers] for line in worker.logged("divided")]
    scopes = [(line["cluster"], line["month"], line["run"]) for line in divided]
    say(f"divided: {len(scopes)} by " + ", ".join(
        str(len(worker.logged("divided"))) for worker in workers))
    expect(len(scopes) == len(set(scopes)), f"no run number is used twice: {sorted(scopes)}")
    all_scopes = {f"c{i}" for i in range(CLUSTERS)} | {"(no cluster)"}
    expect({scope[0] for scope in scopes} == all_scopes, f"every scope: {scopes}")
    claims = [line["claim"] for worker in [victim, *workers] for line in worker.logged("claimed")]
    expect(len(claims) == len(set(claims)), f"no claim is had by two: {sorted(claims)}")
    same(file, here, "after a kill")

    # What comes while they work is divided as well, in the end.
    workers = [here.worker(f"v{i}", "--lease", "3") for i in range(2)]
    for i in range(CLUSTERS):
        first, *_ = files[f"jobs{i}.txt"].splitlines()[1:]
        job = first.split("|")
        job[0], job[6], job[7] = f"77{i}", "2026-03-29T01:00:00", "2026-03-29T09:30:00"
        for ledger in (file, here):
            (ledger.place / "more.txt").write_text(SACCT + "|".join(job) + "\n")
            ledger.run("import", "--cluster", f"c{i}", "more.txt")
    file.run("allocate")
    here.worker("last", "--once", "--lease", "3").end()
    for worker in workers:
        worker.process.send_signal(signal.SIGTERM)
    for worker in workers:
        worker.end(40)
    same(file, here, "after further facts")
    expect(json.loads(here.run("reconcile", "--format", "json")), "it reconciles")
    last = here.worker("nothing", "--once")
    last.end()
    expect(not last.logged("claimed"), f"nothing is due any more: {last.logged('claimed')}")


if __name__ == "__main__":
    guarded(main, f"real/clickhouse_work_{sys.argv[1]}")
