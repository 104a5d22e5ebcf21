"""The stories of docs/guide/what-if.md, on three days of the Philly trace: 20 nodes fewer, spot capacity
for training, and MIG for notebooks. What is replayed adds up, comes out alike twice, and leaves the ledger alone.
"""
import csv
import datetime
import json
import pathlib
import shlex
import subprocess
import xml.etree.ElementTree
from decimal import Decimal

from harness import BINARY, ROOT, expect, expect_run, folder, report

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
    """What was printed, the rows of calibration, jobs and teams by their first cell, and the tables of costs."""
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], cwd)
    tables = json.loads(out)
    rows = [{next(iter(row.values())): row for row in table["rows"]} for table in tables]
    exact = {row["figure"]: row for row in tables[3]["rows"] if row["team"] == "(all)"}
    for column in ("as_it_was", "replayed_as_it_was", "what_if"):
        sizes = [Decimal(exact[figure][column]) for figure in ("held", "idle", "unavailable", "off", "starting")]
        expect(sum(sizes) == Decimal(exact["capacity"][column]), f"{column} adds up to the capacity: {sizes}")
    teams = sum(Decimal(row["what_if"]) for row in tables[3]["rows"] if row["team"] != "(all)" and row["figure"] == "held")
    expect(teams == Decimal(exact["held"]["what_if"]), f"teams hold {teams} of {exact['held']}")
    return out, rows[:3], tables[4:]


def hours(rows, figure, column="what_if"):
    return Decimal(rows["GPU-hours " + figure][column].replace(",", ""))


def count(text):
    return int(text.replace(",", ""))


def capacity(jobs, column="what_if"):
    return sum(hours(jobs, figure, column) for figure in ("held", "idle", "unavailable"))


ledger = cwd / "pennyweight.duckdb"
before = ledger.read_bytes()

# Twenty nodes fewer: the bill shrinks, capacity shrinks, and nobody waits less.
fewer_out, (calibration, fewer_jobs, teams), costs = replay("--nodes=-20")
jobs = fewer_jobs
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

# The replayed month as a ledger of its own reconciles like a real one, and costs what the replay says.
# What lies beside it is somebody else's and stays; it is said that and where it was written.
theirs = {cwd / ("fewer.duckdb.unfinished" + end): end.encode() for end in ("", ".wal", "-abcdef")}
for path, content in theirs.items():
    path.write_bytes(content)
_, said = expect_run([*REPLAY, "--nodes=-20", "--out", "fewer.duckdb"], cwd)
expect("wrote fewer.duckdb, a ledger of 2017-10 on philly" in said, said)
for path, content in theirs.items():
    expect(path.exists() and path.read_bytes() == content, f"{path} is as it was")
beside = sorted(set(cwd.glob("fewer.duckdb*")) - set(theirs))
expect(beside == [cwd / "fewer.duckdb"], f"nothing of the replay's own is left: {beside}")
reconciled, _ = expect_run(["--store", "fewer.duckdb", "reconcile", "--month", "2017-10", "--format", "json"], cwd)
reconciled = json.loads(reconciled)[0]
expect(all(Decimal(row["difference"]) == 0 for row in reconciled["rows"]), f"to the last digit: {reconciled}")
effective = next(row for row in reconciled["rows"] if row["cost"] == "effective")
# Its bill lines say what those of the real bill say.
TEXTS = ["ChargeDescription", "SkuId", "SkuPriceId", "ResourceType", "BillingAccountName", "PricingQuantity", "ListUnitPrice"]


def bill_lines(name, *store):
    expect_run([*store, "export", "focus", "--rows", "charges", "--month", "2017-10", "--out", name], cwd)
    with open(cwd / name, newline="") as file:
        return {(row["ResourceId"], row["ChargePeriodStart"], row["SkuId"]): [row[text] for text in TEXTS]
                for row in csv.DictReader(file)}


