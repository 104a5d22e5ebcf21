"""`work`: what is due is divided as `allocate` would, by however many programs, and nothing else is."""
import json
import signal
import subprocess
import time

from harness import BINARY, expect, expect_run, folder, import_all, report, run

SPREAD = """policy:
  name: spread
  spread:
    - {kind: shared, how: proportional}
    - {kind: unallocated, how: proportional}
"""
SUPPORT = ("BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,"
           "ChargeCategory,ChargeDescription,BilledCost,EffectiveCost,ListCost,ContractedCost,"
           "BillingCurrency,ServiceName\n"
           "a,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
           "Usage,Support,777.77,777.77,777.77,777.77,USD,Support\n")
WORK = [BINARY, "work", "--once", "--poll", "0.1"]


def postings(cwd):
    expect_run(["export", "postings", "--out", "postings.csv"], cwd)
    return (cwd / "postings.csv").read_bytes()


def logged(err, event):
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def ledger(config=""):
    cwd = folder()
    if config:
        (cwd / "pennyweight.yaml").write_text(config)
    import_all(cwd)
    (cwd / "support.csv").write_text(SUPPORT)
    expect_run(["import", "support.csv"], cwd)
    return cwd


for config in ("", SPREAD):
    # Two at once, and one whose allocate was by hand.
    by_hand, shared = ledger(config), ledger(config)
    expect_run(["allocate"], by_hand)
    workers = [subprocess.Popen(WORK, cwd=shared, stderr=subprocess.PIPE) for _ in range(2)]
    errs = [worker.communicate(timeout=240)[1].decode() for worker in workers]
    for worker, err in zip(workers, errs):
        expect(worker.returncode == 0, f"work --once: exit code {worker.returncode}\n{err}")
    want, got = postings(by_hand), postings(shared)
    expect(len(want) > 10_000, "there are postings to compare")
    expect(got == want, f"{len(want)} bytes of postings by hand, {len(got)} by workers")
    divided = [line for err in errs for line in logged(err, "divided")]
    scopes = [(line["cluster"], line["month"]) for line in divided]
    expect(sorted(set(scopes)) == sorted(scopes), f"each scope was divided once: {scopes}")
    expect(("lab", "2026-03") in scopes and ("(no cluster)", "2026-03") in scopes, f"all: {scopes}")
    # Nothing is due any more; the same facts again change nothing.
    expect_run(["import", "bill.csv"], shared)
    code, _, err = run(["work", "--once"], shared)
    expect(code == 0 and not logged(err, "claimed"), f"nothing was due\n{err}")
    # No run is a reason to divide again, theirs or one by hand: it says what it was made of.
    expect_run(["allocate"], shared, has=["unchanged"])
    code, _, err = run(["work", "--once"], shared)
    expect(code == 0 and not logged(err, "claimed"), f"nothing was due\n{err}")

# A further fact makes its cluster due, and what is spread over it; not another month.
cwd = ledger(SPREAD)
expect_run(["work", "--once"], cwd)
jobs = (cwd / "jobs.txt").read_text().splitlines()
first = jobs[1].split("|")
changed = first.copy()
changed[0] = "999999"
(cwd / "more.txt").write_text(jobs[0] + "\n" + "|".join(changed) + "\n")
expect_run(["import", "--cluster", "lab", "more.txt"], cwd, has=["1 new"])
code, _, err = run(["work", "--once", "--poll", "0.1"], cwd)
because = [(line["cluster"], line["because"]) for line in logged(err, "claimed")]
expect(("lab", "further facts") in because, f"a job came: {because}\n{err}")
fresh = ledger(SPREAD)
expect_run(["import", "--cluster", "lab", str(cwd / "more.txt")], fresh)
expect_run(["allocate"], fresh)
expect(postings(cwd) == postings(fresh), "the same postings as of one allocate of all facts")

# Other rules are a reason.
(cwd / "pennyweight.yaml").write_text("time_zone: Asia/Tokyo\n")
code, _, err = run(["work", "--once"], cwd)
expect(code == 0 and [line for line in logged(err, "claimed")
                      if line["because"] == "other rules or prices"], f"other days\n{err}")

# Killed in the midst of it: nothing of it is seen, and the next one takes it over.
cwd = ledger()
victim = subprocess.Popen([BINARY, "work", "--worker", "victim"], cwd=cwd, stderr=subprocess.PIPE)
for line in victim.stderr:
    if b'"claimed"' in line:
        break
victim.kill()
victim.communicate()
code, _, err = run(["work", "--once", "--worker", "heir"], cwd)
expect(code == 0, f"after a kill: exit code {code}\n{err}")
fresh = ledger()
expect_run(["allocate"], fresh)
expect(postings(cwd) == postings(fresh), "the same postings after a kill")

# A signal ends it within seconds, and nothing fails.
worker = subprocess.Popen([BINARY, "work", "--poll", "60"], cwd=cwd, stderr=subprocess.PIPE)
for line in worker.stderr:
    if b'"working"' in line:
        break
time.sleep(0.5)
begun = time.monotonic()
worker.send_signal(signal.SIGTERM)
_, err = worker.communicate(timeout=30)
expect(worker.returncode == 0, f"after SIGTERM: exit code {worker.returncode}\n{err.decode()}")
expect(time.monotonic() - begun < 8, "it ends within seconds")

# Closed months are never due, and wrong usage is reported.
expect_run(["close", "2026-03", "--by", "ana", "--reason", "r"], cwd)
(cwd / "pennyweight.yaml").write_text("time_zone: Asia/Tokyo\n")
code, _, err = run(["work", "--once"], cwd)
expect(code == 0 and not logged(err, "claimed"), f"a closed month is left\n{err}")
expect_run(["work", "--lease", "0"], cwd, code=2)
expect_run(["--store", "none.duckdb", "work", "--once"], cwd, code=1, has=["there is no ledger"])
report("cli/work")
