"""The same card at the same price, shared in every way: pennyweight says one price, the peers do not.

Runs data/demo/four_ways through the program and checks the figures of docs/methods/peers.md.
"""
import collections
import csv
import io
import json
import os
import pathlib
import subprocess
from decimal import Decimal

from harness import BINARY, ROOT, expect, expect_run, folder, report

CARD = Decimal(96)  # a day at 4.00 an hour
TEAMS = {"vision": Decimal(48), "speech": Decimal(24), "ads": Decimal(24)}
METHODS = ["current", "opencost", "koku", "aws_scad"]
data = pathlib.Path(ROOT) / "data/demo/four_ways"

cwd = folder()
expect_run(["import", "--cluster", "four-ways", data / "nodes.csv", data / "gpus.csv"], cwd)
expect_run(["import", "--cluster", "four-ways", data / "holdings.csv", data / "bill.csv"], cwd,
           has=["7 new"])
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, has=["every bill line is posted to its last digit"])
before = (cwd / "pennyweight.duckdb").read_bytes()

out, _ = expect_run(["compare", "--b", "opencost,koku,aws_scad", "--by", "node,team", "--format",
                     "csv"], cwd)
sums = collections.defaultdict(Decimal)     # (node, method): of all rows
charged = collections.defaultdict(Decimal)  # (node, method): of the teams
paid = {}                                   # (node, team, method)
for row in csv.DictReader(io.StringIO(out)):
    for method in METHODS:
        cost = Decimal(row[f"{method}_cost"])
        sums[row["node"], method] += cost
        if row["team"] in TEAMS:
            charged[row["node"], method] += cost
            paid[row["node"], row["team"], method] = cost
nodes = sorted({node for node, _ in sums})
expect(len(nodes) == 7, f"seven machines, not {nodes}")

for node in nodes:
    expect(sums[node, "current"] == CARD, f"{node}: {sums[node, 'current']}, not the bill")
    if node == "2-mig-seven":
        continue  # 1/8 of its memory is stranded, and that is nobody's
    for team, share in TEAMS.items():
        got = paid[node, team, "current"]
        expect(abs(got - share) < Decimal("1e-15"), f"{node}, {team}: {got}, not {share}")
expect(charged["2-mig-seven", "current"] < CARD, "what seven 1g.5gb leave is not charged to a team")
for team, part in {"vision": 2, "speech": 4, "ads": 4}.items():
    got = paid["2-mig-seven", team, "current"] * part
    expect(abs(got - charged["2-mig-seven", "current"]) < Decimal("1e-15"),
           f"the teams' parts are what they are on every card: {team} {got}")

expect("(negative idle)" in out, "what OpenCost charges too much is shown")
expect(charged["1-whole", "opencost"] == CARD, "OpenCost charges a whole card right")
for node in nodes[1:]:
    expect(charged[node, "opencost"] != CARD, f"OpenCost charges {node} by its price, unexpectedly")
# 0.95 of 1.689144 of the node is the card's (docs/methods/peers.md).
card = CARD * Decimal("0.95") / Decimal("1.689144")
for node, times in {"2-mig-seven": 0, "3-mig-mixed": 0, "4-renamed-4": 0, "5-renamed-10": 0,
                    "6-replicas-4": 4, "7-replicas-10": 10}.items():
    want = CARD - card + card * times
    got = charged[node, "opencost"]
    expect(abs(got - want) < Decimal("1e-9"), f"OpenCost on {node}: {got}, not {want}")
for node, times in {"1-whole": 1, "2-mig-seven": 1, "3-mig-mixed": 1, "4-renamed-4": 4,
                    "5-renamed-10": 10, "6-replicas-4": 4, "7-replicas-10": 10}.items():
    got = sums[node, "koku"]
    expect(abs(got - CARD * times) < Decimal("1e-9"), f"Koku on {node}: {got}, not {times} cards")
for node in nodes:
    expect(sums[node, "aws_scad"] == CARD, f"AWS on {node}: {sums[node, 'aws_scad']}")

# One preset: reasons, and who gains; as JSON, of which the text is made.
out, _ = expect_run(["compare", "--a", "current", "--b", "opencost", "--by", "team", "--format",
                     "json"], cwd)
table = json.loads(out)[0]
for row in [*table["rows"], table["total"]]:
    reasons = sum(Decimal(value) for key, value in row.items() if key.startswith("because_"))
    expect(reasons == Decimal(row["difference"]), f"reasons add up to the difference: {row}")
    expect(Decimal(row["opencost_cost"]) - Decimal(row["current_cost"]) == reasons, f"B - A: {row}")
vision = next(row for row in table["rows"] if row["team"] == "vision")
expect(Decimal(vision["because_mig_at_0"]) < 0 < Decimal(vision["because_replicas_as_whole_gpus"]),
       f"MIG takes off, replicas add: {vision}")
expect(vision["who"] == "loses", f"vision pays more: {vision}")

# Another policy, rule by rule.
(cwd / "strict.yaml").write_text("version: 1\nnode_split: whole_node\n")
expect_run(["compare", "--b", "strict.yaml"], cwd, has=["node split", "adds up to 672.00 USD"])

# What must be refused.
expect_run(["compare"], cwd, code=2, has=["--b"])
expect_run(["compare", "--b", "opencost", "--by", "colour"], cwd, code=2, has=["not a dimension"])
expect_run(["compare", "--b", "open-cost"], cwd, code=2, has=["presets"])
expect_run(["compare", "--b", "opencost", "--month", "2026-04"], cwd, code=1, has=["2026-03"])
(cwd / "bad.yaml").write_text("version: 1\nweights: {compute: many}\n")
expect_run(["compare", "--b", "bad.yaml"], cwd, code=2, has=["bad.yaml:2"])

expect((cwd / "pennyweight.duckdb").read_bytes() == before, "comparing writes nothing")

# The demonstration itself.
done = subprocess.run([pathlib.Path(ROOT) / "script/four_ways"], capture_output=True, timeout=300,
                      env={**os.environ, "PENNYWEIGHT": BINARY, "FOLDER": str(cwd / "demo")})
expect(done.returncode == 0 and b"3-mig-mixed" in done.stdout,
       f"script/four_ways: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
report("cli/four_ways")
