"""Telemetry, outages, spread idle cost and a correction through the program; an allocation of what
has changed gives the bytes of a full one; a transfer that was tampered with is found."""
import subprocess

from harness import BILL, SQL_TOOL, expect, expect_run, folder, report

POLICY = """
policy:
  basis: usage
  spread:
    - {kind: unallocated, how: proportional, over: %s}
    - {kind: shared, how: proportional, measure: cost}
"""
OUTAGES = """node,begin,end,reason
gpu-02,2026-03-09T06:00:00Z,2026-03-09T18:00:00Z,drained: replace fan
"""
CORRECTIONS = """name,begin,end,from,to,amount,currency,reason,author
wrong account,2026-03-05,2026-03-06,team=nlp,team=cv,12.5,USD,ran under the wrong account,bo
"""
REPORTS = [["report", "--by", "team,user", "--cost", "all", "--format", "csv"],
           ["report", "--by", "cluster,node,kind", "--every", "day", "--format", "json"],
           ["reconcile", "--format", "json"]]
# A job that becomes known late: a few hours of one day.
LATE = "|nlp|eve|COMPLETED|2026-03-12T03:00:00|2026-03-12T07:30:00|16200|1|8|" \
       "billing=8,cpu=8,gres/gpu=2,mem=64G,node=1|gpu-02"


def prepared(over, late):
    """A ledger with everything in it, the late job too where asked for, and not yet allocated."""
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text(POLICY % over)
    (cwd / "outages.csv").write_text(OUTAGES)
    (cwd / "corrections.csv").write_text(CORRECTIONS)
    jobs = (cwd / "jobs.txt").read_text().splitlines()
    (cwd / "late.txt").write_text(jobs[0] + "\n9001|late|train" + LATE + "\n")
    (cwd / "usage.csv").write_text(
        "node,gpu,at,engine_active,memory_used_bytes,workload\n" +
        "".join(f"gpu-01,GPU-{card},2026-03-01T{hour:02}:{minute:02}:00Z,0.{card + 1},1000000000,"
                f"{'1001' if card == 0 else ''}\n"
                for card in range(8) for hour in range(24) for minute in range(60)))
    (cwd / "gpus.csv").write_text(
        "node,uuid,index,model,from\n" +
        "".join(f"gpu-01,GPU-{card},{card},A100-SXM4-40GB,2026-03-01\n" for card in range(8)))
    expect_run(BILL, cwd)
    expect_run(["import", "--cluster", "lab", "nodes.csv", "gpus.csv", "jobs.txt", "bill.csv",
                "usage.csv", "outages.csv", "corrections.csv"] + (["late.txt"] if late else []),
               cwd, 0, ["11,520 usage samples: 11,520 new", "1 outage: 1 new",
                        "1 correction: 1 new"])
    return cwd


def outputs(cwd):
    expect_run(["export", "postings", "--out", "postings.csv"], cwd)
    return [(cwd / "postings.csv").read_bytes(), *(expect_run(verb, cwd)[0] for verb in REPORTS)]


for over in ["day", "month"]:
    full = prepared(over, late=True)
    out, _ = expect_run(["allocate"], full, 0, ["moved to owners", "unavailable", "observed"])
    want = outputs(full)
    expect(b"unavailable" in want[0], "the outage is posted")

    steps = prepared(over, late=False)
    expect_run(["allocate", "--threads", "2"], steps)
    expect(outputs(steps) != want, "the late job makes a difference")
    expect_run(["import", "--cluster", "lab", "late.txt"], steps)
    expect_run(["allocate", "--changed", "2026-03-12T03:00:00Z..2026-03-12T07:30:00Z"], steps)
    expect(outputs(steps) == want, f"over {over}: what has changed gives other bytes than all")
    expect_run(["allocate"], steps, 0, ["unchanged"])

expect_run(["reconcile"], full, 0, ["each adding up to zero", "0 off"])
expect_run(["doctor"], full, 0, ["1 outage, 1 correction"])
expect_run(["allocate", "--changed", "yesterday"], full, 2, ["--changed"])
expect_run(["allocate", "--changed", "2026-03-02..2026-03-01"], full, 2, ["ends before"])

# Under other rules nothing can be kept, so all is divided again.
(full / "pennyweight.yaml").write_text(POLICY % "day")
expect_run(["allocate", "--changed", "2026-03-12..2026-03-13"], full, 0, ["allocated in full"])
expect(outputs(full)[0] != want[0], "the other policy says something else")

done = subprocess.run(
    [SQL_TOOL, "pennyweight.duckdb",
     "UPDATE postings SET list_cost = list_cost + 0.000000000000000001 WHERE rowid = (SELECT "
     "max(p.rowid) FROM postings p JOIN runs r USING (run_id) WHERE r.is_current AND "
     "p.charge_id NOT IN (SELECT charge_id FROM charges))"],
    cwd=full, capture_output=True, timeout=60)
expect(done.returncode == 0 and done.stdout == b"1\n", f"sql_tool: {done.stdout}{done.stderr}")
expect_run(["reconcile"], full, 1, ["1 of", "transfers do not add up to zero", "0 off"])
report("cli/transfers")
