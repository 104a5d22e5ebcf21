"""Invoices from draft to credit note through the program: several customers, two currencies, idle
and shared cost spread over them, numbers without a gap, a month that is closed, a refund that comes
late, and every format. docs/guide/invoices.md tells the same."""
import csv
import io
import json
import subprocess
from decimal import Decimal

from harness import BILL, SQL_TOOL, expect, expect_run, folder, report

CONFIG = """
policy:
  version: 1
  spread:
    - {kind: unallocated, how: proportional}
    - {kind: shared, how: %s}
invoice:
  prefix: NW
  by: team
  terms_days: 30
  tax: {name: VAT, percent: 19}
  issuer: {name: Northwind Compute Ltd, address: [4 Harbour Road, 5003 Bergen], tax_id: NO 999}
  customers:
    nlp: {name: "NLP <b>Group</b>", address: [Hauptstrasse 1], contact: accounts@nlp.example}
  not_customers: [vision]
  note: Payment by bank transfer.
"""
MARCH = ["invoice", "--month", "2026-03"]
EVEN = "even, dimension: team"


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue())


def plain_usage(rows):
    return [row for row in rows
            if row["ChargeCategory"] == "Usage" and row["ChargeClass"] == ""
            and row["PricingCategory"] == "Standard" and row["ResourceId"].startswith("i-")]


def lines_of(cwd, arguments):
    out, _ = expect_run([*arguments, "--format", "csv"], cwd)
    return list(csv.DictReader(io.StringIO(out)))


def meets(cwd, month):
    """Every document of the month adds up, and all of them are the bill, with ==."""
    out, _ = expect_run(["invoice", "--month", month, "--books", "--format", "json"], cwd)
    bill = {}
    for one in json.loads(out):
        for section in one["sections"]:
            shown = [Decimal(line["amount_shown"]) for line in section["lines"]]
            exact = [Decimal(line["amount"]) for line in section["lines"]]
            expect(sum(shown) == Decimal(section["subtotal_shown"]), "lines are the subtotal")
            expect(sum(exact) == Decimal(section["subtotal"]), "lines are the exact subtotal")
        shown = sum(Decimal(section["subtotal_shown"]) for section in one["sections"])
        expect(shown == Decimal(one["net_shown"]), "subtotals are the net total")
        proof = one["reconciliation"]
        expect(Decimal(proof["difference"]) == 0, "the proof's difference is zero")
        bill.setdefault(one["currency"], Decimal(proof["bill"]))
        bill[one["currency"]] -= Decimal(one["net"])
    expect(set(bill.values()) == {Decimal(0)}, f"documents of {month} are the bill: {bill}")
    return json.loads(out)