real = bill_lines("real.csv")
left = bill_lines("fewer.csv", "--store", "fewer.duckdb")
expect(0 < len(left) < len(real) and all(real[key] == texts for key, texts in left.items()), "lines are told as in the bill")
expect(any(texts[0] and texts[6] for texts in left.values()), f"and there are texts: {next(iter(left.values()))}")
expect(Decimal(effective["posted"]) == Decimal(total["what_if"]), f"{effective}, replayed {total}")
expect_run(["--store", "fewer.duckdb", "report", "--by", "team"], cwd, has=["total"])
expect_run([*REPLAY, "--nodes=-20", "--out", "fewer.duckdb"], cwd, code=2, has=["it is there already"])
# A file that appears during the replay is not written over: two at once, one of which comes first.
both = [subprocess.Popen([BINARY, *REPLAY, "--nodes=-20", "--out", "twice.duckdb"], cwd=cwd, text=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
ends = sorted((each.communicate()[1], each.returncode) for each in both)
expect(sorted(code for _, code in ends) == [0, 2], f"one of two writes: {ends}")
expect(any("twice.duckdb: it is there already" in said for said, _ in ends), f"{ends}")
expect_run(["--store", "twice.duckdb", "reconcile", "--month", "2017-10"], cwd)
# Where no ledger can be written is said before the replay.
(cwd / "left.duckdb.wal").write_text("of an earlier ledger")
for path, text in [("no-folder/x.duckdb", "No such file or directory"),
                   ("jobs.txt/x.duckdb", "Not a directory"),
                   ("left.duckdb", "left.duckdb.wal: it is there already")]:
    expect_run(["replay", "--month", "1999-01", "--out", path], cwd, code=2, has=[text])

# Lines of a closed month that are booked in this one: a new ledger would book them elsewhere, so none is written.
late = folder()
(late / "pennyweight.yaml").write_text((cwd / "pennyweight.yaml").read_text())
header = "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n"
rows = [f"philly,a100-{i},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2017-09-29T00:00:00Z,2017-10-05T00:00:00Z\n"
        for i in range(3)]
(late / "all.csv").write_text(header + "".join(rows))
(late / "two.csv").write_text(header + "".join(rows[:2]))
(late / "third.csv").write_text(header + rows[2])
(late / "jobs.txt").write_text("".join((cwd / "jobs.txt").read_text().splitlines(keepends=True)[:3]))
for nodes, begin, end, out in [("two.csv", "2017-09-29", "2017-10-01", "september.csv"),
                               ("third.csv", "2017-09-29", "2017-10-01", "late.csv"),
                               ("all.csv", "2017-10-01", "2017-10-04", "october.csv")]:
    expect_run(["generate", "bill", "--nodes", nodes, "--from", begin, "--to", end, "--prices-as-of", "2025-06-01",
                "--out", out], late)
expect_run(["import", "--cluster", "philly", "all.csv", "jobs.txt", "september.csv"], late)
expect_run(["allocate", "--month", "2017-09"], late)
expect_run(["close", "2017-09", "--by", "ada"], late)
expect_run(["import", "--cluster", "philly", "october.csv"], late)
expect_run([*REPLAY, "--nodes=-1", "--out", "before.duckdb"], late)
expect_run(["import", "--cluster", "philly", "--delivery", "guarded", "late.csv"], late,
           code=1, has=["set aside"])  # its sums of the account; the third node's own lines come in
expect_run([*REPLAY, "--nodes=-1", "--out", "after.duckdb"], late, code=2,
           has=["of another billing month, such as 2017-09", "replay without --out"])
expect(not (late / "after.duckdb").exists(), "no ledger that is short of a month's late lines")

# By tier it is the same money, before and after, to the last digit.
def tiers_of(costs):
    tier = costs[-1]
    expect(tier["title"].endswith("cost by tier, USD"), tier["title"])
    for column in ("as_it_was", "what_if"):
        expect(tier["total"][column] == costs[0]["total"][column], f"{column}: {tier['total']}, {costs[0]['total']}")
    return {row["tier"]: (Decimal(row["as_it_was"]), Decimal(row["what_if"])) for row in tier["rows"]}


tiers = tiers_of(costs)
expect(tiers["on demand"][1] < tiers["on demand"][0], f"{tiers}")

# Another policy of division: the same money, divided otherwise; its ledger says the same and reconciles.
(cwd / "even.yaml").write_text("""version: 1
name: everybody alike
spread:
  - {kind: unallocated, how: even, dimension: team, over: month}
dimensions:
  team: {from: [team, account, namespace], fallback: (unowned)}
""")
_, _, divided = replay("--policy", "even.yaml", "--out", "even.duckdb")
expect(divided[0]["total"]["what_if"] == divided[0]["total"]["as_it_was"], f"money moves, and none is made: {divided[0]['total']}")
by_team = {row["team"]: row for row in divided[0]["rows"]}
expect(Decimal(by_team["(unallocated)"]["as_it_was"]) > 0 == Decimal(by_team["(unallocated)"]["what_if"]), f"{by_team['(unallocated)']}")
expect(any("divided by the policy everybody alike" in note for note in divided[0]["notes"]), f"{divided[0]['notes']}")
theirs_now, _ = expect_run(["--store", "even.duckdb", "report", "--by", "team", "--format", "json"], cwd)
theirs_now = {row["team"]: row["effective_cost"] for row in json.loads(theirs_now)[0]["rows"]}
expect(all(theirs_now[team] == row["what_if"] for team, row in by_team.items() if team != "(unallocated)"), f"{theirs_now}")
expect_run(["--store", "even.duckdb", "reconcile", "--month", "2017-10"], cwd)
(cwd / "even.duckdb").unlink()
(cwd / "same.yaml").write_text("version: 1\nname: another name\n")
(cwd / "teamless.yaml").write_text("version: 1\ndimensions:\n  user: {from: [user]}\n")
(cwd / "wrong.yaml").write_text("version: 1\nbasis: luck\n")
for policy, code, text in [("same.yaml", 2, "so it changes nothing"), ("teamless.yaml", 2, "no dimension 'team'"),
                           ("wrong.yaml", 2, "wrong.yaml:2"), ("none.yaml", 1, "none.yaml")]:
    expect_run([*REPLAY, "--policy", policy], cwd, code=code, has=[text])

# Spot for training: work is done again, nodes are away, and everything adds up to the same capacity.
spot = ["--spot", "2%", "--price", "35%", "--checkpoint", "30"]
out, (_, jobs, _), costs = replay(*spot)
tiers = tiers_of(costs)
expect(tiers["spot"][1] > 0 and tiers["on demand"][1] * 10 < tiers["on demand"][0] and jobs["GPU use while held, measured"]["what_if"] == "-", f"{tiers}")
expect(count(jobs["interruptions"]["what_if"]) > 0, f"spot interrupts: {jobs['interruptions']}")
expect(hours(jobs, "of that done again") > 0 and hours(jobs, "unavailable") > 0, f"{jobs}")
expect(abs(capacity(jobs) - capacity(jobs, "as_it_was")) < 1, f"capacity x time: {jobs}")
expect(replay(*spot)[0] == out, "the same seed gives the same result")
expect(replay(*spot, "--seed", "2")[0] != out, "another seed gives another result")
rare = replay("--spot", "0.01%", "--price", "35%", "--checkpoint", "30")[1][1]
expect(hours(rare, "of that done again") < hours(jobs, "of that done again"), f"rarer: {rare}")

# The range over seeds and demand: the scenario lies within it, and one replay has none.
def ranged(*options):
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], cwd)
    table = next(table for table in json.loads(out) if table["title"].endswith(", range"))
    return {row["figure"]: row for row in table["rows"]}


