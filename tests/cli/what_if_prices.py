"""Scenarios that take list prices and the GPU catalogue's speeds, and that buy commitments: what two nodes of A100 cost
then, worked out from the bill's own lines, and what is refused."""
import csv
import json
from decimal import Decimal

from harness import expect, expect_run, folder, report

HEADER = "JobID|JobName|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList\n"


def job(number, team, gpus, begin, end, node):
    minutes = [int(time[:2]) * 60 + int(time[3:]) for time in (begin, end)]
    begin, end = (f"2026-03-01T{time}:00" for time in (begin, end))
    return (f"{number}|run|gpu|{team}|ana|COMPLETED|{begin}|{begin}|{end}|{(minutes[1] - minutes[0]) * 60}|1|{gpus}|"
            f"billing={gpus},cpu={gpus},gres/gpu={gpus},mem={gpus}G,node=1|{node}\n")


cwd = folder()
(cwd / "pennyweight.yaml").write_text("clusters:\n  - {name: lab, kind: slurm, time_zone: UTC}\n")
(cwd / "nodes.csv").write_text("cluster,node,provider_id,instance_type,region,gpu_model,gpu_count,from,to\n" + "".join(
    f"lab,a-{i},i-{i},p4d.24xlarge,us-east-1,A100-SXM4-40GB,8,2026-03-01T00:00:00Z,2026-03-03T00:00:00Z\n" for i in (1, 2)))
(cwd / "jobs.txt").write_text(HEADER + job(1, "train", 8, "06:00", "08:00", "a-1") + job(2, "nb", 1, "06:00", "09:00", "a-2") +
                              job(3, "serve", 8, "10:00", "11:00", "a-1") + job(4, "train", 8, "10:00", "14:00", "a-2"))
(cwd / "rates.csv").write_text("date,from,to,rate\n2026-02-28,USD,EUR,0.9\n2026-03-31,USD,EUR,0.8\n")
expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-03", "--prices-as-of",
            "2026-07-20", "--out", "bill.csv"], cwd)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)
with open(cwd / "bill.csv", newline="") as file:
    BILL = [row for row in csv.DictReader(file) if row["x_ClusterId"]]  # taxes and support are of no cluster
NODES = [row for row in BILL if row["ResourceId"] in ("i-1", "i-2")]
HOURS = sum(Decimal(row["PricingQuantity"]) for row in NODES)  # a refund of an outage is less of them
OWED = sum(Decimal(row["EffectiveCost"]) for row in NODES if row["CommitmentDiscountStatus"] == "Used")
OTHERS = sum(Decimal(row["EffectiveCost"]) for row in BILL if row not in NODES)
WAS = sum(Decimal(row["EffectiveCost"]) for row in BILL)
expect(OWED > 0 and HOURS == 84, f"the bill has a commitment and a refund: {OWED}, {HOURS}")


def replay(*options):
    """The tables by the end of their titles."""
    out, _ = expect_run(["replay", *options, "--format", "json"], cwd)
    tables = json.loads(out)
    for table in tables:
        if not table.get("total"):
            continue
        for column in ("as_it_was", "what_if"):
            parts = sum(Decimal(row[column]) for row in table["rows"])
            expect(parts == Decimal(table["total"][column]), f"{table['title']}: {parts} of {table['total']}")
    return {table["title"].rsplit(", ", 1)[1] if "cost by" not in table["title"] else
            table["title"].split("cost by ")[1]: table for table in tables}


def total(tables, currency="USD"):
    return Decimal(tables[f"team, {currency}"]["total"]["what_if"])


ON_DEMAND, SPOT, OLD, P5 = (Decimal(price) for price in ("21.957642", "9.83", "32.7726", "55.04"))
END = ["--commitment-end", "2026-03-01T00:00:00Z"]
H100 = ["--replace-model", "A100-SXM4-40GB=H100-SXM5-80GB"]
UNUSED = sum(Decimal(row["EffectiveCost"]) for row in BILL if row["CommitmentDiscountStatus"] == "Unused")
for options, cost in [
        (["--list-price", "same"], HOURS * ON_DEMAND + OWED + OTHERS),
        (["--list-price", "same", *END], HOURS * ON_DEMAND + OTHERS - UNUSED),
        (["--list-price", "same:tier=spot", "--spot", "1%"], HOURS * SPOT + OWED + OTHERS),
        (["--list-price", "same:date=2022-07-01"], HOURS * OLD + OWED + OTHERS),
        (["--list-price", "same", "--price", "50%", *END], HOURS * ON_DEMAND / 2 + OTHERS - UNUSED),
        ([*H100, "--list-price", "aws", *END], HOURS * P5 + OTHERS - UNUSED),
        ([*H100], WAS)]:
    tables = replay(*options)
    expect(total(tables) == cost, f"{options}: {total(tables)}, not {cost}")