cwd = folder()
(cwd / "pennyweight.yaml").write_text(CONFIG % EVEN)
expect_run(BILL, cwd)
bill = rows_of(cwd / "bill.csv")
# Another contract for one node's first days, in euro.
def in_euro(row):
    costs = {name: str(Decimal(row[name]) * Decimal("0.92"))
             for name in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")}
    return dict(row, **costs, BillingCurrency="EUR", InvoiceId="EUR-1",
                ServiceName="Managed nodes")


euros = [in_euro(row) for row in plain_usage(bill)[:5]]
write(cwd / "euro.csv", euros)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv", "euro.csv"], cwd)
expect_run(MARCH, cwd, 1)
expect_run(["allocate"], cwd)

# Drafts: every customer, and what nobody is charged for, in each currency.
drafts = meets(cwd, "2026-03")
expect({(one["customer"], one["currency"]) for one in drafts if one["kind"] == "invoice"} ==
       {(team, currency) for team in ("nlp", "search") for currency in ("USD", "EUR")},
       "two customers, two currencies, and vision is none")
expect(all(one["number"] == "" for one in drafts), "drafts have no numbers")
text, _ = expect_run([*MARCH, "--customer", "nlp"], cwd, 0,
                     ["DRAFT", "Share of idle capacity", "in proportion to what each pays for GPUs",
                      "the same for each team", "VAT, 19 % of"])
expect("econciliation" not in text and "Difference" not in text, "a customer's page has no books")
expect_run([*MARCH, "--customer", "nlp", "--books"], cwd, 0, ["Reconciliation", "Difference"])
expect_run([*MARCH, "--books", "--for-customer"], cwd, 2, ["--books"])
expect(max(map(len, text.splitlines())) <= 100, "text fits 100 columns")
expect_run([*MARCH, "--customer", "nobody"], cwd, 1, ["owes nothing"])
expect_run([*MARCH, "--format", "html"], cwd, 2, ["--out"])
expect_run(["invoice"], cwd, 2, ["--month"])
expect_run([*MARCH, "--issue"], cwd, 1, ["is open", "pennyweight close 2026-03 --by NAME"])
expect_run(["invoice", "list"], cwd, 0, ["no invoice has been issued yet"])

# The words are those of the run, whatever the configuration says by now.
(cwd / "pennyweight.yaml").write_text(CONFIG % "proportional, measure: cost")
again, _ = expect_run([*MARCH, "--customer", "nlp"], cwd)
expect(again == text, "the method in words is that of the run")

# Closed and issued, once.
expect_run(["close", "2026-03", "--by", "ann"], cwd)
expect_run([*MARCH, "--issue", "--customer", "nlp"], cwd, 2, ["as a whole"])
out, err = expect_run([*MARCH, "--issue", "--books", "--format", "html", "--out", "march"], cwd, 0,
                      ["0 issued before, 4 issued now"])
numbers = [f"NW-2026-03-{i:04}" for i in range(1, 5)]
names = sorted(path.name for path in (cwd / "march").iterdir())
expect(names == [f"{number}.html" for number in numbers] +
       ["not-charged-2026-03-EUR.html", "not-charged-2026-03-USD.html"], f"files: {names}")
expect_run([*MARCH, "--issue"], cwd, 0, ["4 issued before, 0 issued now", *numbers])
out, _ = expect_run(["invoice", "list", "--format", "json"], cwd)
listed = [row for table in json.loads(out) for row in table["rows"]]
expect(sorted(row["number"] for row in listed) == numbers, "list has every number")
meets(cwd, "2026-03")

# Shown as it was issued, in every format, and refused where it was changed.
page = (cwd / "march" / f"{numbers[0]}.html").read_text()
shown, _ = expect_run(["invoice", "show", numbers[0], "--books", "--format", "html"], cwd)
expect(shown == page, "show gives the bytes that were issued")
expect("NLP &lt;b&gt;Group" in page, "names are no markup")
expect("<b>" not in page and "<script" not in page and "http" not in
       page.replace("http-equiv", ""), "a page loads and runs nothing")
document, _ = expect_run(["invoice", "show", numbers[0], "--books", "--format", "json"], cwd)
# A customer need not know what the others are charged.
for form in ("text", "html", "json"):
    own, _ = expect_run(["invoice", "show", numbers[0], "--format", form], cwd)
    whole, _ = expect_run(["invoice", "show", numbers[0], "--books", "--format", form], cwd)
    expect("econciliation" in whole and "econciliation" not in own, f"only the books have it: {form}")
    same, _ = expect_run(["invoice", "show", numbers[0], "--for-customer", "--format", form], cwd)
    expect(same == own, "the client's view is the default")
own, _ = expect_run([*MARCH, "--format", "json"], cwd)
expect("not_charged" not in own and "reconciliation" not in own, "nor what is not charged")
expect(json.loads(document)["schema"] == "pennyweight-invoice/1", "the stored document")
rows = lines_of(cwd, ["invoice", "show", numbers[0]])
expect(sum(Decimal(row["amount_exact"]) for row in rows if row["section"] != "Tax") ==
       Decimal(json.loads(document)["net"]), "CSV is the document")
expect_run(["invoice", "show", numbers[0]], cwd, 0, [f"Invoice {numbers[0]}", "Due"])
expect_run(["invoice", "show", "NW-2026-03-0099"], cwd, 1, ["there is no invoice"])

# A refund that comes after the month was closed goes to the next month and names its invoice.
refund = dict(plain_usage(bill)[0], ChargeClass="Correction",
              ChargeDescription="Refund for an outage", SkuPriceId="", SkuPriceDetails="",
              PricingCategory="", ListUnitPrice="", ContractedUnitPrice="", PricingQuantity="",
              PricingUnit="", ConsumedQuantity="", ConsumedUnit="")
for column in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"):
    refund[column] = "-12.50"
write(cwd / "refund.csv", [refund])
expect_run(["import", "--delivery", "delta", "--reason", "outage of 3 March", "refund.csv"], cwd, 0,
           ["booked in the next open month"])
expect_run(["allocate"], cwd)
expect_run([*MARCH, "--issue"], cwd, 0, ["4 issued before, 0 issued now"])
expect(expect_run(["invoice", "show", numbers[0], "--books", "--format", "json"], cwd)[0] == document,
       "the issued invoice is as it was")
april = meets(cwd, "2026-04")
notes = [one for one in april if one["kind"] == "credit_note"]
expect(notes, "the refund is credited")
first = {one["customer"]: one["number"]
         for one in json.loads(expect_run([*MARCH, "--format", "json"], cwd)[0])
         if one["currency"] == "USD" and one["kind"] == "invoice"}
for note in notes:
    section, = note["sections"]
    expect(section["name"] == "adjustments", "it stands under adjustments")
    expect(all(line["remark"].endswith("to invoice " + first[note["customer"]])
               for line in section["lines"]), f"it names its invoice: {section['lines']}")
expect(sum(Decimal(one["net"]) for one in april) == Decimal("-12.5"), "April is the refund")
expect_run(["close", "2026-04", "--by", "ann"], cwd)
expect_run(["invoice", "--month", "2026-04", "--issue"], cwd, 0,
           ["Credit note NW-2026-04-0001", "Adjustments to earlier months"])
expect_run(["invoice", "list"], cwd, 0, ["NW-2026-04-0001", "NW-2026-03-0004"])
expect_run(["invoice", "show", "NW-2026-04-0001"], cwd, 0, ["Credit note", "to invoice NW-2026-03"])
meets(cwd, "2026-04")

# A document that was changed modified outside of pennyweight is not shown.
subprocess.run([SQL_TOOL, str(cwd / "pennyweight.duckdb"),
                "UPDATE invoices SET document = replace(document, 'VAT', 'TAX')"], check=True,
               capture_output=True)
expect_run(["invoice", "show", numbers[0]], cwd, 1, ["modified outside of pennyweight"])
report("cli/invoice")