expect(not any(table["title"].endswith(", range") for table in json.loads(fewer_out)), "one replay has no range")
rows = ranged("--nodes=-20", "--demand-range", "10")
expect(count(rows["jobs"]["lowest"]) < count(rows["jobs"]["what_if"]) < count(rows["jobs"]["highest"]), f"{rows['jobs']}")
for figure in ("held", "unfinished"):
    row = {key: Decimal(value.replace(",", "")) for key, value in rows["GPU-hours " + figure].items() if key != "figure"}
    expect(row["lowest"] <= row["what_if"] <= row["highest"], f"{figure}: {row}")
rows = ranged(*spot, "--seeds", "4")
expect(count(rows["interruptions"]["lowest"]) < count(rows["interruptions"]["highest"]), f"seeds differ: {rows['interruptions']}")
expect(rows["jobs"]["lowest"] == rows["jobs"]["highest"], f"seeds leave demand alone: {rows['jobs']}")
expect(rows == ranged(*spot, "--seeds", "4"), "a range comes out alike twice")

# The fewest nodes: each fleet that was tried is the scenario with so many nodes fewer, the one found is the smallest
# that is enough, and one node fewer was tried and is not.
def fleets(*options):
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], cwd)
    table = next(table for table in json.loads(out) if table["title"].endswith(", fewest nodes"))
    return [(row["nodes"], int(row["change"]), row) for row in table["rows"]]


tried = fleets("--fewest-nodes", "60")
enough = [nodes for nodes, _, row in tried if row["enough"] == "yes"]
expect(enough and min(enough) - 1 in [nodes for nodes, _, row in tried if row["enough"] == "no"], f"{tried}")
long = [row["wait_p95"] for _, _, row in tried if " h " in row["wait_p95"]]
expect(long and all(wait.endswith(" s") for wait in long), f"what is not enough is seen to the second: {long}")
found = next(row for nodes, _, row in tried if nodes == min(enough))
out, (_, jobs, _), costs = replay(f"--nodes={found['change']}")
expect(jobs["wait, p95"]["what_if"] == found["wait_p95"], f"{jobs['wait, p95']} and {found}")
expect(abs(Decimal(costs[0]["total"]["what_if"]) - Decimal(found["bill"].split()[0].replace(",", ""))) < Decimal("0.01"),
       f"{costs[0]['total']} and {found}")
more = fleets("--nodes=-330", "--fewest-nodes", "0")
expect(any(change > 0 for _, change, _ in more), f"too few nodes: some are added: {more}")

# The cheapest mix of tiers: no more replays than asked for, the best one is the cheapest that is enough, parts add
# up, a point of the frontier is beaten by none, a dearer commitment is never bought more of, and it comes out twice.
def search(where, suffix, *options):
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], where)
    return next(table for table in json.loads(out) if table["title"].endswith(suffix))


