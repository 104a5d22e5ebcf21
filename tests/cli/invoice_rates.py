"""Internal rates on invoices: a rate per GPU-hour that changes within the month, a markup, a discount with a floor, in
two currencies, with credits, a refund and tax; the same as PDF, and profitability by client. Every sum is computed here
from the ledger's own report, with fractions, and compared with ==."""
import csv
import io
import json
import shutil
import subprocess
from decimal import Decimal, getcontext
from fractions import Fraction

from harness import BILL, BINARY, expect, expect_run, folder, report, run

getcontext().prec = 80
CONFIG = """
policy:
  version: 1
  spread:
    - {kind: unallocated, how: proportional}
    - {kind: shared, how: even, dimension: team}
invoice:
  prefix: NW
  by: team
  terms_days: 30
  tax: {name: VAT, percent: 19}
  issuer: {name: Northwind Compute Ltd, address: [4 Harbour Road, 5003 Bergen], tax_id: NO 999}
  customers:
    nlp: {name: "NLP Gruppe Überlingen", address: [Hauptstraße 1], contact: accounts@nlp.example}
  note: Payment by bank transfer.
  rates:
    - {client: nlp, to: 2026-03-15, currency: USD, rate: 4.2}
    - {client: nlp, from: 2026-03-16, currency: USD, rate: 4.5}
    - {client: nlp, currency: EUR, rate: 3.9}
    - {client: nlp, markup: 10}
    - {client: search, discount: 5, floor: 0.25, currency: USD}
    - {client: search, discount: 5, floor: 0.2, currency: EUR}
"""
MARCH = ["invoice", "--month", "2026-03"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def documents(cwd, *options):
    return json.loads(expect_run([*MARCH, *options, "--format", "json"], cwd)[0])


cwd = folder()
(cwd / "pennyweight.yaml").write_text(CONFIG, encoding="utf-8")
expect_run(BILL, cwd)
bill = rows_of((cwd / "bill.csv").read_text())
plain = [row for row in bill if row["ChargeCategory"] == "Usage" and row["ChargeClass"] == ""
         and row["PricingCategory"] == "Standard" and row["ResourceId"].startswith("i-")]
euros = [dict(row, BillingCurrency="EUR", InvoiceId="EUR-1", ServiceName="Managed nodes") for row in plain[:5]]
refund = dict(plain[6], ChargeClass="Correction", ChargeDescription="Refund", SkuPriceId="", SkuPriceDetails="",
              PricingCategory="", ListUnitPrice="", ContractedUnitPrice="", PricingQuantity="", PricingUnit="",
              ConsumedQuantity="", ConsumedUnit="")
for column in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"):
    refund[column] = "-12.50"
credit = dict(refund, ChargeCategory="Credit", ChargeClass="", ChargeDescription="Goodwill")
write(cwd / "more.csv", [*euros, refund, credit])
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv", "more.csv"], cwd)
expect_run(["allocate"], cwd)

books = documents(cwd, "--books")
sums = {}
for one in books:
    shown = [Decimal(line["amount_shown"]) for section in one["sections"] for line in section["lines"]]
    exact = [Decimal(line["amount"]) for section in one["sections"] for line in section["lines"]]
    cost = [Decimal(line.get("cost", line["amount"])) for section in one["sections"] for line in section["lines"]]
    expect(sum(shown) == Decimal(one["net_shown"]), f"{one['customer']}: the lines shown are the net")
    expect(sum(exact) == Decimal(one["net"]), f"{one['customer']}: the lines are the net")
    proof = one["reconciliation"]
    if one["kind"] != "not_charged":
        expect(sum(cost) == Decimal(proof["this_invoice"]), "the costs are what reconciles")
        has_rates = any("cost" in line for section in one["sections"] for line in section["lines"])
        expect(has_rates == (one["customer"] in ("nlp", "search")), f"{one['customer']}: rates {has_rates}")
        expect(Decimal(one.get("margin", "0")) == Decimal(one["net"]) - sum(cost), "the margin is net less cost")
    expect(Decimal(proof["difference"]) == 0, "with the others, the cost is the bill")
    sums[one["customer"], one["currency"]] = (Decimal(one["net_shown"]), sum(cost))
    tax = Decimal(one["tax"]["amount_shown"]) if one["tax"] else Decimal(0)
    expect(Decimal(one["net_shown"]) + tax == Decimal(one["total_shown"]), "net and tax are the total")

# A rate times its hours is the amount, to the last digit.
seen = set()
for one in books:
    for section in one["sections"]:
        for line in section["lines"]:
            pricing = line.get("pricing", "")
            if not pricing.endswith("per GPU-hour") or "at least" in pricing:
                continue
            rate = Fraction(pricing.split(" ")[0])
            hours = Fraction(int(line["quantity"]["part"]), int(line["quantity"]["whole"])) \
                if line["quantity"]["kind"] == "gpu_hours" else Fraction(0)
            want = rate * hours
            off = abs(Fraction(Decimal(line["amount"])) - want)
            expect(off <= Fraction(60, 2 * 10**18), f"{line['description']}: {line['amount']}, want {float(want)}")
            seen.add((one["currency"], str(pricing.split(" ")[0])))
expect(seen == {("USD", "4.2"), ("USD", "4.5"), ("EUR", "3.9")}, f"all three rates are used: {seen}")

# Credits and the refund are lines of their own.
text, _ = expect_run([*MARCH, "--books"], cwd, 0, ["Usage corrected: ", "Credit on", "cost ", "Margin: its net"])

# The client sees what it pays, and nothing of cost, rates in words or margins.
for one in documents(cwd):
    expect("reconciliation" not in one and "margin" not in one, "no books")
    for section in one["sections"]:
        for line in section["lines"]:
            expect("cost" not in line and "pricing" not in line, "no cost beside a line")
client, _ = expect_run(MARCH, cwd)
for word in ("markup", "Margin", "cost 1", "at least", "econciliation"):
    expect(word not in client, f"the client's view says '{word}'")

# Profitability is the same sums.
tables = json.loads(expect_run(["invoice", "profitability", "--month", "2026-03", "--format", "json"], cwd)[0])
for table in tables:
    for row in table["rows"]:
        revenue, cost, margin = (Decimal(row[name]) for name in ("revenue", "cost", "margin"))
        expect(revenue - cost == margin, "margin is revenue less cost")
        if row["team"] != "(not charged)":
            expect((revenue, cost) == sums[row["team"], table["currency"]], f"{row['team']} {table['currency']}")
    total = table["total"]
    reconciled = json.loads(expect_run(["reconcile", "--month", "2026-03", "--format", "json"], cwd)[0])
    expect(any(Decimal(total["cost"]) == Decimal(str(value)) for entry in [json.dumps(reconciled)]
               for value in [total["cost"]] if total["cost"] in entry), "the cost is the bill's")
expect_run(["invoice", "profitability"], cwd, 2, ["--month"])

# As PDF: one document to standard output or a folder of them, the same bytes each time.
expect_run([*MARCH, "--format", "pdf"], cwd, 2, ["--out"])
expect_run([*MARCH, "--format", "pdf", "--out", "pdf"], cwd)
expect_run([*MARCH, "--format", "pdf", "--books", "--out", "books"], cwd)
first = {path.name: path.read_bytes() for path in (cwd / "pdf").iterdir()}
expect_run([*MARCH, "--format", "pdf", "--out", "pdf"], cwd)
expect(first == {path.name: path.read_bytes() for path in (cwd / "pdf").iterdir()}, "the same bytes")
expect(all(data.startswith(b"%PDF-") for data in first.values()) and len(first) >= 3, f"PDF: {list(first)}")
if shutil.which("pdftotext"):
    drafts = [one for one in books if one["kind"] != "not_charged"]
    for name, one in zip(sorted(first), drafts):
        words = subprocess.run(["pdftotext", "-layout", str(cwd / "pdf" / name), "-"], check=True,
                               capture_output=True).stdout.decode()
        flat = " ".join(words.replace("\u2212", "-").split())
        for amount in (one["net_shown"], one["tax"]["amount_shown"], one["total_shown"]):
            shown = f"{Decimal(amount):,}"
            expect(shown in flat, f"{name}: no {shown} in\n{words}")
        expect("econciliation" not in flat and "markup" not in flat, "the client's PDF has no books")
        expect("DRAFT" in flat and "page 1 of" in flat, "drafts say so, pages are numbered")
        if one["customer"] == "nlp":
            expect("Überlingen" in flat and "Hauptstraße" in flat, f"letters beyond ASCII: {flat[:200]}")
    name = sorted(path.name for path in (cwd / "books").iterdir())[0]
    words = subprocess.run(["pdftotext", "-layout", str(cwd / "books" / name), "-"], check=True,
                           capture_output=True).stdout.decode()
    expect("Reconciliation" in words and "Margin" in words, "the books' PDF has them")
# A font that lacks a letter, or is not there, is an error and no empty box.
(cwd / "pennyweight.yaml").write_text(CONFIG.replace("NLP Gruppe Überlingen", "株式会社"), encoding="utf-8")
code, _, err = run([*MARCH, "--format", "pdf", "--customer", "nlp", "--out", "pdf"], cwd)
expect(code == 1 and "has no '株'" in err and "invoice.font" in err, f"no glyph: {code} {err}")
(cwd / "pennyweight.yaml").write_text(CONFIG + "  font: nothing.ttf\n", encoding="utf-8")
expect_run([*MARCH, "--format", "pdf", "--customer", "nlp", "--out", "pdf"], cwd, 1, ["nothing.ttf", "fonts-dejavu"])

# Rates that contradict themselves are refused with their line.
for wrong, said in (("{client: a, rate: 1}", "needs its currency"), ("{client: a}", "needs a rate, markup"),
                    ("{rate: 1, markup: 2, currency: USD}", "not both"), ("{tier: gold, markup: 1}", "invoice.tier"),
                    ("{markup: 1, from: 2026-03-02, to: 2026-03-01}", "ends before"),
                    ("{markup: 1, from: March}", "invoice.rates[].from"), ("{discount: 101}", "discount")):
    (cwd / "pennyweight.yaml").write_text(f"invoice:\n  rates:\n    - {wrong}\n")
    expect_run(MARCH, cwd, 2, [said, "pennyweight.yaml:"])
(cwd / "pennyweight.yaml").write_text(CONFIG.split("  rates:")[0] + "  rates:\n    - {currency: USD, rate: 2}\n",
                                      encoding="utf-8")
expect_run(MARCH, cwd, 2, ["cost in EUR", "the rates that fit it are in USD"])

# Issued, and issued again after the rate changed: the difference, with its reason.
(cwd / "pennyweight.yaml").write_text(CONFIG, encoding="utf-8")
expect_run(["close", "2026-03", "--by", "ann"], cwd)
expect_run([*MARCH, "--issue"], cwd, 0, ["0 issued before"])
expect_run([*MARCH, "--issue"], cwd, 0, ["0 issued now"])
(cwd / "pennyweight.yaml").write_text(CONFIG.replace("rate: 4.5", "rate: 4.6"), encoding="utf-8")
expect_run([*MARCH, "--issue"], cwd, 2, ["--reason"])
expect_run([*MARCH, "--issue", "--reason", "new contract"], cwd, 0, ["1 issued now", "Supplementary invoice"])
total = {}
for one in documents(cwd, "--books"):
    if one["kind"] != "not_charged":
        key = one["customer"], one["currency"]
        total[key] = total.get(key, Decimal(0)) + Decimal(one["net_shown"])
tables = json.loads(expect_run(["invoice", "profitability", "--month", "2026-03", "--format", "json"], cwd)[0])
for table in tables:
    for row in table["rows"]:
        if row["team"] != "(not charged)":
            expect(total[row["team"], table["currency"]] == Decimal(row["revenue"]), f"what was issued is what is owed: {row}")
    expect(any("issued document" in note for note in table["notes"]), f"whose net it is: {table['notes']}")
# A rate that fits nothing is said, and a reason that is not needed.
(cwd / "pennyweight.yaml").write_text(CONFIG.replace("rate: 4.5", "rate: 4.6").replace(
    "  rates:", "  rates:\n    - {client: nobody, markup: 3}", 1), encoding="utf-8")
expect_run([*MARCH, "--issue", "--reason", "x"], cwd, 0,
           ["entry 1 of invoice.rates (client nobody) decides no amount of 2026-03", "the reason is not used"])
number = "NW-2026-03-0001"
pdf = subprocess.run([BINARY, "invoice", "show", number, "--format", "pdf"], cwd=cwd, capture_output=True, check=True)
expect(pdf.stdout.startswith(b"%PDF-"), "show gives a PDF")
report("cli/invoice_rates")
