"""FOCUS exports through the program: they conform, add up to the ledger, and come back through the
import as they were; late lines are corrections; a provider's bill breaks no rule more for being
allocated; and what is broken is found by the judge as a program."""
import csv
import io
import pathlib
import re
import subprocess
import sys
from decimal import Decimal

from harness import BILL, ROOT, SQL_TOOL, expect, expect_run, folder, report

JUDGE = pathlib.Path(ROOT) / "tests" / "focus" / "rules.py"
COSTS = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")
POLICY = """
policy:
  version: 1
  spread:
    - {kind: unallocated, how: proportional}
    - {kind: shared, how: proportional, measure: cost}
"""


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue())


def sums(rows):
    return [sum((Decimal(row[cost]) for row in rows), Decimal(0)) for cost in COSTS]


def ledger_sums(cwd, month):
    expect_run(["export", "charges", "--month", month, "--out", "ledger.csv"], cwd)
    names = ("billed_cost", "effective_cost", "list_cost", "contracted_cost")
    rows = rows_of(cwd / "ledger.csv")
    return [sum((Decimal(row[name]) for row in rows), Decimal(0)) for name in names]


def export(cwd, name, *options, month="2026-03"):
    expect_run(["export", "focus", "--month", month, "--out", name, *options], cwd)
    return cwd / name


def judged(version, file, origin=None):
    """The rules that the judge calls broken, and its exit code."""
    command = [sys.executable, str(JUDGE), "--version", version, "--file", str(file),
               "--metadata", f"{file}.metadata.json", "--sql-tool", SQL_TOOL]
    if origin:
        command += ["--origin", str(origin)]
    done = subprocess.run(command, capture_output=True, timeout=300)
    out = done.stdout.decode()
    return set(re.findall(r"^FAILED: (\S+)", out, re.M)), done.returncode, out + \
        done.stderr.decode()


def conforms(version, file, origin=None):
    broken, code, out = judged(version, file, origin)
    expect(code == 0 and not broken, f"{file.name}, FOCUS {version}: {out}")


def fresh(lines):
    """A ledger with nothing but the lines of a file."""
    cwd = folder()
    expect_run(["import", str(lines)], cwd)
    return cwd


# A month with everything spread: it conforms, with transfers too, and meets the ledger with ==.
cwd = folder()
(cwd / "pennyweight.yaml").write_text(POLICY)
expect_run(BILL, cwd)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], cwd)
expect_run(["import", "--delivery", "replacement", "bill.csv"], cwd)
expect_run(["allocate"], cwd)
truth = ledger_sums(cwd, "2026-03")
for version in ("1.2", "1.3", "1.4"):
    version_is = ("--focus-version", version)
    charges = export(cwd, f"charges-{version}.csv", *version_is, "--rows", "charges")
    teams = export(cwd, f"teams-{version}.csv", *version_is, "--by", "team", "--with-transfers")
    conforms(version, charges)
    rows, lines = rows_of(teams), rows_of(charges)
    expect(sums(lines) == truth, f"{version}: the bill is the ledger's")
    expect(sums(rows) == truth, f"{version}: all rows are the ledger's")
    transfers = [row for row in rows if row["x_TransferId"]]
    expect(transfers and sums(transfers) == [Decimal(0)] * 4, f"{version}: transfers are zero")
    expect(len({row["x_OriginChargeId"] for row in lines}) == len(lines), "each line has its id")
    # A transfer is of no bill: the rows of the bill meet it line by line without them.
    parts = export(cwd, f"parts-{version}.csv", *version_is, "--by", "team")
    conforms(version, parts, charges)
    expect({row["x_OriginChargeId"] for row in rows_of(parts)} ==
           {row["x_OriginChargeId"] for row in lines}, "every line is divided, and no other")
    broken, _, out = judged(version, teams)
    expect(not broken, f"{version}: with transfers: {out}")

    # Back through the import: the same lines, and from then on the same bytes.
    again = fresh(charges)
    second = export(again, "again.csv", *version_is, "--rows", "charges")
    first_rows = charges.read_bytes().splitlines()
    second_rows = second.read_bytes().splitlines()
    expect(first_rows[0] == second_rows[0], f"{version}: the same columns")
    expect(sorted(first_rows) == sorted(second_rows), f"{version}: the same rows")
    third = export(fresh(second), "again.csv", *version_is, "--rows", "charges")
    expect(second.read_bytes() == third.read_bytes(), f"{version}: the same bytes")
    parquet = export(again, "again.parquet", *version_is, "--rows", "charges", "--format",
                     "parquet")
    fourth = export(fresh(parquet), "again.csv", *version_is, "--rows", "charges")
    expect(sorted(second_rows) == sorted(fourth.read_bytes().splitlines()),
           f"{version}: the same rows by Parquet")
    conforms(version, parquet)