def seconds(text):
    units = {"h": 3600, "min": 60, "s": 1}
    words = text.split()
    return sum(int(count) * units[unit] for count, unit in zip(words[::2], words[1::2]))


TIERS = ["--cheapest-tiers", "60", "--spot-tier", "35%@2%", "--tries", "12"]
table = search(cwd, ", tiers", *TIERS, "--committed", "60%")
expect(1 < len(table["rows"]) <= 12, f"at most 12 replays: {len(table['rows'])}")
for row in table["rows"]:
    parts = sum(Decimal(row[part + "_cost"]) for part in ("committed", "on_demand", "spot"))
    expect(parts == Decimal(row["cost"]), f"parts of a cost: {row}")
    expect(row["nodes"] == row["on_demand"] + row["spot"], f"{row}")
    beats = [other for other in table["rows"]
             if Decimal(other["cost"]) <= Decimal(row["cost"]) and seconds(other["wait_p95"]) < seconds(row["wait_p95"])]
    expect(row["frontier"] == "no" or not beats, f"{row} is beaten by {beats}")
enough = [Decimal(row["cost"]) for row in table["rows"] if row["enough"] == "yes"]
expect(enough and f"{min(enough):,.2f}" in table["notes"][0], f"the best one: {table['notes'][0]}")
expect(table == search(cwd, ", tiers", *TIERS, "--committed", "60%"), "a search comes out alike twice")
dear = search(cwd, ", tiers", *TIERS, "--committed", "100%")
for row in dear["rows"]:
    same = [one for one in table["rows"] if (one["nodes"], one["spot"]) == (row["nodes"], row["spot"])]
    expect(all(row["committed"] <= one["committed"] for one in same), f"dearer, and more of it: {row}, {same}")
plain = search(cwd, ", tiers", "--cheapest-tiers", "60", "--tries", "5")
expect(all(row["committed"] == row["spot"] == 0 for row in plain["rows"]), "no tier that was not offered")

# Changes of who may hold what when, and of what comes: each does what it says.
_, (_, jobs, teams), costs = replay("--new-team", f"acme=6214e9@50%")
expect("acme" in teams and any(row["team"] == "acme" for row in costs[0]["rows"]), f"a new team: {teams.keys()}")
expect(count(teams["acme"]["jobs"]) == 0 < count(teams["acme"]["jobs_what_if"]), f"{teams['acme']}")
_, (_, jobs, _), _ = replay("--repeat", "6214e9=16x2h@daily 03:00")
expect(count(jobs["jobs"]["what_if"]) == count(jobs["jobs"]["as_it_was"]) + 4, f"each day: {jobs['jobs']}")
_, (_, jobs, _), _ = replay("--outage", "100@2017-10-01T06:00:00Z/24h")
expect(hours(jobs, "unavailable") > 0 and count(jobs["interruptions"]["what_if"]) > 0, f"an outage: {jobs}")
expect(abs(capacity(jobs) - capacity(jobs, "as_it_was")) < 1, f"capacity x time: {jobs}")
# The same outage as a trace gives the same replay, and one after the last job counts as unavailable too.
nodes = sorted(row.split(",")[1] for row in (data / "philly-nodes.csv").read_text().splitlines()[1:])
(cwd / "trace.csv").write_text("node,from,to\n" + "".join(
    f"{node},2017-10-01T06:00:00Z,2017-10-02T06:00:00Z\n" for node in nodes[:100]))
_, (_, traced, _), _ = replay("--spot-trace", "trace.csv")
expect(traced == jobs, f"a trace of the outage: {traced}, {jobs}")
(cwd / "over.csv").write_text(f"node,from,to\n{nodes[0]},2017-10-03T20:00:00Z,2017-10-05T06:00:00Z\n")
over = replay("--outage", "1@2017-10-03T20:00:00Z/34h")
expect(replay("--spot-trace", "over.csv")[0] == over[0], "also where they last beyond the month")
(cwd / "unknown.csv").write_text("node,from,to\nnobody,2017-10-01T06:00:00Z,2017-10-02T06:00:00Z\n")
(cwd / "late.csv").write_text("node,from,to\n" + nodes[0] + ",2018-10-01T06:00:00Z,2018-10-02T06:00:00Z\n")
(cwd / "reversed.csv").write_text("node,from,to\n" + nodes[0] + ",2017-10-02T06:00:00Z,2017-10-01T06:00:00Z\n")
for name, text in [("unknown.csv", "1 of 1 interruptions in 2017-10 are of nodes"), ("late.csv", "changes nothing"),
                   ("reversed.csv", "reversed.csv:2")]:
    expect_run([*REPLAY, "--spot-trace", name], cwd, code=2, has=[text])
