"""Usage without costs is priced: usage at a rate card's prices, RunPod's records, and owned machines.
All of it is allocated and reconciled to the last digit, and importing it twice changes nothing."""
import csv
import decimal
import io
import json
import pathlib
import shutil
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report

decimal.getcontext().prec = 60
RATED = pathlib.Path(ROOT) / "tests" / "data" / "rated"
COLUMNS = ["BillingAccountId", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart",
           "ChargePeriodEnd", "ServiceProviderName", "ServiceCategory", "ServiceName", "ResourceId",
           "ResourceType", "SkuId", "ConsumedQuantity", "ConsumedUnit"]
NODES = ["i-0a11111111111111a", "i-0b22222222222222b", "i-0c33333333333333c"]
PRICE = Decimal("2.390000000000000001")


def day(number):
    return f"2026-03-{number:02}T00:00:00Z"


def usage_rows():
    """A line for each node and day: its GPU-hours, which are not quite round."""
    for number in range(1, 8):
        for place, node in enumerate(NODES):
            yield ["org-1", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", day(number),
                   day(number + 1), "NeoCloud", "Compute", "GPU Compute", node, "Instance",
                   "gpu-hour", str(Decimal("191.37") + place), "GPU-Hours"]


def text_of(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def total(cwd, *options):
    out, _ = expect_run(["report", "--by", "kind", "--format", "csv", *options], cwd)
    return sum((Decimal(row["effective_cost"]) for row in csv.DictReader(io.StringIO(out))),
               Decimal(0))


rows = list(usage_rows())
want = sum((Decimal(row[11]) * PRICE).quantize(Decimal("1e-18"), decimal.ROUND_HALF_EVEN)
           for row in rows)
cwd = folder()
(cwd / "usage.csv").write_text(text_of([COLUMNS, *rows]))
(cwd / "card.csv").write_text("provider,sku,unit,price,list_price,currency,from\n"
                              f"NeoCloud,gpu-hour,GPU-Hours,{PRICE},6.15,USD,2026-01-01\n")

# Usage and no card; a card that is no card; a card.
expect_run(["import", "usage.csv"], cwd, 2, ["no column of costs", "--rate-card", "prices.rate_card"])
expect_run(["import", "--rate-card", "jobs.txt", "usage.csv"], cwd, 1, ["jobs.txt"])
expect_run(["import", "--rate-card", "none.csv", "usage.csv"], cwd, 1, ["none.csv"])
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], cwd)
expect_run(["import", "--rate-card", "card.csv", "usage.csv"], cwd, 0,
           ["without money, priced from card.csv", "21 bill lines: 21 new"])
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
expect(total(cwd) == want, f"{total(cwd)} is not the usage times the price, {want}")
out, _ = expect_run(["report", "--by", "team", "--cost", "all", "--format", "csv"], cwd)
expect("nlp" in out, "the jobs' teams pay for the usage of their nodes")
paid = sum(Decimal(row["list_cost"]) for row in csv.DictReader(io.StringIO(out)))
expect(paid == sum(Decimal(row[11]) for row in rows) * Decimal("6.15"), "list prices")

# A second import changes nothing; nor does one with the card configured, with empty cost columns, and as JSON.
expect_run(["import", "--rate-card", "card.csv", "usage.csv"], cwd, 0, ["0 new"])
(cwd / "pennyweight.yaml").write_text("prices: {rate_card: card.csv}\n")
expect_run(["import", "usage.csv"], cwd, 0, ["priced from card.csv", "0 new"])
costs = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"]
(cwd / "empty.csv").write_text(text_of([[*COLUMNS, *costs], *([*row, *[""] * 4] for row in rows)]))
expect_run(["import", "empty.csv"], cwd, 0, ["priced from card.csv", "0 new"])
(cwd / "usage.json").write_text(json.dumps(
    {"count": len(rows), "data": [dict(zip(COLUMNS, row)) for row in rows]}))
expect_run(["import", "usage.json"], cwd, 0, ["a FOCUS bill (JSON)", "0 new"])
expect_run(["allocate"], cwd, 0, ["unchanged"])
expect_run(["doctor"], cwd, 0, ["prices.rate_card", "card.csv: 1 price"])

# What has no price is set aside and says what to add.
(cwd / "other.csv").write_text(text_of([COLUMNS, [*rows[0][:10], "cpu-hour", "3", "Hours"]]))
expect_run(["import", "--allow-aside", "other.csv"], cwd, 0, ["no price in", "sku=cpu-hour"])
expect_run(["import", "--strict", "other.csv"], cwd, 1, ["set aside"])

# RunPod: how long its buckets are is asked for.
cwd = folder()
shutil.copy(RATED / "pod_billing.json", cwd)
(cwd / "card.csv").write_bytes((RATED / "card.csv").read_bytes())
expect_run(["import", "pod_billing.json"], cwd, 2, ["--bucket hour, day or month"])
expect_run(["import", "--bucket", "week", "pod_billing.json"], cwd, 2, ["--bucket"])
expect_run(["import", "--allow-aside", "--bucket", "day", "--rate-card", "card.csv", "pod_billing.json"], cwd, 0,
           ["RunPod billing by the day", "3 bill lines: 3 new", "NVIDIA B200"])
records = json.loads((cwd / "pod_billing.json").read_text(), parse_float=Decimal)
names = ["amount", "time", "timeBilledMs", "podId", "endpointId", "gpuTypeId", "diskSpaceBilledGb"]
(cwd / "pods.csv").write_text(text_of([names, *([record.get(name) for name in names]
                                                for record in records)]))
expect_run(["import", "--allow-aside", "--bucket", "day", "--rate-card", "card.csv", "pods.csv"], cwd, 0,
           ["RunPod's billing history (CSV)", "0 new, 3 already there"])
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
# 1.5 hours at 0.34 besides what was charged.
expect(total(cwd) == Decimal("8.160000000000001") + Decimal("0.51") + Decimal("0.0015"),
       f"RunPod's records come to {total(cwd)}")

# Owned machines: named by the command, named by the configuration, once.
cwd = folder()
(cwd / "machines.csv").write_text(
    "cluster,node,purchase,salvage,currency,in_service,life_months,operations_per_month\n"
    "hall,own-01,300000,60000,USD,2025-01-01,48,500\n")
expect_run(["price", "--month", "2025-03"], cwd, 2, ["prices.owned"])
expect_run(["price", "--month", "2025-03", "--owned", "machines.csv"], cwd, 0,
           ["31 lines: 31 new", "owned-hardware"])
(cwd / "pennyweight.yaml").write_text(
    "prices: {owned: machines.csv, organisation: Northwind IT}\n")
expect_run(["price", "--month", "2025-03", "--organisation", "Own organisation"], cwd, 0,
           ["0 new, 31 already there"])
expect_run(["price", "--month", "2025-03"], cwd, 0, ["31 new", "31 retired"])
expect_run(["price", "--month", "2025-03"], cwd, 0, ["0 new, 31 already there"])
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
# 31 of the 1,461 days of its life, to the digit that is kept, and what a month of it takes.
month = Decimal(240000) * 31 / 1461 + 500
expect(abs(total(cwd) - month) < Decimal("1e-15"), f"a month of the machine is {total(cwd)}")
expect_run(["doctor"], cwd, 0, ["machines.csv: 1 machine"])
(cwd / "machines.csv").write_text("cluster,node\n")
expect_run(["doctor"], cwd, 1, ["WRONG", "machines.csv", "prices.owned"])
report("cli/rated")
