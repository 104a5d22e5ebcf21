"""Bills as their emitters write them: one cost of four, no billing period, JSON Lines, snake case, codes of drafts,
padded numbers, a missing last line end; Azure's two exports without a flag; yen and dinars in tables. Each money is
taken to the last digit, and each default is counted."""
import csv
import io
import json
from decimal import Decimal

from harness import expect, expect_run, folder, report, run


def totals(cwd, month="2026-03"):
    out, _ = expect_run(["reconcile", "--month", month, "--format", "json"], cwd)
    return json.loads(out)


def bill_total(cwd, cost="effective"):
    out, _ = expect_run(["report", "--by", "service", "--format", "csv", "--cost", "all"], cwd)
    return sum((Decimal(row[f"{cost}_cost"]) for row in csv.DictReader(io.StringIO(out))), Decimal(0))


# JSON Lines of an emitter that knows its contracted cost and the hour, and nothing else.
cwd = folder()
rows = [{"charge_period_start": f"2026-03-{day:02}T00:00:00Z", "charge_period_end": f"2026-03-{day:02}T01:00:00Z",
         "charge_category": "Usage", "pricing_category": "On-Demand", "billing_currency": "usd",
         "contracted_cost": f"+{day}.05 ", "service_name": "gpu"} for day in range(1, 11)]
(cwd / "emitted.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
expect_run(["import", "emitted.jsonl"], cwd, 0, [
    "a FOCUS bill (JSON)", "the file has no BilledCost; in 10 rows ContractedCost took its place",
    "the file has no ListCost; in 10 rows ContractedCost took its place",
    "in 10 rows no whole billing period is stated", "in 10 rows PricingCategory is of FOCUS before 1.0",
    "in 10 rows a number, currency or time has a '+'"])
expect_run(["allocate"], cwd)
for cost in ("billed", "effective", "list", "contracted"):
    expect(bill_total(cwd, cost) == Decimal("55.50"), f"{cost}: {bill_total(cwd, cost)}, want 55.50")

# A single record on one line is a record too.
one = folder()
(one / "one.json").write_text(json.dumps(rows[0]))
expect_run(["import", "one.json"], one, 0, ["1 bill line: 1 new"])

# A code of the emitter's own costs no money; a CSV without its last line end says so.
cut = folder()
names = ["BilledCost", "BillingCurrency", "ChargeCategory", "ChargeClass", "ChargeFrequency", "ChargePeriodStart",
         "ChargePeriodEnd", "ServiceName"]
line = ["USD", "Metered", "Refund", "hourly", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "gpu"]
(cut / "own.csv").write_text("\n".join([",".join(names)] + [",".join([amount, *line]) for amount in
                                                             ("100", " 20.5", "3.25")]))
expect_run(["import", "own.csv"], cut, 0, [
    "3 bill lines: 3 new", "the last line has no line end", "in 3 rows ChargeCategory is none of",
    "in 3 rows a code is not one that FOCUS knows"])
expect_run(["allocate"], cut)
expect(bill_total(cut) == Decimal("123.75"), f"own codes: {bill_total(cut)}")

# Azure's exports without --azure-metric: the rows say which one it is.
AZURE = ("SubscriptionId,Date,MeterId,MeterCategory,ChargeType,PricingModel,ReservationId,Quantity,UnitOfMeasure,"
         "CostInBillingCurrency,BillingCurrencyCode,BillingPeriodStartDate,BillingPeriodEndDate\n")


def azure(*lines):
    return AZURE + "".join(f"sub-1,03/0{day}/2026,m-1,Virtual Machines,{kind},{model},{reservation},1,1 Hour,{cost},"
                           "USD,03/01/2026,03/31/2026\n"
                           for day, kind, model, reservation, cost in lines)


AMORTISED = azure((1, "Usage", "Reservation", "r-1", "70"), (2, "UnusedReservation", "Reservation", "r-1", "30"),
                  (2, "Usage", "OnDemand", "", "5"))
ACTUAL = azure((1, "Purchase", "Reservation", "r-1", "100"), (1, "Usage", "Reservation", "r-1", "0"),
               (2, "Usage", "OnDemand", "", "5"))
for text, billed, effective, said in (
        (AMORTISED, "5", "105", "read as amortised cost, since it has 1 unused commitment"),
        (ACTUAL, "105", "105", "read as actual cost, since it has 1 purchase of a commitment"),
        (azure((2, "Usage", "OnDemand", "", "5")), "5", "5", "read as actual cost: it has no cost of a commitment"),
        (azure((1, "Usage", "SavingsPlan", "", "7")), "0", "7", "1 line of usage that a commitment covers")):
    cwd = folder()
    (cwd / "azure.csv").write_text(text)
    expect_run(["import", "azure.csv"], cwd, 0, [said])
    expect_run(["allocate"], cwd)
    expect(bill_total(cwd, "billed") == Decimal(billed), f"{said}: billed {bill_total(cwd, 'billed')}")
    expect(bill_total(cwd) == Decimal(effective), f"{said}: effective {bill_total(cwd)}")
both = folder()
(both / "azure.csv").write_text(AMORTISED + azure((1, "Purchase", "Reservation", "r-1", "100"))[len(AZURE):])
expect_run(["import", "azure.csv"], both, 1, ["--azure-metric amortized", "--azure-metric purchases"])
# Through a pipe it can't be looked at twice: what differs between the two is set aside.
piped = folder()
_, out, err = run(["import", "-"], piped, AMORTISED.encode())
expect("1 bill line: 1 new" in out and "state which this is with --azure-metric" in err,
       f"what differs is set aside:\n{out}{err}")

# Amounts have the digits of their currency: none of yen, three of dinars.
money = folder()
(money / "two.csv").write_text(",".join(names) + "\n" + "".join(
    f"{amount},{currency},Usage,,,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,gpu\n"
    for amount, currency in (("1234567.4", "JPY"), ("1234.5678", "KWD"), ("1234.5678", "EUR"))))
expect_run(["import", "two.csv"], money)
out, _ = expect_run(["allocate"], money)
for shown in ("1,234,567", "1,234.568", "1,234.57"):
    expect(shown in out, f"allocate shows {shown}:\n{out}")
expect("1,234,567.4" not in out, "yen have no digits after the point")
out, _ = expect_run(["report", "--by", "service"], money)
for shown in ("1,234,567 ", "1,234.568", "1,234.57 "):
    expect(shown in out, f"report shows {shown}:\n{out}")
out, _ = expect_run(["report", "--by", "service", "--digits", "1"], money)
expect("1,234,567.4" in out, "--digits wins")
report("cli/bill_forms")