prices = replay("--list-price", "gcp:tier=spot,region=us-central1")["list prices"]
row = prices["rows"][0]
expect((row["instance_type"], row["per_hour"], row["currency"], row["since"], row["source"]) ==
       ("a2-highgpu-8g", "14.4308", "USD", "2026-02-05", "gcp-history"), f"{row}")
expect(any("none is taken back" in note for note in prices["notes"]), f"{prices['notes']}")

# In another currency: that day's rate for the price; the report's own for amounts.
euros = replay("--list-price", "same:currency=EUR", *END, "--currency", "original", "--rates", "rates.csv")
expect(total(euros, "EUR") == HOURS * ON_DEMAND * Decimal("0.9"), f"{euros['team, EUR']['total']}")
expect(any("1 USD = 0.9 EUR" in note for note in euros["list prices"]["notes"]), f"{euros['list prices']['notes']}")
shown = replay("--list-price", "same:currency=EUR", *END, "--currency", "EUR", "--rates", "rates.csv")
expect(abs(total(shown, "EUR") - total(euros, "EUR") - (OTHERS - UNUSED) * Decimal("0.8")) < Decimal("1e-12"), "one total")

# Jobs take the time of what limits them: 312 of 989 TFLOPS, 1,555 of 3,350 GB/s, or as stated.
held = lambda tables: {row["team"]: Decimal(row["what_if"]) / 3600 for row in tables["exact figures"]["rows"]
                       if row["figure"] == "held" and row["team"] != "(all)"}
was = {"train": 48, "nb": 3, "serve": 8}
compute, memory = Decimal(312) / 989, Decimal(1555) / 3350
tables = replay(*H100, "--bound", "train=compute", "--bound", "workload:2=80%", "--bound", "memory")
for team, ratio in [("train", compute), ("nb", Decimal("0.8")), ("serve", memory)]:
    expect(abs(held(tables)[team] - was[team] * ratio) < Decimal("0.001"), f"{team}: {held(tables)}")
expect(sorted(row["bound"] for row in tables["speeds"]["rows"]) == ["as stated", "compute", "memory"], f"{tables['speeds']}")
expect("range" not in tables, "everything is stated")
tables = replay(*H100)
expect(abs(held(tables)["train"] - 48 * memory) < Decimal("0.001"), f"the longer of both: {held(tables)}")
hours = next(row for row in tables["range"]["rows"] if row["figure"] == "GPU-hours held")
expect(abs(Decimal(hours["lowest"]) - 59 * compute) < Decimal("0.01") and hours["highest"] == hours["what_if"], f"{hours}")

# Commitments: used and unused are the price; fewer nodes use less of them.
for options, nodes in [(["--commitment-buy", "1@20/3y", *END], 1), (["--commitment-buy", "3@20", "--nodes=-1", *END], 3)]:
    tables = replay(*options)
    row = tables["commitments bought"]["rows"][0]
    cost, used, unused = (Decimal(row[name]) for name in ("cost", "used", "unused"))
    expect(used + unused == cost == nodes * 20 * 72, f"{row}")
    tiers = {row["tier"]: Decimal(row["what_if"]) for row in tables["tier, USD"]["rows"]}
    expect(tiers["committed (Scenario)"] == used and tiers["committed (Scenario), unused"] == unused, f"{tiers}")

# A ledger of such a month reconciles, and has the same bill.
for name, options in [("prices", [*H100, "--list-price", "aws"]), ("bought", ["--commitment-buy", "1@20", *END])]:
    cost = total(replay(*options, "--out", f"{name}.duckdb"))
    out, _ = expect_run(["--store", f"{name}.duckdb", "reconcile", "--month", "2026-03", "--format", "json"], cwd)
    rows = {row["cost"]: row for row in json.loads(out)[0]["rows"]}
    expect(all(Decimal(row["difference"]) == 0 for row in rows.values()), f"{rows}")
    expect(Decimal(rows["effective"]["posted"]) == cost, f"{name}: {rows['effective']}, not {cost}")

# The other refusals are those of scenario_prices_test.cc.
for options, code, text in [
        (["--list-price", "gcp:date=2020-01-01"], 1, "the first is from"),
        (["--list-price", "same:currency=EUR"], 2, "no exchange rates"),
        ([*H100, "--bound", "nobody=memory"], 2, "the team 'nobody'"),
        ([*H100, "--bound", "workload:x*=memory"], 2, "fits workload:x*"),
        ([*H100, "--slice", "nb=1g.5gb"], 2, "can be cut into '1g.5gb'"),
        (["--commitment-buy", "1@20:from=2027-01-01"], 2, "the replay ends at")]:
    expect_run(["replay", *options], cwd, code=code, has=[text])
report("what_if_prices")
