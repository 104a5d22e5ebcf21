"""Jobs of a trace, replayed on a fleet with prices and without a ledger: our own columns, those of Philly's and
Helios' published traces, and sacct. What can't be replayed is named and counted, and no file is left. And how much
jobs used their GPUs, where a ledger's telemetry saw it.
"""
import json
import os
import pathlib
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report, run

data = pathlib.Path(ROOT) / "data/demo"
cwd = folder()
(cwd / "pennyweight.yaml").write_text("clusters:\n  - {name: lab, kind: slurm, time_zone: UTC}\n")
(cwd / "nodes.csv").write_text(
    "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n" +
    "".join(f"lab,n{i},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z\n"
            for i in range(2)))
(cwd / "prices.csv").write_text("gpu_model,unit,price,currency\nA100-SXM4-40GB,GPU-Hours,2,USD\n")
FLEET = ["replay", "--cluster", "lab", "--fleet", "nodes.csv", "--rate-card", "prices.csv"]
scratch = cwd / "scratch"
scratch.mkdir()
os.environ["TMPDIR"] = str(scratch)


def replay(trace, *options, code=0, has=()):
    (cwd / "trace.csv").write_text(trace)
    out, err = expect_run([*FLEET, "--jobs", "trace.csv", *options, "--format", "json"], cwd, code=code, has=has)
    tables = json.loads(out) if code == 0 else []
    return {row["figure"]: row for row in tables[1]["rows"]} if tables else {}, tables, err


# Three jobs of 16 GPUs for an hour, on 16 GPUs, all at once: they wait 0, 1 and 2 hours. 16 GPUs at 2 USD an hour
# for 31 days are 23,808 USD, whoever holds them.
TRACE = ("job,submit,gpus,duration_s,team\n"
         "a,2026-03-02T00:00:00Z,16,3600,nlp\nb,2026-03-02T00:00:00Z,16,3600,nlp\nc,2026-03-02T00:00:00Z,16,3600,vision\n")
jobs, tables, _ = replay(TRACE)
expect(jobs["mean wait"]["what_if"] == "1 h 00 min" and jobs["wait, p99"]["what_if"] == "2 h 00 min", f"{jobs['mean wait']}")
expect(jobs["GPU-hours held"]["what_if"] == "48.00", f"{jobs['GPU-hours held']}")
expect("don't say both when" in str(tables[0]["notes"]), f"{tables[0]['notes']}")
costs = next(table for table in tables if "cost by team" in table["title"])
expect(Decimal(costs["total"]["what_if"]) == 23808, f"{costs['total']}")
teams = {row["team"]: Decimal(row["what_if"]) for row in costs["rows"]}
expect(round(teams["nlp"], 6) == 64 and round(teams["vision"], 6) == 32, f"{teams}")
one_more, _, _ = replay(TRACE, "--nodes=+4")
expect(one_more["wait, p99"]["what_if"] == "0 s", f"on three times the nodes nobody waits: {one_more['wait, p99']}")

# What a month leaves out of a trace is told: one job of April, and what of another one reaches into it.
replay(TRACE + "d,2026-04-02T00:00:00Z,1,3600,nlp\ne,2026-03-31T20:00:00Z,1,36000,nlp\n", "--month", "2026-03",
       has=["1 of the 5 jobs ran outside of 2026-03", "of 1 more job only the part within"])

# It says when jobs started: then there are waits to come near to.
started, tables, _ = replay("job,submit,start,gpus,duration_s\na,2026-03-02,2026-03-02T00:00:00Z,16,3600\n"
                            "b,2026-03-02,2026-03-02T01:00:00Z,16,3600\n")
expect(tables[0]["rows"][3]["as_it_was"] == tables[0]["rows"][3]["replayed_as_it_was"] == "1 h 00 min", f"{tables[0]}")
expect("don't say both when" not in str(tables[0]["notes"]), f"{tables[0]['notes']}")