expect_run([*REPLAY, "--spot-trace", "nowhere.csv"], cwd, code=1, has=["cannot read nowhere.csv"])
_, (_, jobs, teams), _ = replay("--quota", "6214e9=2+0", "--quota", "ee9e8c=1000")
expect(seconds(teams["6214e9"]["wait_p95_what_if"]) > seconds(teams["6214e9"]["wait_p95"]), f"{teams['6214e9']}")
_, (_, _, teams), _ = replay("--off-peak", "6214e9=20:00-06:00")
expect(seconds(teams["6214e9"]["wait_p95_what_if"]) > 3600, f"it waits for the evening: {teams['6214e9']}")
_, (_, shared, _), _ = replay("--slice", "6214e9=25%@130%")
expect(hours(shared, "held") < hours(shared, "held", "as_it_was"), "a part of a GPU holds less")

# Autoscaled nodes: held, idle, off and starting GPU-hours are the capacity; whoever keeps few on pays less and waits
# longer; the bill is that of the nodes while they are on, and a ledger of it reconciles.
scaled_options = ["--autoscale", "20@5m/10m", "--slo", "10", "--slo", "6214e9=0"]
out, (_, jobs, teams), costs = replay(*scaled_options)
sizes = [hours(jobs, figure) for figure in ("held", "idle", "off", "starting", "unavailable")]
expect(abs(sum(sizes) - capacity(jobs, "as_it_was")) < 1 and min(sizes[:4]) > 0, f"capacity x time: {jobs}")
expect(Decimal(costs[0]["total"]["what_if"]) < Decimal(costs[0]["total"]["as_it_was"]), f"{costs[0]['total']}")
expect(seconds(jobs["wait, p99"]["what_if"]) > 0 and count(jobs["node starts"]["what_if"]) > 0, f"{jobs}")
expect(jobs["over their limit"]["what_if"].endswith(" %") and "over_limit_what_if" in teams["6214e9"], f"{jobs}")
expect(Decimal(jobs["energy of GPUs, kWh"]["what_if"].replace(",", "")) <
       Decimal(jobs["energy of GPUs, kWh"]["replayed_as_it_was"].replace(",", "")), f"what is off draws nothing: {jobs}")
expect(replay(*scaled_options)[0] == out, "it comes out alike twice")
_, (_, longer, _), dearer = replay("--autoscale", "20@5m/4h")
expect(hours(longer, "off") < hours(jobs, "off"), f"kept on for longer: {longer}")
expect(Decimal(dearer[0]["total"]["what_if"]) > Decimal(costs[0]["total"]["what_if"]), f"{dearer[0]['total']}")
# A pool of at most 30, of spot nodes: what is taken back isn't paid for until another one starts.
spot_out, (_, taken, _), cheaper = replay("--autoscale", "20-30@5m/10m", "--spot", "5%", "--replaced-after", "60")
expect(count(taken["interruptions"]["what_if"]) > 0 and hours(taken, "unavailable") > 0 and hours(taken, "off") < hours(jobs, "off"), f"{taken}")
expect(Decimal(cheaper[0]["total"]["what_if"]) < Decimal(costs[0]["total"]["what_if"]), f"{cheaper[0]['total']}")
# How few nodes an autoscaled pool may have at most.
fleets = search(cwd, ", fewest nodes", "--autoscale", "2@5m/10m", "--fewest-nodes", "60")
expect(any(row["enough"] == "yes" for row in fleets["rows"]) and len({row["bill"] for row in fleets["rows"]}) > 1, f"{fleets}")
expect_run([*REPLAY, *scaled_options, "--out", "scaled.duckdb"], cwd)
reconciled, _ = expect_run(["--store", "scaled.duckdb", "reconcile", "--month", "2017-10", "--format", "json"], cwd)
reconciled = json.loads(reconciled)[0]
expect(all(Decimal(row["difference"]) == 0 for row in reconciled["rows"]), f"to the last digit: {reconciled}")
effective = next(row for row in reconciled["rows"] if row["cost"] == "effective")
expect(Decimal(effective["posted"]) == Decimal(costs[0]["total"]["what_if"]), f"{effective}, {costs[0]['total']}")

# Jobs drawn by a generator fitted to the month: about as many, holding about as much, alike for the same seed.
_, (_, drawn, _), _ = replay("--fitted")
many = count(drawn["jobs"]["as_it_was"])
expect(abs(count(drawn["jobs"]["what_if"]) - many) < 6 * many ** 0.5 and count(drawn["jobs"]["what_if"]) != many, f"{drawn['jobs']}")
expect(replay("--fitted")[1][1] == drawn and replay("--fitted", "--seed", "2")[1][1] != drawn, "by the seed alone")
rows = ranged("--fitted", "--seeds", "3")
expect(count(rows["jobs"]["lowest"]) < count(rows["jobs"]["highest"]), f"a range over what arrives: {rows['jobs']}")