# What is broken is found, by its rule.
for what, change, rule in (
        ("a cost that is gone", {"BilledCost": ""}, "BilledCost"),
        ("a tick", {"ListCost": "0.000000000000000001"}, "own-Bill-"),
        ("a category of its own", {"ChargeCategory": "GPU"}, "ChargeCategory"),
        ("a correction of nothing", {"ChargeClass": "Fix"}, "ChargeClass")):
    rows = rows_of(cwd / "parts-1.4.csv")
    next(row for row in rows if row["ChargeCategory"] == "Usage").update(change)
    write(cwd / "planted.csv", rows)
    (cwd / "planted.csv.metadata.json").write_text(
        (cwd / "parts-1.4.csv.metadata.json").read_text())
    broken, code, out = judged("1.4", cwd / "planted.csv", cwd / "charges-1.4.csv")
    expect(code == 1 and any(rule in name for name in broken), f"{what} is not found: {out}")

# Lines that come after their month was closed: corrections of the month they are booked in.
expect_run(["close", "2026-03", "--by", "ann"], cwd)
before = (cwd / "charges-1.4.csv").read_bytes()
bill = rows_of(cwd / "bill.csv")
plain = [i for i, row in enumerate(bill)
         if row["ChargeCategory"] == "Usage" and row["ChargeClass"] == ""
         and row["PricingCategory"] == "Standard" and row["ResourceId"].startswith("i-")]
refund = dict(bill[plain[0]], ChargeClass="Correction", ChargeDescription="Refund")
for column in ("SkuPriceId", "SkuPriceDetails", "PricingCategory", "ListUnitPrice",
               "ContractedUnitPrice", "PricingQuantity", "PricingUnit", "ConsumedQuantity",
               "ConsumedUnit"):
    refund[column] = ""
refund.update({cost: "-12.50" for cost in COSTS})
for i in plain[1:3]:
    bill[i].update(BilledCost="1.25", EffectiveCost="1.25")
write(cwd / "again.csv", [*bill, refund])
expect_run(["import", "--delivery", "replacement", "again.csv"], cwd, 0, ["reversed in the next open month"])
expect_run(["allocate"], cwd)
expect(export(cwd, "charges-1.4.csv", "--rows", "charges").read_bytes() == before,
       "the closed month is exported as it was")
old_ids = {row["x_OriginChargeId"] for row in rows_of(cwd / "charges-1.4.csv")}
for version in ("1.2", "1.3", "1.4"):
    charges = export(cwd, "late.csv", "--focus-version", version, "--rows", "charges",
                     month="2026-04")
    parts = export(cwd, "late-parts.csv", "--focus-version", version, month="2026-04")
    conforms(version, charges)
    conforms(version, parts, charges)
    rows = rows_of(charges)
    expect(len(rows) == 5, f"a refund, two lines taken back and two instead, not {len(rows)}")
    expect({row["ChargeClass"] for row in rows} == {"Correction"}, "all are corrections")
    expect({row["x_BookedMonth"] for row in rows} == {"2026-04"}, "booked in April")
    expect({row["BillingPeriodStart"][:7] for row in rows} == {"2026-03"}, "of the bill of March")
    taken_back = [row["x_TakesBackChargeId"] for row in rows if row["x_TakesBackChargeId"]]
    expect(len(set(taken_back)) == 2 and set(taken_back) <= old_ids, "they name what they take back")
    expect(sums(rows) == sums(rows_of(parts)) == ledger_sums(cwd, "2026-04"), "April is met")

# A provider's own bill lacks what FOCUS wants: it is filled in, counted, and comes back as it is.
for kind in ("aws-cur2", "azure-actual", "gcp-csv"):
    cwd = folder()
    expect_run([*BILL, "--as", kind], cwd)
    expect_run(["import", "--allow-aside", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"],
               cwd)
    expect_run(["allocate"], cwd)
    expect_run(["export", "focus", "--month", "2026-03", "--rows", "charges", "--out", "x.csv"],
               cwd, has=["RegionName: ", "without a value, which FOCUS requires; filled in"])
    charges = export(cwd, "charges.csv", "--rows", "charges")
    parts = export(cwd, "parts.csv")
    expect(sums(rows_of(charges)) == sums(rows_of(parts)) == ledger_sums(cwd, "2026-03"),
           f"{kind}: the sums are the ledger's")
    conforms("1.4", charges)
    conforms("1.4", parts, charges)
    # What FOCUS allows not where it stood is a row of its own that names its line.
    lines = {row["x_OriginChargeId"]: row for row in rows_of(charges)}
    rests = [row for row in lines.values() if row.get("x_EffectiveCostOfChargeId")]
    expect(bool(rests) == (kind != "aws-cur2"), f"{kind}: {len(rests)} rests")
    for row in rests:
        of = lines[row["x_EffectiveCostOfChargeId"]]
        expect((of["ChargeCategory"], Decimal(of["EffectiveCost"]), Decimal(row["BilledCost"])) ==
               ("Purchase", 0, 0), f"{kind}: {row}")
    second = export(fresh(charges), "again.csv", "--rows", "charges")
    expect(sorted(charges.read_bytes().splitlines()) == sorted(second.read_bytes().splitlines()),
           f"{kind}: the same rows from a ledger that took the export")
report("cli/focus_export")