# The columns of Philly's and of Helios' traces; "None" is a job that never started.
philly, _, _ = replay("timestamp,duration,num_gpus,gpu_time,cluster\n2026-03-09 07:01:55,66.0,1,66.0,11cb48\n"
                      "2026-03-09 06:13:03,2951.0,1,2951.0,6214e9\n")
expect(philly["jobs"]["what_if"] == "2", f"{philly['jobs']}")
helios, tables, _ = replay(
    "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "1,u1,vcA,x,8,64,1,COMPLETED,2026-03-05 00:00:12,2026-03-05 00:10:12,2026-03-05 01:10:12,3600,600\n"
    "2,u2,vcB,y,8,64,1,CANCELLED,2026-03-05 00:00:12,None,2026-03-05 00:10:12,0,600\n"
    "3,u2,vcB,y,4,,1,COMPLETED,2026-03-05 00:00:12,2026-03-05 00:00:12,2026-03-05 00:10:12,600,0\n",
    has=["duration: is 0", "1 row set aside"])
expect(helios["jobs"]["what_if"] == "2", f"{helios['jobs']}")

# What import knows of jobs is replayed as well: sacct of Philly, on a fleet of its own.
(cwd / "sacct.txt").write_text("JobIDRaw|Account|User|State|Submit|Start|End|AllocTRES\n"
                               "1|nlp|ann|COMPLETED|2026-03-02T00:00:00|2026-03-02T00:00:00|2026-03-02T02:00:00|billing=8,gres/gpu=8,node=1\n")
out, _ = expect_run([*FLEET, "--jobs", "sacct.txt", "--jobs", "trace.csv", "--out", "replayed.duckdb", "--format", "json"], cwd)
expect({row["figure"]: row for row in json.loads(out)[1]["rows"]}["jobs"]["what_if"] == "3", "jobs of both files")
reconciled, _ = expect_run(["--store", "replayed.duckdb", "reconcile", "--month", "2026-03", "--format", "json"], cwd)
expect(all(Decimal(row["difference"]) == 0 for row in json.loads(reconciled)[0]["rows"]), reconciled)

# What is too large never starts, and is counted; what is wrong is set aside, with its line and why.
large, _, _ = replay(TRACE + "d,2026-03-02T00:00:00Z,17,60,nlp\n")
expect(large["never start"]["what_if"] == "1", f"{large['never start']}")
HEADER = "job,submit,gpus,duration_s\n"
GOOD = "a,2026-03-02T00:00:00Z,1,60\n"
WRONG = [("b,2026-03-02T00:00:00Z,1,0", "a job that runs no time"),
         ("b,2026-03-02T00:00:00Z,1,-5", "not a whole number of seconds"),
         ("b,2026-03-02T00:00:00Z,1,1.5", "not a whole number of seconds"),
         ("b,2026-03-02T00:00:00Z,1,99999999999999999999", "not a whole number of seconds"),
         ("b,2026-03-02T00:00:00Z,4294967297,60", "gpus"),
         ("b,yesterday,1,60", "submit"), ("b,2199-12-31T23:59:59Z,1,60", "after the year 2199"),
         (",2026-03-02T00:00:00Z,1,60", "job"), ("a,2026-03-02T00:00:00Z,1,60", "is there already"),
         ("b,2026-03-02T00:00:00Z", "has 2 fields")]
for some in (WRONG[:5], WRONG[5:]):  # so many of a file are shown
    got, _, said = replay(HEADER + GOOD + "".join(row + "\n" for row, _ in some), has=["5 rows set aside in all"])
    expect(got["jobs"]["what_if"] == "1", f"{got['jobs']}")
    for number, (row, text) in enumerate(some, start=3):
        line = next((line for line in said.splitlines() if f"trace.csv:{number}:" in line), "")
        expect(text in line, f"{row}: {line!r}")