# Racks: what no rack holds never starts, and one rack for all is as no rack. Volcano's proportion keeps the hours.
_, (_, plain_jobs, _), _ = replay()
_, (_, half, _), _ = replay("--same-rack", "176")
expect(half["never start"]["what_if"] == plain_jobs["never start"]["what_if"], f"{half['never start']}")
expect_run([*REPLAY, "--same-rack", "10000"], cwd, code=2, has=["in one rack, so same-rack changes nothing"])
_, (_, small_racks, _), _ = replay("--same-rack", "1")
expect(count(small_racks["never start"]["what_if"]) > count(plain_jobs["never start"]["what_if"]), f"{small_racks['never start']}")
_, (_, proportional, _), _ = replay("--scheduler", "proportion", "--weight", "6214e9=3", "--nodes=-330")
_, (_, few, _), _ = replay("--nodes=-330")
expect(abs(hours(proportional, "held") + hours(proportional, "idle") - hours(few, "held") - hours(few, "idle")) < 1, f"{proportional}")

# Files: every table as CSV and Parquet, charts that are well formed, a PDF; the Gantt adds up to what is held.
expect_run([*REPLAY, "--nodes=-20", "--demand-range", "10", "--files", "files", "--report", "what-if.pdf"], cwd,
           has=["tables and charts to files", "wrote what-if.pdf"])
names = {path.name for path in (cwd / "files").iterdir()}
for name in ("calibration", "jobs", "range", "teams", "exact", "costs", "tier-costs", "moments", "waits", "gantt", "workloads"):
    expect({name + ".csv", name + ".parquet"} <= names, f"{name} in {sorted(names)}")
for name in ("gantt", "over-time", "waits"):
    root = xml.etree.ElementTree.parse(cwd / "files" / f"{name}.svg").getroot()
    expect(root.tag.endswith("svg") and len(list(root)) > 10, f"{name}.svg draws")
expect((cwd / "what-if.pdf").read_bytes().startswith(b"%PDF"), "a PDF")
with open(cwd / "files/gantt.csv", newline="") as file:
    gantt = list(csv.DictReader(file))
moment = datetime.datetime.fromisoformat
held = sum(Decimal(row["gpus"]) * Decimal((moment(row["to"]) - moment(row["from"])).total_seconds()) / 3600 for row in gantt)
expect(abs(held - hours(fewer_jobs, "held")) < 1, f"the Gantt holds {held}, the table {fewer_jobs['GPU-hours held']}")
expect_run([*REPLAY, "--files", "files"], cwd, code=2, has=["has files already"])

# What changes nothing is an error, and says so: of a small ledger, the first day's jobs on 60 nodes.
small = folder()
(small / "pennyweight.yaml").write_text((cwd / "pennyweight.yaml").read_text())
(small / "jobs.txt").write_text("".join(
    lines[:1] + [line for line in lines[1:] if line.split("|")[start] < "2017-10-02"]))
(small / "nodes.csv").write_text("".join((data / "philly-nodes.csv").read_text().splitlines(keepends=True)[:61]))
expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2017-10-01", "--to", "2017-10-03",
            "--prices-as-of", "2025-06-01", "--out", "bill.csv"], small)
