"""Jobs that spill over from one cluster of the ledger to another: who runs where when, worked out by hand, and what
each cluster's bill makes of it."""
import csv
import json
import pathlib
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report

HEADER = "JobID|JobName|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList\n"


def job(number, team, submit, start, end, node):
    seconds = (end - start) * 3600
    times = [f"2026-03-01T{hour:02}:00:00" for hour in (submit, start, end)]
    return (f"{number}|train|gpu|{team}|ana|COMPLETED|{times[0]}|{times[1]}|{times[2]}|{seconds}|1|96|"
            f"billing=96,cpu=96,gres/gpu=8,mem=96G,node=1|{node}\n")


def ledger(west_node="west-1"):
    """East has three jobs of its whole node, one after the other, and west one; numbers of jobs are those of both."""
    cwd = folder()
    (cwd / "pennyweight.yaml").write_text(
        "clusters:\n" + "".join(f"  - {{name: {name}, kind: slurm, time_zone: UTC}}\n" for name in ("east", "west")))
    (cwd / "nodes.csv").write_text(
        "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n"
        "east,east-1,i-e,p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2026-03-01T00:00:00Z,2026-03-03T00:00:00Z\n"
        f"west,{west_node},i-w,p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2026-03-01T00:00:00Z,2026-03-03T00:00:00Z\n")
    (cwd / "east.txt").write_text(HEADER + job(1, "nlp", 0, 0, 2, "east-1") + job(2, "vision", 0, 2, 4, "east-1") +
                                  job(3, "nlp", 0, 4, 6, "east-1"))
    (cwd / "west.txt").write_text(HEADER + job(1, "speech", 0, 0, 1, west_node))
    expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-02",
                "--prices-as-of", "2026-07-20", "--out", "bill.csv"], cwd)
    with open(cwd / "bill.csv", newline="") as file:
        bill = list(csv.DictReader(file))
    for row in bill:  # west costs half
        for cost in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"):
            row[cost] = str(Decimal(row[cost]) / (2 if "i-w" in row["ResourceId"] else 1))
    with open(cwd / "bill.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, bill[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(bill)
    expect_run(["import", "nodes.csv", "bill.csv"], cwd)
    expect_run(["import", "--cluster", "east", "east.txt"], cwd)
    expect_run(["import", "--cluster", "west", "west.txt"], cwd)
    return cwd


def replay(cwd, *options):
    tables = json.loads(expect_run(["replay", "--month", "2026-03", *options, "--format", "json"], cwd)[0])
    by_title = {table["title"]: table for table in tables}
    jobs = {row["figure"]: row for row in tables[1]["rows"]}
    teams = {row["team"]: row for row in tables[2]["rows"]}
    costs = next(table for title, table in by_title.items() if ", cost by team, " in title)
    for column in ("as_it_was", "what_if"):
        parts = sum(Decimal(row[column]) for row in costs["rows"])
        expect(parts == Decimal(costs["total"][column]), f"{column}: {parts}, not {costs['total']}")
    return tables[0], jobs, teams, {row["team"]: row for row in costs["rows"]} | {"": costs["total"]}


cwd = ledger()
# Half an hour after it came, the second job of east may go to west, which is free at one o'clock; the third one has
# east at two. So they wait nothing, an hour and two, where it was nothing, two and four.
calibration, jobs, teams, costs = replay(cwd, "--spill-over", "cluster@30m", "--wait-error-max", "0")
rows = {row["figure"]: row for row in calibration["rows"]}
expect(calibration["title"].startswith("2026-03 of cluster east, west"), calibration["title"])
expect(rows["GPU-hours held"]["off_by"] == "0.00 %", f"each cluster replayed as it was: {rows}")
expect(rows["wait, p95"]["as_it_was"] == rows["wait, p95"]["replayed_as_it_was"], f"{rows}")
expect(jobs["jobs"]["what_if"] == "4" and jobs["jobs elsewhere"]["what_if"] == "1", f"{jobs}")
expect(teams["vision"]["wait_p95"] == "2 h 00 min" and teams["vision"]["wait_p95_what_if"] == "1 h 00 min", f"{teams}")
expect(teams["nlp"]["wait_p95_what_if"] == "2 h 00 min", f"{teams}")
# The bill is the same. Each job pays the node that it ran on, for as long as it did before.
expect(costs[""]["as_it_was"] == costs[""]["what_if"], f"{costs['']}")
for team, hours in (("nlp", 4), ("speech", 1)):
    expect(costs[team]["as_it_was"] == costs[team]["what_if"], f"{team} ran {hours} hours where it did: {costs[team]}")
west = Decimal(costs["speech"]["what_if"]) * 2  # two hours of west's node
expect(abs(Decimal(costs["vision"]["what_if"]) - west) < Decimal("1e-15"), f"vision pays west: {costs['vision']}, {west}")
expect(Decimal(costs["vision"]["what_if"]) * 2 == Decimal(costs["vision"]["as_it_was"]), f"half of east: {costs['vision']}")
# Who may not leave before a day has gone stays; naming the clusters is as all of them.
_, jobs, _, _ = replay(cwd, "--spill-over", "cluster@24h")
expect(jobs["jobs elsewhere"]["what_if"] == "0", f"{jobs}")
expect(replay(cwd, "--spill-over", "cluster@30m", "--cluster", "west, east") ==
       replay(cwd, "--spill-over", "cluster@30m"), "named, in any order")
# Threads change nothing, and a ledger of it reconciles, with each job in the cluster that it ran in.
runs = [expect_run(["replay", "--spill-over", "cluster@30m", "--format", "json", "--threads", threads], cwd)[0]
        for threads in ("1", "3")]
expect(runs[0] == runs[1], "threads")
expect_run(["replay", "--spill-over", "cluster@30m", "--out", "spilled.duckdb"], cwd)
reconciled = json.loads(expect_run(["--store", "spilled.duckdb", "reconcile", "--month", "2026-03", "--format", "json"], cwd)[0])
expect(all(Decimal(row["difference"]) == 0 for table in reconciled for row in table["rows"]), f"{reconciled}")
out = json.loads(expect_run(["--store", "spilled.duckdb", "report", "--by", "cluster,team", "--format", "json"], cwd)[0])
found = {(row["cluster"], row["team"]) for row in out[0]["rows"]}
expect(("west", "vision") in found and ("east", "vision") not in found, f"{found}")

for options, text in [(["--spill-over", "cluster@30m", "--cluster", "north"], "no cluster 'north'"),
                      (["--spill-over", "cluster@30m", "--cluster", "east"], "'east' is one cluster"),
                      (["--spill-over", "cluster@30m", "--cluster", "east,east"], "is one cluster"),
                      (["--spill-over", "cluster@30m", "--preempt", "--scheduler", "priority"], "can't be combined"),
                      (["--spill-over", "clusters@30m"], "--spill-over 'clusters@30m'"),
                      (["--spill-over", "region@30m", "--cluster", "east"], "in one region")]:
    expect_run(["replay", *options], cwd, code=2, has=[text])
# Two nodes of one name: which of them a job ran on is not known.
twice = ledger("east-1")
expect_run(["replay", "--spill-over", "cluster@30m"], twice, code=1, has=["node east-1 is in clusters east and west"])
# The command of the guide, word by word.
typed = [line[len("$ pennyweight "):].split() for line in (pathlib.Path(ROOT) / "docs/guide/what-if.md").read_text().splitlines()
         if line.startswith("$ pennyweight ") and "cluster@" in line]
expect(len(typed) == 1, f"{typed}")
for words in typed:
    expect_run(words, cwd, has=["jobs elsewhere"])
report("what_if_clusters")