replay(HEADER + "b,2026-03-02T00:00:00Z,1,0\n", code=2, has=["none of the jobs can be replayed"])
replay(HEADER, code=1, has=["a header and no rows"])
replay("job,gpus,duration_s\na,1,60\n", code=1, has=["'submit' or 'submit_time' or 'timestamp'"])
replay("job,submit,gpus,gpu_num,duration_s\n", code=1, has=["'gpus' and 'gpu_num' say the same"])
replay("job,submit,gpus,duration_s,colour\n", code=1, has=["colour"])
for options, text in [(["replay", "--jobs", "trace.csv", "--cluster", "lab"], "a trace takes its jobs"),
                      (["replay", "--fleet", "nodes.csv", "--cluster", "lab"], "a trace takes its jobs"),
                      ([*FLEET, "--jobs", "trace.csv", "--bill", "b.csv"], "a trace takes its jobs"),
                      ([*FLEET[:1], *FLEET[3:], "--jobs", "trace.csv"], "name the cluster")]:
    expect_run(options, cwd, code=2, has=[text])
code, _, said = run([*FLEET, "--jobs", "none.csv"], cwd)
expect(code != 0 and "none.csv" in said, said)
expect(not (cwd / "pennyweight.duckdb").exists(), "no ledger is made")
left = list(scratch.iterdir())
expect(not left, f"nothing is left of it: {left}")

# What telemetry saw of a job goes with it. One of two GPUs is held for two hours and computes half of that, the other
# for six hours that nobody saw: half of what was seen, which is a quarter of what was held.
seen = folder()
(seen / "pennyweight.yaml").write_text((cwd / "pennyweight.yaml").read_text())
(seen / "prices.csv").write_text((cwd / "prices.csv").read_text())
(seen / "nodes.csv").write_text((cwd / "nodes.csv").read_text().splitlines(keepends=True)[0] +
                                "lab,n1,i-1,p4d.24xlarge,us-east-1,A100-SXM4-40GB,2,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z\n")
(seen / "gpus.csv").write_text("cluster,node,uuid,index,model,memory_mib,from\n" + "".join(
    f"lab,n1,GPU-{i},{i},NVIDIA A100-SXM4-40GB,40960,2026-03-01\n" for i in range(2)))
(seen / "holdings.csv").write_text("cluster,workload,begin,end,gpu,team\n"
                                   "lab,a,2026-03-02T00:00:00Z,2026-03-02T02:00:00Z,GPU-0,nlp\n"
                                   "lab,b,2026-03-02T00:00:00Z,2026-03-02T06:00:00Z,GPU-1,vision\n")
(seen / "usage.csv").write_text("cluster,node,gpu,at,engine_active\n" + "".join(
    f"lab,n1,GPU-0,2026-03-02T{minute // 60:02}:{minute % 60:02}:00Z,{0.75 if minute < 60 else 0.25}\n" for minute in range(120)))
expect_run(["import", "--cluster", "lab", "nodes.csv", "gpus.csv", "holdings.csv", "usage.csv"], seen)
expect_run(["price", "--month", "2026-03", "--rate-card", "prices.csv"], seen)


def use(*options):
    out, _ = expect_run(["replay", "--month", "2026-03", "--cluster", "lab", *options, "--format", "json"], seen)
    rows = {row["figure"]: row for row in json.loads(out)[1]["rows"]}
    return [(rows[figure]["as_it_was"], rows[figure]["what_if"]) if figure in rows else None
            for figure in ("GPU use while held, measured", "GPU-hours of that measured")]


expect(use() == [("-", "-"), None], f"before the month is allocated nothing is known: {use()}")
expect_run(["allocate", "--month", "2026-03"], seen)
expect(use() == [("50.00 %", "50.00 %"), ("25.00 %", "25.00 %")], f"{use()}")
doubled = use("--demand", "vision=200%")
expect(doubled == [("50.00 %", "50.00 %"), ("25.00 %", "14.28 %")], f"2 of 14 hours: {doubled}")
sliced = use("--slice", "nlp=1g.5gb")
expect(sliced == [("50.00 %", "-"), ("25.00 %", "0.00 %")], f"of a slice nothing is known: {sliced}")
report("replayed_traces")