expect_run(["import", "--cluster", "philly", "nodes.csv", "jobs.txt", "bill.csv"], small)
small_before = (small / "pennyweight.duckdb").read_bytes()
for options, code, text in [
        (["--demand", "nobody=150%"], 2, "changes nothing"),
        (["--scheduler", "max-min", "--weight", "nobody=2"], 2, "changes nothing"),
        (["--price", "H100-SXM5-80GB=50%"], 2, "changes nothing"),
        (["--spot", "H100-SXM5-80GB=1%"], 2, "no node with H100"),
        (["--spot", "101%"], 2, "--spot '101%'"),
        (["--spot", "0%"], 2, "--spot '0%'"),
        (["--spot", "1.00001%"], 2, "--spot '1.00001%'"),
        (["--spot", "1%", "--preempt", "--scheduler", "srtf"], 2, "can't be combined"),
        (["--checkpoint", "5"], 2, "--spot"),
        (["--committed", "60%"], 2, "belongs to --cheapest-tiers"),
        (["--cheapest-tiers", "60", "--committed", "160%"], 2, "--committed '160%'"),
        (["--cheapest-tiers", "60", "--spot-tier", "35%"], 2, "--spot-tier '35%'"),
        (["--cheapest-tiers", "60", "--tier-model", "H100-SXM5-80GB"], 2, "no node with H100"),
        (["--cheapest-tiers", "60", "--spot", "2%", "--spot-tier", "35%@2%"], 2, "already"),
        (["--best-mig", "10"], 2, "belongs to --slice"),
        (["--tries", "5"], 2, "belongs to"),
        (["--quota", "nobody=4"], 2, "changes nothing"),
        (["--quota", "6214e9"], 2, "--quota '6214e9'"),
        (["--off-peak", "6214e9=20:00-20:00"], 2, "--off-peak"),
        (["--guard", "5", "--blocked", "wait"], 2, "--guard is for"),
        (["--outage", "4@2018-01-01T00:00:00Z/24h"], 2, "lies outside 2017-10"),
        (["--outage", "9999@2017-10-02T00:00:00Z/24h"], 2, "more than the"),
        (["--outage", "4@soon/24h"], 2, "--outage"),
        (["--new-team", "acme=nobody"], 2, "no job has the team 'nobody'"),
        (["--new-team", "acme=6214e9", "--out", "new.duckdb"], 2, "can't be combined with --new-team"),
        (["--repeat", "6214e9=8x24h@mon"], 2, "--repeat"),
        (["--restart", "60"], 2, "give --preempt or --spot"),
        (["--weight", "6214e9=2"], 2, "--weight changes nothing here"),
        (["--blocked", "wait", "--depth", "5"], 2, "--depth changes nothing here"),
        (["--preempt", "--scheduler", "srtf", "--blocked", "skip"], 2, "--blocked changes nothing here"),
        (["--blocked", "skip", "--lengths", "limit"], 2, "--lengths changes nothing here"),
        (["--seed", "7"], 2, "--seed changes nothing here"),
        (["--autoscale", "4"], 2, "--autoscale '4'"),
        (["--autoscale", "4@5m/0m"], 2, "--autoscale '4@5m/0m'"),
        (["--autoscale", "9999@5m/10m"], 2, "autoscaling changes nothing"),
        (["--autoscale", "4@5m/10m", "--autoscale", "2@5m/10m"], 2, "in two autoscaled pools"),
        (["--autoscale", "4-4@5m/10m"], 2, "the most nodes must be more"),
        (["--autoscale", "4-9999@5m/10m"], 2, "changes nothing"),
        (["--autoscale", "4@5m/10m", "--preempt", "--scheduler", "srtf"], 2, "--autoscale can't be combined with --preempt"),
        (["--autoscale", "4@5m/10m", "--cheapest-tiers", "60", "--committed", "60%"], 2, "with --cheapest-tiers"),
        (["--autoscale", "4-20@5m/10m", "--fewest-nodes", "60"], 2, "leave the most of --autoscale out"),
        (["--same-rack", "8", "--autoscale", "4@5m/10m"], 2, "--same-rack can't be combined with --autoscale"),
        (["--spill-over", "region@60m"], 2, "are in one region, so spilling over changes nothing"),
        (["--spill-over", "rack@60m"], 2, "--spill-over 'rack@60m'"),
        (["--commitment-end", "2018-10-02T00:00:00Z"], 2, "is of a commitment, so its end changes nothing"),
        (["--commitment-end", "soon"], 2, "--commitment-end 'soon'"),
        (["--slo", "soon"], 2, "--slo 'soon'"),
        (["--slo", "60", "--slo", "30"], 2, "a limit for these jobs already"),
        (["--slo", "nobody=60"], 2, "changes nothing"),
        (["--power", "H100-SXM5-80GB=700/100"], 2, "no node with H100-SXM5-80GB, so its power"),
        (["--power", "T4=10/20"], 2, "--power 'T4=10/20'"),
        (["--nodes=-20", "--seeds", "4"], 2, "4 seeds change nothing"),
        (["--demand-range", "95"], 2, "--demand-range"),
        (["--fewest-nodes", "5", "--fewest-model", "H9000"], 2, "--fewest-model 'H9000'"),
        (["--fewest-nodes", "5", "--fewest-model", "H100-SXM5-80GB"], 2, "no node with H100"),
        (["--nodes=-100000"], 2, "can't be removed")]:
    expect_run([*REPLAY, *options], small, code=code, has=[text])
expect((small / "pennyweight.duckdb").read_bytes() == small_before, "what is refused writes nothing")
csv_text, _ = expect_run([*REPLAY, "--format", "csv"], cwd)
expect(len(csv_text.strip().split("\n\n")) == 6, f"six tables as CSV:\n{csv_text}")
expect(ledger.read_bytes() == before, "a replay writes nothing")

# MIG for notebooks: the trace's one-GPU jobs of one team, on A100s, which Philly did not have. A seventh of a
# GPU suffices or slows them down; nobody knows, so both ends of the range are replayed.
mig = folder()
(mig / "pennyweight.yaml").write_text((cwd / "pennyweight.yaml").read_text())
(mig / "jobs.txt").write_text((cwd / "jobs.txt").read_text())
(mig / "nodes.csv").write_text(
    "cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n" +
    "".join(f"philly,a100-{i:03},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2017-10-01T00:00:00Z,"
            "2017-10-05T00:00:00Z\n" for i in range(150)))
expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2017-10-01", "--to", "2017-10-04",
            "--prices-as-of", "2025-06-01", "--out", "bill.csv"], mig)
expect_run(["import", "--cluster", "philly", "nodes.csv", "jobs.txt", "bill.csv"], mig)


def notebooks(*options):
    out, _ = expect_run([*REPLAY, *options, "--format", "json"], mig)
    tables = json.loads(out)
    rows = [{next(iter(row.values())): row for row in table["rows"]} for table in tables]
    return rows[1], rows[2], tables[4]


TEAM = "6214e9"
plain, _, _ = notebooks()
fast, fast_teams, fast_costs = notebooks("--slice", f"{TEAM}=1g.5gb")
slow, slow_teams, slow_costs = notebooks("--slice", f"{TEAM}=1g.5gb@200%")
expect(hours(fast, "held") < hours(slow, "held") < hours(plain, "held"),
       f"slices hold less: {hours(fast, 'held')}, {hours(slow, 'held')}, {hours(plain, 'held')}")
for costs in (fast_costs, slow_costs):
    expect(costs["total"]["what_if"] == costs["total"]["as_it_was"], f"the bill stays: {costs['total']}")
team_cost = [Decimal(next(row for row in costs["rows"] if row["team"] == TEAM)["what_if"])
             for costs in (fast_costs, slow_costs)]
was = Decimal(next(row for row in fast_costs["rows"] if row["team"] == TEAM)["as_it_was"])
expect(team_cost[0] < team_cost[1] < was, f"the team pays less: {team_cost} of {was}")
fewer, _, fewer_costs = notebooks("--slice", f"{TEAM}=1g.5gb@200%", "--nodes=-10")
expect(Decimal(fewer_costs["total"]["what_if"]) < Decimal(fewer_costs["total"]["as_it_was"]), "ten nodes fewer")
print(f"MIG for notebooks: {TEAM} pays {was}, then {team_cost[0]} to {team_cost[1]}; GPU-hours held "
      f"{hours(plain, 'held')}, then {hours(fast, 'held')} to {hours(slow, 'held')}; p95 wait "
      f"{fast['wait, p95']['what_if']} to {slow['wait, p95']['what_if']}; with 10 nodes fewer "
      f"{fewer['wait, p95']['what_if']}, {fewer_costs['total']}")
# The best layout: legal and full, no more nodes than any other that is enough, and one node fewer is not.
layouts = search(mig, ", MIG layouts", "--slice", f"{TEAM}=1g.5gb@150%", "--best-mig", "10")
enough = [row for row in layouts["rows"] if row["enough"] == "yes"]
expect(enough and len({row["layout"] for row in layouts["rows"]}) > 10, f"layouts: {layouts['rows']}")
best = min(row["nodes"] for row in enough)
expect(f"on {best} node" in layouts["notes"][0], f"{layouts['notes'][0]}, best {best}")
sevenths = {row["nodes"]: row["enough"] for row in layouts["rows"] if row["layout"] == "7 x 1g.5gb"}
expect(best == 1 or sevenths.get(best - 1) == "no", f"one fewer is not enough: {sevenths}")
expect_run([*REPLAY, "--slice", "1g.5gb", "--best-mig", "10", "--mig-model", "H100-SXM5-80GB"], mig, code=2,
           has=["no node with H100"])
for options, text in [(["--slice", f"{TEAM}=9g.99gb"], "changes nothing"),
                      (["--slice", "nobody=1g.5gb"], "changes nothing"),
                      (["--slice", f"{TEAM}=1g.5gb@50%"], "from 100%"),
                      (["--slice", f"{TEAM}="], "write TEAM=PROFILE"),
                      (["--lengths", "guess"], "use true or limit")]:
    expect_run([*REPLAY, *options], mig, code=2, has=[text])
expect_run([*REPLAY, "--slice", "1g.5gb"], cwd, code=2, has=["can be cut into '1g.5gb'"])
# Every command of the guide, word by word: those about MIG on the fleet of A100s.
(cwd / "fewer.duckdb").unlink()
typed = [shlex.split(line[len("$ pennyweight "):])
         for line in (pathlib.Path(ROOT) / "docs/guide/what-if.md").read_text().splitlines()
         if line.startswith("$ pennyweight ")]
expect(len(typed) >= 8, f"the guide has its commands: {typed}")
for words in typed:
    if "cluster@30m" in words:
        continue  # by what_if_clusters
    expect_run(words, mig if "--slice" in words else cwd)
report("what_if")
