"""Bills in two currencies: the ledger keeps both, a report converts them at dated rates that it
shows, what it shows adds up, and without a rate it says which one is missing."""
import csv
import decimal
import io
import json
from decimal import Decimal

from harness import BILL, expect, expect_run, folder, report

decimal.getcontext().prec = 60
COSTS = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"]
TICK = Decimal("1e-18")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def effective(rows):
    return sum((Decimal(row["effective_cost"]) for row in rows), Decimal(0))


def csv_report(cwd, *options):
    return rows_of(expect_run(["report", "--format", "csv", *options], cwd)[0])


cwd = folder()
expect_run(BILL, cwd)
bill = rows_of((cwd / "bill.csv").read_text())
# One of the nodes is rented elsewhere, in euros.
euros = [dict(row, BillingCurrency="EUR", BillingAccountId="eu-1") if "0c333" in row["ResourceId"]
         else row for row in bill]
with open(cwd / "bill.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, bill[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(euros)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)
expect_run(["allocate"], cwd)
expect_run(["reconcile"], cwd, 0, ["0 off"])

# Each as billed.
out, _ = expect_run(["report", "--by", "team", "--format", "json"], cwd)
expect([table["currency"] for table in json.loads(out)] == ["EUR", "USD"], "a table for each")

# No rates; none in force; a file that is none; no currency.
expect_run(["report", "--currency", "EUR"], cwd, 2, ["costs in USD", "--rates", "currencies.rates"])
(cwd / "old.csv").write_text("date,from,to,rate\n2025-12-31,EUR,USD,1.05\n")
expect_run(["report", "--currency", "EUR", "--rates", "old.csv"], cwd, 1,
           ["no rate from USD to EUR on 2026-03-31", "more than 31 days old",
            "2026-03-31,USD,EUR,RATE"])
expect_run(["report", "--currency", "GBP", "--rates", "old.csv"], cwd, 1, ["to GBP on 2026-03-31"])
expect_run(["report", "--currency", "EUR", "--rates", "jobs.txt"], cwd, 1, ["jobs.txt"])
expect_run(["report", "--currency", "euros"], cwd, 2, ["--currency"])

# Rates, by option and by configuration; the option wins.
(cwd / "rates.csv").write_text("date,from,to,rate,source\n2026-03-30,USD,EUR,0.923456789,ecb\n")
out, _ = expect_run(["report", "--by", "team", "--currency", "EUR", "--rates", "rates.csv"], cwd, 0,
                    ["in EUR", "1 USD = 0.923456789 EUR (2026-03-30, ecb)", "at 2026-03-31"])
(cwd / "pennyweight.yaml").write_text("currencies: {rates: rates.csv, report: EUR}\n")
expect(expect_run(["report", "--by", "team"], cwd)[0] == out, "currencies.report is --currency")
expect(len(json.loads(expect_run(["report", "--by", "team", "--currency", "original", "--format",
                                  "json"], cwd)[0])) == 2, "original is as billed")
expect_run(["report", "--by", "team", "--rates", "old.csv"], cwd, 1, ["no rate from USD to EUR"])
expect_run(["doctor"], cwd, 0, ["currencies.rates", "1 rate, the last of 2026-03-30"])

# Coverage obeys it too, and comes to what the report says.
covered = expect_run(["audit", "coverage", "--by", "team"], cwd, 0,
                     ["1 USD = 0.923456789 EUR (2026-03-30, ecb)"])[0]
expect("USD)" not in covered and "in USD" not in covered, f"coverage is in EUR alone: {covered}")
rows = list(csv.DictReader(io.StringIO(expect_run(
    ["audit", "coverage", "--by", "team", "--format", "csv"], cwd)[0])))
expect({row["currency"] for row in rows} == {"EUR"}, f"one currency: {rows}")
billed = list(csv.DictReader(io.StringIO(expect_run(
    ["audit", "coverage", "--by", "team", "--currency", "original", "--format", "csv"], cwd)[0])))
expect({row["currency"] for row in billed} == {"EUR", "USD"}, f"as billed: {billed}")
wanted = sum((Decimal(row["effective_cost"]) * (1 if row["currency"] == "EUR" else
                                                Decimal("0.923456789")) for row in billed), Decimal(0))
got = sum((Decimal(row["effective_cost"]) for row in rows), Decimal(0))
expect(abs(got - wanted) < Decimal("1e-15"), f"coverage converted: {got}, want {wanted}")

# So does a replay: one table in the reporting currency with its rate, the same total as that of the parts as billed;
# and a rate that is missing is said before anything is replayed.
REPLAY = ["replay", "--month", "2026-03", "--cluster", "lab", "--error-max", "100", "--price", "50%"]


def costs(*options):
    tables = json.loads(expect_run([*REPLAY, "--format", "json", *options], cwd)[0])
    return [table for table in tables if ", cost by team, " in table["title"]]


billed, converted = costs("--currency", "original"), costs()
expect([table["currency"] for table in billed] == ["EUR", "USD"], f"as billed: {billed}")
expect([table["currency"] for table in converted] == ["EUR"], f"in the reporting currency: {converted}")
expect(any("1 USD = 0.923456789 EUR (2026-03-30, ecb)" in note for note in converted[0]["notes"]), f"{converted[0]['notes']}")
for column in ("as_it_was", "what_if"):
    wanted = sum(Decimal(table["total"][column]) * (1 if table["currency"] == "EUR" else Decimal("0.923456789"))
                 for table in billed)
    got = Decimal(converted[0]["total"][column])
    expect(abs(got - wanted) < Decimal("1e-15"), f"a replay in EUR: {got}, want {wanted}")
    expect(got == sum(Decimal(row[column]) for row in converted[0]["rows"]), f"its parts: {converted[0]}")
expect(costs("--currency", "EUR", "--rates", "rates.csv") == converted, "by option")
expect_run([*REPLAY, "--rates", "old.csv"], cwd, 1, ["no rate from USD to EUR on 2026-03-31"])
expect_run([*REPLAY, "--currency", "euros"], cwd, 2, ["--currency"])
expect_run(["audit", "coverage", "--rates", "old.csv"], cwd, 1, ["no rate from USD to EUR"])
expect_run(["audit", "coverage", "--currency", "euros"], cwd, 2, ["--currency"])

# To the last digit: each row of a month is converted and rounded once, and totals add up.
groups = csv_report(cwd, "--by", "month,team,kind", "--currency", "original")
want = sum((Decimal(row["effective_cost"]) if row["currency"] == "EUR" else
            (Decimal(row["effective_cost"]) * Decimal("0.923456789")).quantize(
                TICK, decimal.ROUND_HALF_EVEN) for row in groups), Decimal(0))
got = csv_report(cwd, "--by", "team,kind")
expect({row["currency"] for row in got} == {"EUR"}, "all rows are in EUR")
expect(effective(got) == want, f"converted: {effective(got)}, want {want}")
tables = json.loads(expect_run(["report", "--by", "team,kind", "--format", "json"], cwd)[0])
expect(Decimal(tables[0]["total"]["effective_cost"]) == want, "the total is that of its rows")
expect(any("0.923456789" in note for note in tables[0]["notes"]), "the notes tell the rate")
by_month = csv_report(cwd, "--by", "month,team")
expect({row["month"] for row in by_month} == {"2026-03"}, "the month may be a column too")
expect(abs(effective(by_month) - want) < Decimal("1e-15"), "and comes to the same")

# Into what all of it is already, no rate is needed and none is shown.
usd = expect_run(["report", "--filter", "currency=USD", "--currency", "USD", "--rates", "none.csv"],
                 cwd)[0]
expect("1 USD" not in usd, "nothing was converted")

# Through a third currency, which must be named where there are two.
(cwd / "rates.csv").write_text(
    "date,from,to,rate\n2026-03-31,USD,GBP,0.8\n2026-03-31,GBP,EUR,1.25\n"
    "2026-03-31,USD,CHF,0.9\n2026-03-31,CHF,EUR,1.1\n")
expect_run(["report", "--by", "team"], cwd, 1, ["CHF, GBP"])
(cwd / "pennyweight.yaml").write_text("currencies: {rates: rates.csv, report: EUR, pivot: GBP}\n")
expect_run(["report", "--by", "team"], cwd, 0, ["1 USD = 1 EUR"])
(cwd / "pennyweight.yaml").write_text("currencies: {report: EUR}\n")
expect_run(["doctor"], cwd, 0, ["EUR, but no exchange rates"])
report("cli/currencies")
