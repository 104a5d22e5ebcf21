"""A month that is closed, a refund that comes late, a month delivered again with three changed
lines: both versions, the adjustment and the reason are shown, and the closed month stays as it is.
docs/bills/restatements.md tells the same with its figures."""
import csv
import datetime
import gzip
import io
import json
from decimal import Decimal

from harness import BILL, expect, expect_run, folder, report

REPORT = ["report", "--by", "team,kind", "--cost", "all", "--month", "2026-03", "--format", "json"]


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue())


def usage(rows, count):
    """The first lines that are plain use of a node, each of another node or day."""
    return [i for i, row in enumerate(rows)
            if row["ChargeCategory"] == "Usage" and row["ChargeClass"] == ""
            and row["PricingCategory"] == "Standard" and row["ResourceId"].startswith("i-")][:count]


def exact_total(cwd, month):
    out, _ = expect_run(["reconcile", "--month", month, "--format", "json"], cwd)
    return out


def billed_in(cwd, month):
    out, _ = expect_run(["report", "--by", "kind", "--month", month, "--format", "csv"], cwd)
    return sum((Decimal(row["effective_cost"]) for row in csv.DictReader(io.StringIO(out))),
               Decimal(0))


cwd = folder()
expect_run(BILL, cwd)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], cwd)
expect_run(["import", "--delivery", "replacement", "bill.csv"], cwd)
expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["were never allocated"])
expect_run(["allocate"], cwd)
expect_run(["close"], cwd, 0, ["no month is closed yet"])
expect_run(["close", "2026-03"], cwd, 2, ["--by"])
expect_run(["close", "2026-03", "--by", "ann", "--reason", "invoice 4711 is paid"], cwd, 0,
           ["invoice 4711 is paid", "ann"])
expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["2026-03 is closed"])
expect_run(["allocate", "--month", "2026-03"], cwd, 1, ["2026-03 is closed"])
closed, _ = expect_run(REPORT, cwd)

# A refund that comes after the month was closed, as a file of differences.
bill = rows_of(cwd / "bill.csv")
refunded, *changed = usage(bill, 4)
refund = dict(bill[refunded], ChargeClass="Correction", ChargeDescription="Refund for an outage",
              ListUnitPrice="", ContractedUnitPrice="", PricingQuantity="", PricingUnit="",
              ConsumedQuantity="", ConsumedUnit="")
for column in ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"]:
    refund[column] = "-12.50"
write(cwd / "refund.csv", [refund])
expect_run(["import", "--delivery", "delta", "--reason", "outage of 3 March", "refund.csv"], cwd, 0,
           ["1 bill line of closed months booked in the next open month"])
expect_run(["import", "--delivery", "delta", "refund.csv"], cwd, 0, ["imported before, line for line"])

# The month again, with three changed lines.
difference = Decimal(0)
for place, i in enumerate(changed):
    was = Decimal(bill[i]["EffectiveCost"])
    now = was * (Decimal("0.9") if place < 2 else Decimal("1.05"))
    for column in ["BilledCost", "EffectiveCost"]:
        bill[i] = dict(bill[i], **{column: str(now)})
    difference += now - was
write(cwd / "again.csv", [*bill, refund])
expect_run(["import", "--delivery", "replacement", "--reason", "prices corrected by the provider",
            "again.csv"], cwd, 0,
           ["3 bill lines of closed months reversed in the next open month",
            "3 bill lines of closed months booked in the next open month"])
expect_run(["allocate"], cwd, 0, ["1 closed month was left as it is", "2026-04"])
expect_run(["reconcile"], cwd, 0, ["0 off"])
expect(expect_run(REPORT, cwd)[0] == closed, "the closed month is another than it was")
expect(billed_in(cwd, "2026-04") == difference - Decimal("12.50"),
       "April holds another amount than the differences")
all_of = sum((Decimal(row["EffectiveCost"]) for row in [*bill, refund]), Decimal(0))
expect(billed_in(cwd, "2026-03") + billed_in(cwd, "2026-04") == all_of,
       "what is in the accounts is not what the provider says now")

out, _ = expect_run(["restatements", "--format", "json"], cwd, 0)
rows = json.loads(out)[0]["rows"]
expect(len(rows) == 4, f"four lines are restated, not {len(rows)}")
expect({row["booked_in"] for row in rows} == {"2026-04"}, "restated lines are booked in April")
expect({row["how"] for row in rows} == {"adjustment"}, "they are adjustments")
expect(sum(Decimal(row["difference"]) for row in rows) == difference - Decimal("12.50"),
       "the differences do not add up")
expect_run(["restatements", "--month", "2026-03"], cwd, 0,
           ["prices corrected by the provider", "outage of 3 March"])
taken_back = next(row["reversal"] for row in rows if row["reversal"])
expect_run(["explain", "--charge", taken_back], cwd, 0,
           ["A line of a closed month, taken back", "prices corrected by the provider"])
out, _ = expect_run(["report", "--by", "month,billing_month", "--format", "csv"], cwd)
expect("2026-04,2026-03" in out, "a report tells the month of the accounts from the bill's")

# GPU time was counted when the month was closed: an adjustment has none.
out, _ = expect_run(["report", "--by", "month", "--format", "csv"], cwd)
for row in csv.DictReader(io.StringIO(out)):
    if row["month"] == "2026-04":
        expect(Decimal(row["gpu_hours"] or 0) == 0, "an adjustment tells GPU time again")

# An open month is run again, and what it showed before can be asked for.
cwd = folder()
expect_run(BILL, cwd)
(cwd / "bill.csv.gz").write_bytes(gzip.compress((cwd / "bill.csv").read_bytes()))
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], cwd)
expect_run(["import", "--delivery", "replacement", "bill.csv.gz"], cwd)
expect_run(["allocate"], cwd)
before, _ = expect_run(REPORT, cwd)
then = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
bill = rows_of(cwd / "bill.csv")
for i in usage(bill, 3):
    bill[i] = dict(bill[i], EffectiveCost="1.5", BilledCost="1.5")
write(cwd / "bill.csv", bill)
expect_run(["import", "--delivery", "guarded", "bill.csv"], cwd, 1, ["3 in conflict"])
expect_run(["import", "--delivery", "replacement", "bill.csv"], cwd, 0,
           ["3 bill lines retired from open months"])
expect_run(["reconcile"], cwd, 1, ["retired by a later delivery but still posted"])
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])
now, _ = expect_run(REPORT, cwd)
expect(now != before, "the changed lines make a difference")
as_of, _ = expect_run([*REPORT, "--as-of", then], cwd)
expect(json.loads(as_of)[0]["rows"] == json.loads(before)[0]["rows"], "as of then is not then")
expect_run(["import", "--delivery", "replacement", "nodes.csv"], cwd, 2, ["--delivery is for bills"])
report("cli/restatements")
