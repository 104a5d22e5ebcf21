"""Two stories of docs/guide/what-if.md, on three days of the Philly trace: 20 nodes fewer, and spot
capacity for training. What is replayed adds up, comes out alike twice, and leaves the ledger alone.
"""
import json
import pathlib
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report

data = pathlib.Path(ROOT) / "data/demo"
cwd = folder()
(cwd / "pennyweight.yaml").write_text("clusters:\n  - {name: philly, kind: slurm, time_zone: UTC}\n")
# The jobs that began on the first two days; the bill is of three.
lines = (data / "philly-sacct.txt").read_text().splitlines(keepends=True)
start = lines[0].rstrip("\n").split("|").index("Start")
(cwd / "jobs.txt").write_text("".join(
    lines[:1] + [line for line in lines[1:] if line.split("|")[start] < "2017-10-03"]))
expect_run(["generate", "bill", "--nodes", data / "philly-nodes.csv", "--from", "2017-10-01", "--to",
            "2017-10-04", "--prices-as-of", "2025-06-01", "--out", "philly-bill.csv"], cwd)
expect_run(["import", "--cluster", "philly", data / "philly-nodes.csv", "jobs.txt",
            "philly-bill.csv"], cwd)
REPLAY = ["replay", "--month", "2017-10", "--cluster", "philly"]


def replay(*options):
    """What was printed, and the rows of calibration, jobs, teams and costs by their first cell."""
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], cwd)
    tables = json.loads(out)
    rows = [{next(iter(row.values())): row for row in table["rows"]} for table in tables]
    return out, rows[:3], tables[3:]


def hours(rows, figure, column="what_if"):
    return Decimal(rows["GPU-hours " + figure][column].replace(",", ""))


def capacity(jobs, column="what_if"):
    return sum(hours(jobs, figure, column) for figure in ("held", "idle", "unavailable"))


ledger = cwd / "pennyweight.duckdb"
before = ledger.read_bytes()

# Twenty nodes fewer: the bill shrinks, capacity shrinks, and nobody waits less.
out, (calibration, jobs, teams), costs = replay("--nodes=-20")
expect(calibration["GPU-hours held"]["off_by"] == "0.00 %", f"calibration: {calibration}")
expect(capacity(jobs) < capacity(jobs, "as_it_was"), "20 nodes fewer are less capacity")
total = costs[0]["total"]
expect(Decimal(total["what_if"]) < Decimal(total["as_it_was"]), f"20 nodes fewer cost less: {total}")
for table in costs:
    for column in ("as_it_was", "what_if"):
        parts = sum(Decimal(row[column]) for row in table["rows"])
        expect(parts == Decimal(table["total"][column]), f"{column}: {parts}, not {table['total']}")
held = sum(Decimal(row["held"].replace(",", "")) for row in teams.values())
expect(abs(held - hours(jobs, "held", "replayed_as_it_was")) < 1, f"teams hold {held}")

# Spot for training: work is done again, nodes are away, and everything adds up to the same capacity.
spot = ["--spot", "2%", "--price", "35%", "--checkpoint", "30"]
out, (_, jobs, _), _ = replay(*spot)
expect(int(jobs["interruptions"]["what_if"]) > 0, f"spot interrupts: {jobs['interruptions']}")
expect(hours(jobs, "of that done again") > 0 and hours(jobs, "unavailable") > 0, f"{jobs}")
expect(abs(capacity(jobs) - capacity(jobs, "as_it_was")) < 1, f"capacity x time: {jobs}")
expect(replay(*spot)[0] == out, "the same seed gives the same result")
expect(replay(*spot, "--seed", "2")[0] != out, "another seed gives another result")
rare = replay("--spot", "0.01%", "--price", "35%", "--checkpoint", "30")[1][1]
expect(hours(rare, "of that done again") < hours(jobs, "of that done again"), f"rarer: {rare}")

# What changes nothing is an error, and says so.
for options, code, text in [
        (["--demand", "nobody=150%"], 2, "changes nothing"),
        (["--weight", "nobody=2"], 2, "changes nothing"),
        (["--price", "H100-SXM5-80GB=50%"], 2, "changes nothing"),
        (["--spot", "H100-SXM5-80GB=1%"], 2, "no node with H100"),
        (["--spot", "101%"], 2, "--spot '101%'"),
        (["--spot", "0%"], 2, "--spot '0%'"),
        (["--spot", "1.00001%"], 2, "--spot '1.00001%'"),
        (["--spot", "1%", "--preempt", "--scheduler", "srtf"], 2, "can't be combined"),
        (["--checkpoint", "5"], 2, "--spot"),
        (["--restart", "60"], 2, "--preempt or --spot"),
        (["--nodes=-100000"], 2, "can't be removed")]:
    expect_run([*REPLAY, *options], cwd, code=code, has=[text])
csv_text, _ = expect_run([*REPLAY, "--format", "csv"], cwd)
expect(len(csv_text.strip().split("\n\n")) == 4, f"four tables as CSV:\n{csv_text}")
expect(ledger.read_bytes() == before, "a replay writes nothing")
report("what_if")
