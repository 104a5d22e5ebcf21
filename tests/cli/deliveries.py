"""The same month of every provider delivered again in every way that providers and people have: the
money in the ledger is what the last delivery says, or the delivery is refused with the amount.

The truth is added up here, from the provider's own cost column. The table in docs/bills/deliveries.md
is what this script finds: it is compared word for word.
"""
import csv
import decimal
import gzip
import io
import json
import pathlib
import re
import shutil
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report, run

decimal.getcontext().prec = 60
SPAN = ["--from", "2026-03-01", "--to", "2026-03-04", "--prices-as-of", "2026-08-15"]
MACHINES = {
    "aws": ("us-east-1", "p4d.24xlarge", "A100-SXM4-40GB", 8, 96, 1152),
    "azure": ("eastus", "Standard_ND96asr_v4", "A100-SXM4-40GB", 8, 96, 900),
    "gcp": ("us-central1", "a2-highgpu-8g", "A100-SXM4-40GB", 8, 96, 680),
    "oci": ("", "BM.GPU4.8", "A100-SXM4-40GB", 8, 128, 2048),
}


def machine_id(cloud, cluster, number):
    name = f"node-{number:02}"
    return {"aws": f"aws:///us-east-1a/i-0aa{number:014x}",
            "azure": "azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/"
                     f"RG-{cluster}/providers/Microsoft.Compute/virtualMachines/{name}",
            "gcp": f"gce://lab-project/us-central1-a/{name}",
            "oci": f"ocid1.instance.oc1.iad.{number:032x}"}[cloud]


def gcp_cost(row):
    credits = json.loads(row["credits"] or "[]")
    return Decimal(row["cost"]) + sum((Decimal(str(c["amount"])) for c in credits), Decimal(0))


# How a provider's bill is made and read here: the machines, the form, a second form, what import
# must be told, the cost by row, which of the ledger's costs that is, and its columns.
PROVIDERS = {
    "AWS CUR": dict(cloud="aws", form=["--as", "aws-cur"], other=["--as", "aws-cur2"], options=[],
                    cost=lambda row: Decimal(row["lineItem/UnblendedCost"]),
                    ledger="billed_cost", amount="lineItem/UnblendedCost",
                    invoice="bill/InvoiceId", tag="resourceTags/user:team",
                    text="lineItem/LineItemDescription", account="lineItem/UsageAccountId"),
    "Azure": dict(cloud="azure", form=["--as", "azure-amortized"],
                  other=["--as", "azure-actual"], other_options=["--azure-metric", "actual"],
                  options=["--azure-metric", "amortized"],
                  cost=lambda row: Decimal(row["CostInBillingCurrency"]),
                  ledger="effective_cost", amount="CostInBillingCurrency",
                  invoice=None, tag="Tags", text="ProductName", account="SubscriptionId"),
    "Google Cloud": dict(cloud="gcp", form=["--as", "gcp-csv"], other=["--as", "gcp-json"],
                         options=[], cost=gcp_cost, ledger="billed_cost", amount="cost",
                         invoice=None, tag="labels", text="sku.description",
                         account="project.id"),
    "Oracle": dict(cloud="oci", form=["--as", "oci"], other=[], options=[],
                   cost=lambda row: Decimal(row["cost/myCost"]), ledger="billed_cost",
                   amount="cost/myCost", invoice=None, tag="tags/team",
                   text="product/Description", account="product/compartmentId"),
    "FOCUS": dict(cloud="aws", form=[], other=["--as", "aws-cur"], options=[],
                  cost=lambda row: Decimal(row["BilledCost"]), ledger="billed_cost",
                  amount="BilledCost", invoice="InvoiceId", tag="Tags",
                  text="ChargeDescription", account="SubAccountId"),
}
MONEY = re.compile(r"-?[0-9][0-9,]*\.[0-9]{2,} [A-Z]{3}")


class Bill:
    """A bill as rows of texts, written down in any way."""

    def __init__(self, text):
        self.header, *self.rows = csv.reader(io.StringIO(text))

    def dicts(self):
        return [dict(zip(self.header, row)) for row in self.rows]

    def text(self, rows=None, end="\n", header=None):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator=end)
        writer.writerow(header or self.header)
        writer.writerows(self.rows if rows is None else rows)
        return out.getvalue()

    def changed(self, column, change):
        at = self.header.index(column)
        copy = Bill(self.text())
        for number, row in enumerate(copy.rows):
            row[at] = change(row[at], number)
        return copy


def make(cwd, provider, form, name):
    region, kind, model, gpus, vcpu, memory = MACHINES[provider["cloud"]]
    lines = ["cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,"
             "memory_gib,from,to"]
    for number in range(4):
        cluster = f"cluster-{number % 2 + 1}"
        lines.append(f"{cluster},node-{number:02},{machine_id(provider['cloud'], cluster, number)},"
                     f"{kind},{region},gpu,{model},{gpus},{vcpu},{memory},2026-01-01T00:00:00Z,")
    (cwd / "nodes.csv").write_text("\n".join(lines) + "\n")
    expect_run(["generate", "bill", "--nodes", "nodes.csv", *SPAN, *form, "--out", name], cwd)
    return (cwd / name).read_text()


def in_ledger(cwd, column, store="pennyweight.duckdb"):
    """What the ledger says of all months together."""
    charges = cwd / "charges.out"
    code, _, _ = run(["--store", store, "export", "charges", "--out", charges.name], cwd)
    if code != 0:
        return Decimal(0)
    with open(charges, newline="", encoding="utf-8") as file:
        total = sum((Decimal(row[column]) for row in csv.DictReader(file)), Decimal(0))
    charges.unlink()
    return total


class Cells:
    """One provider's row of the table."""

    def __init__(self, name):
        self.name, self.provider = name, PROVIDERS[name]
        self.cells = {}
        self.count = 0
        cwd = folder()
        self.ledger = None  # of the first import
        self.bill = Bill(make(cwd, self.provider, self.provider["form"], "bill.csv"))
        self.other = (make(cwd, self.provider, self.provider["other"], "other")
                      if self.provider["other"] else None)

    def truth(self, bill):
        return sum((self.provider["cost"](row) for row in bill.dicts()), Decimal(0))

    def fresh(self):
        cwd = folder()
        (cwd / "first.csv").write_text(self.bill.text())
        if self.ledger:
            shutil.copy(self.ledger, cwd / "pennyweight.duckdb")
            return cwd
        expect_run(["import", *self.provider["options"], "first.csv"], cwd)
        got = in_ledger(cwd, self.provider["ledger"])
        expect(got == self.truth(self.bill),
               f"{self.name}: the first import gives {got}, the truth is {self.truth(self.bill)}")
        self.ledger = cwd / "pennyweight.duckdb"
        return self.fresh()

    def take(self, what, files, bill, options=(), cwd=None, refused=False, remedy=None):
        """Imports; the ledger then says what `bill` says, or it is refused, with an amount, and the
        ledger is as it was. `remedy`: further options with which it is taken."""
        cwd = cwd or self.fresh()
        for name, content in files.items():
            path = cwd / name
            path.parent.mkdir(exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content, newline="")
        paths = sorted({name.split("/")[0] for name in files})
        arguments = ["import", *self.provider["options"], *options, *paths]
        code, out, err = run(arguments, cwd)
        got = in_ledger(cwd, self.provider["ledger"])
        before = self.truth(self.bill)
        if refused:
            expect(code == 1 and got == before and MONEY.search(err),
                   f"{self.name}, {what}: not refused with an amount: exit {code}, {before} then "
                   f"{got}\n{out}{err}")
            self.cells[what] = "refused, with the amount"
            if remedy is None:
                return
            code, out, err = run(["import", *self.provider["options"], *options, *remedy, *paths], cwd)
            got = in_ledger(cwd, self.provider["ledger"])
        want = self.truth(bill)
        expect(code == 0 and got == want,
               f"{self.name}, {what}: exit {code}, {got}, the truth is {want}\n{out}{err}")
        if not refused:
            self.cells[what] = "as before" if want == before else "the new total"
        return cwd

    def run(self):
        bill, provider = self.bill, self.provider
        rows = len(bill.rows)
        self.take("same again", {"first.csv": bill.text()}, bill)
        self.take("recompressed", {"again.csv.gz": gzip.compress(bill.text().encode())}, bill)
        self.take("CRLF", {"again.csv": bill.text(end="\r\n")}, bill)
        self.take("reordered", {"again.csv": bill.text(rows=bill.rows[::-1])}, bill)
        wider = Bill(bill.text())
        wider.header.append("x_Added")
        for number, row in enumerate(wider.rows):
            row.append(f"v{number}")
        self.take("columns added", {"again.csv": wider.text()}, bill)
        invoiced = (bill.changed(provider["invoice"], lambda old, _: (old or "") + "9")
                    if provider["invoice"] else bill.changed(provider["text"],
                                                            lambda old, _: old + " (invoiced)"))
        if self.name == "Azure":  # the column comes with the invoice
            invoiced.header.append("InvoiceId")
            for row in invoiced.rows:
                row.append("G0123456")
        self.take("invoice id filled", {"again.csv": invoiced.text()}, bill)
        if provider["tag"] in bill.header:
            tagged = bill.changed(provider["tag"], lambda old, _: "" if old else old)
            self.take("tags changed", {"again.csv": tagged.text()}, bill)
        halves = {"parts/1.csv": bill.text(rows=bill.rows[::2]),
                  "parts/2.csv": bill.text(rows=bill.rows[1::2])}
        self.take("in parts, one folder", halves, bill)
        self.in_two_commands()
        half = Bill(bill.text(rows=bill.rows[:rows // 2]))
        # Where a provider only adds rows and says which row is which, half a file is no loss: the
        # other half stays as it was.
        if self.only_adds():
            self.take("half", {"again.csv": half.text()}, bill)
            self.take("cut", {"again.csv": bill.text()[:len(bill.text()) // 2]}, bill, refused=True)
        else:
            # Of Google's rows only those of the delivered exports are replaced.
            remedy = None if self.name == "Google Cloud" else ["--confirm"]
            self.take("half", {"again.csv": half.text()}, half, refused=True, remedy=remedy)
            self.take("cut", {"again.csv": bill.text()[:len(bill.text()) // 2]}, bill, refused=True)
        self.differences()
        self.two_forms()
        self.per_account()
        corrected = bill.changed(provider["amount"],
                                 lambda old, number: str(Decimal(old or "0") + Decimal("0.25"))
                                 if number % 7 == 0 and Decimal(old or "0") else old)
        self.take("corrected", {"again.csv": corrected.text()}, corrected,
                  options=["--confirm"])
        cwd = self.fresh()
        expect_run(["allocate"], cwd)
        expect_run(["close", "2026-03", "--by", "ann", "--reason", "paid"], cwd)
        self.take("late after close", {"again.csv": corrected.text()}, corrected,
                  options=["--confirm"], cwd=cwd)
        self.cells["late after close"] += ", booked in April"
        return self.cells

    def only_adds(self):
        return self.name == "Oracle"

    def in_two_commands(self):
        what, bill = "in parts, two commands", self.bill
        cwd = folder()
        (cwd / "1.csv").write_text(bill.text(rows=bill.rows[::2]))
        (cwd / "2.csv").write_text(bill.text(rows=bill.rows[1::2]))
        options = self.provider["options"]
        named = ["--delivery-name", "march"]
        for place in (1, 2, 1, 2):
            expect_run(["import", *options, *named, "--part", f"{place}/2", f"{place}.csv"], cwd)
        got = in_ledger(cwd, self.provider["ledger"])
        expect(got == self.truth(bill), f"{self.name}, named parts: {got}, {self.truth(bill)}")
        # The whole month takes the place of its parts.
        self.take(what, {"whole.csv": bill.text()}, bill, cwd=cwd)
        # Without a name the second is not known to belong to the first.
        cwd = folder()
        first, second = bill.text(rows=bill.rows[::2]), bill.text(rows=bill.rows[1::2])
        (cwd / "1.csv").write_text(first)
        (cwd / "2.csv").write_text(second)
        expect_run(["import", *options, "1.csv"], cwd)
        code, out, err = run(["import", *options, "2.csv"], cwd)
        got = in_ledger(cwd, self.provider["ledger"])
        if code == 0:
            expect(got == self.truth(bill),
                   f"{self.name}, unnamed parts: {got}, the truth is {self.truth(bill)}\n{out}")
            self.cells[what] = "the sum, also unnamed"
        else:
            expect(MONEY.search(err) and got == self.truth(Bill(first)),
                   f"{self.name}, unnamed parts: {got}\n{err}")
            self.cells[what] = "the sum where named, else refused with the amount"

    def differences(self):
        """As files of differences, which add: the same lines in another packing add nothing."""
        what, bill, column = "as differences, recompressed", self.bill, self.provider["ledger"]
        cwd = folder()
        (cwd / "1.csv").write_text(bill.text())
        (cwd / "2.csv").write_text(bill.text(rows=bill.rows[::-1], end="\r\n"), newline="")
        (cwd / "3.csv.gz").write_bytes(gzip.compress(bill.text().encode()))
        for style in ("ledger", "delta"):
            for name in ("1.csv", "1.csv", "2.csv", "3.csv.gz"):
                expect_run(["--store", style, "import", *self.provider["options"], "--delivery",
                            style, name], cwd)
            got = in_ledger(cwd, column, style)
            expect(got == self.truth(bill), f"{self.name}, {style}: {got}, {self.truth(bill)}")
        self.cells[what] = "as before"

    def two_forms(self):
        what = "two forms"
        if self.other is None:
            self.cells[what] = "has one form"
            return
        cwd = self.fresh()
        before = in_ledger(cwd, self.provider["ledger"])
        (cwd / "other").write_text(self.other)
        code, out, err = run(["import", *self.provider.get("other_options", []), "other"], cwd)
        got = in_ledger(cwd, self.provider["ledger"])
        if code == 1:
            expect(got == before and MONEY.search(err),
                   f"{self.name}, two forms: refused without an amount\n{err}")
            self.cells[what] = "refused, with the amount"
        else:
            expect(got == before, f"{self.name}, two forms: {before}, then {got}\n{out}")
            self.cells[what] = "as before"

    def per_account(self):
        """Exports of single accounts, one after the other, and then the first of them again."""
        what, bill = "per account or subscription", self.bill
        at = bill.header.index(self.provider["account"])
        doubled = Bill(bill.text())
        for number, row in enumerate(doubled.rows):
            row[at] = ("77777777-1111-2222-3333-444444444444" if number % 2 else
                       "88888888-1111-2222-3333-444444444444")
        accounts = [[row for number, row in enumerate(doubled.rows) if number % 2 == odd]
                    for odd in (0, 1)]
        cwd = folder()
        for place, rows in enumerate([*accounts, accounts[0]]):
            (cwd / f"{place}.csv").write_text(doubled.text(rows=rows))
            code, out, err = run(["import", *self.provider["options"], f"{place}.csv"], cwd)
            expect(code == 0, f"{self.name}, {what}: {place}: {out}{err}")
        got = in_ledger(cwd, self.provider["ledger"])
        expect(got == self.truth(doubled),
               f"{self.name}, {what}: {got}, the truth is {self.truth(doubled)}")
        self.cells[what] = "the sum"


def check_open_books():
    """What is open about a month: rows aside, a wrong total, a missing part, a month that runs."""
    cwd = folder()
    header = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargeCategory,"
              "BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,"
              "ChargePeriodEnd,InvoiceIssuerName\n")

    def line(cost, kind="Usage", account="A", month="2026-03", day="06"):
        after = {"2026-03": "2026-04", "2099-03": "2099-04"}[month]
        return (f"{cost},{cost},{cost},{cost},USD,{kind},{account},{month}-01T00:00:00Z,"
                f"{after}-01T00:00:00Z,{month}-{day}T00:00:00Z,{month}-{day}T01:00:00Z,Acme\n")

    def close(code, has):
        expect_run(["allocate"], cwd)
        expect_run(["close", "2026-03", "--by", "ann", "--reason", "paid"], cwd, code, has)

    (cwd / "bill.csv").write_text(header + line("10.25") + line("4.50", day="99") +
                                  line("x1", "Usage"))
    expect_run(["import", "bill.csv"], cwd, 1,
               ["in the file: 3 rows; billed 14.75 USD", "taken: 1 row; billed 10.25 USD",
                "set aside: 2 rows; billed 4.50 USD", "1 row whose cost is not readable"])
    close(1, ["4.50 USD billed", "1 row whose cost is not readable"])
    expect_run(["reconcile"], cwd, 0, ["2 rows of bills set aside, 4.50 USD billed"])
    expect_run(["reconcile", "--provider"], cwd, 1, ["not checked against any total"])
    expect_run(["import", "aside"], cwd, 0, ["1.1", "1.2", "4.50 USD", "not readable"])
    expect_run(["import", "aside", "--dismiss", "1.2"], cwd, 2, ["--by and --reason"])
    expect_run(["import", "aside", "--dismiss", "1.2", "--by", "ann", "--reason", "a test line"], cwd)
    (cwd / "mended.csv").write_text(header + line("4.50"))
    expect_run(["import", "aside", "--mend", "1.1", "--with", "mended.csv", "--by", "ann"], cwd, 0,
               ["1 row mended: 1 bill line"])
    expect_run(["import", "aside"], cwd, 0, ["no row of a bill is aside"])
    (cwd / "totals.csv").write_text("provider,account,month,amount\nAcme,A,2026-03,14.76 USD\n")
    expect_run(["import", "totals.csv"], cwd, 0, ["1 total of the provider kept"])
    close(1, ["14.76 USD", "14.75 USD billed", "-0.01 USD apart"])
    expect_run(["reconcile", "--provider"], cwd, 1, ["14.76 USD", "-0.01 USD"])
    for wrong, said in (("2026-3,14.75 USD", "not a month"), ("2026-03,14.75", "not a currency"), ("2026-03,x USD", "no digits")):
        (cwd / "totals.csv").write_text(f"provider,account,month,amount\nAcme,A,{wrong}\n")
        expect_run(["import", "totals.csv"], cwd, 1, ["line 2", said, "no total of the file is kept"])
    (cwd / "totals.csv").write_text("provider,account,month,amount\nAcme,A,2026-03,14.75 USD\n")
    expect_run(["import", "totals.csv"], cwd)
    expect_run(["reconcile", "--provider"], cwd, 0, ["checked against 14.75 USD"])

    (cwd / "more.csv").write_text(header + line("7.00", account="B"))
    expect_run(["import", "--expect-total", "7.01 USD", "more.csv"], cwd, 1, ["-0.01 USD apart"])
    expect_run(["import", "--expect-total", "seven", "more.csv"], cwd, 2, ["1234.56 USD"])
    expect_run(["import", "--expect-total", "7 USD", "--delivery-name", "b", "--part", "1/2",
                "more.csv"], cwd)
    close(1, ["part 2 of 2 of the delivery b is missing", "7.00 USD billed"])
    # Named with another number of parts, the delivery takes its own place.
    expect_run(["import", "--delivery-name", "b", "--part", "1/3", "more.csv"], cwd)
    close(1, ["part 2 of 3 of the delivery b is missing", "7.00 USD billed"])
    expect_run(["import", "--delivery-name", "b", "--part", "1/2", "more.csv"], cwd)
    (cwd / "rest.csv").write_text(header + line("1.00", account="B"))
    expect_run(["import", "--delivery-name", "b", "--part", "2/2", "rest.csv"], cwd)
    close(0, ["checked against 14.75 USD"])

    (cwd / "runs.csv").write_text(header + line("3.00", month="2099-03"))
    expect_run(["import", "runs.csv"], cwd)
    expect_run(["allocate"], cwd)
    expect_run(["close", "2099-03", "--by", "ann"], cwd, 1, ["is not over", "--even-so"])
    expect_run(["close", "2099-03", "--by", "ann", "--even-so", "we are gone by then"], cwd, 0,
               ["before it was over: we are gone by then", "not checked against any total"])


def money_text(amount):
    """As messages write it: all digits, at least two of them behind the point."""
    whole, _, digits = f"{amount:,f}".partition(".")
    return f"{whole}.{digits.rstrip('0').ljust(2, '0')} USD"


def check_manifests():
    """A part that a manifest names and that is missing or cut refuses the delivery."""
    cwd = folder()
    bill = Bill(make(cwd, PROVIDERS["AWS CUR"], PROVIDERS["AWS CUR"]["form"], "bill.csv"))
    for name in ("aws", "azure"):
        (cwd / name).mkdir()
        (cwd / name / "m-1.csv").write_text(bill.text(rows=bill.rows[::2]))
    (cwd / "aws" / "m-Manifest.json").write_text(json.dumps(
        {"assemblyId": "a", "reportKeys": ["p/2026/a/m-1.csv", "p/2026/a/m-2.csv"]}))
    second = bill.text(rows=bill.rows[1::2])
    (cwd / "azure" / "manifest.json").write_text(json.dumps(
        {"blobs": [{"blobName": "x/m-1.csv"}, {"blobName": "x/m-2.csv",
                                               "byteCount": len(second.encode())}]}))
    for name in ("aws", "azure"):
        for path in (name, f"{name}/*.csv", f"{name}/m-1.csv"):
            held = sum(PROVIDERS["AWS CUR"]["cost"](row) for row in Bill(bill.text(rows=bill.rows[::2])).dicts())
            expect_run(["import", path], cwd, 1, ["m-2.csv is missing", "nothing was imported",
                                                  f"the 1 part here holds {money_text(held)} billed", "is not known"])
    (cwd / "azure" / "m-2.csv").write_text(second[:-40])
    expect_run(["import", "azure"], cwd, 1, ["the file is not complete", "fetch it again"])
    # A month that was delivered, and of whose later delivery a part is missing, can't be closed.
    truth = sum(PROVIDERS["AWS CUR"]["cost"](row) for row in bill.dicts())
    expect_run(["import", "bill.csv"], cwd, 0, ["in the file"])
    expect_run(["allocate"], cwd)
    for _ in range(2):
        expect_run(["import", "aws"], cwd, 1, [f"stay, with {money_text(truth)} billed"])
    _, err = expect_run(["report", "--by", "service"], cwd)
    expect("was allocated" not in err, f"what was refused is no fact: {err}")
    expect_run(["reconcile", "--provider"], cwd, 1, ["m-2.csv is missing", f"hold {money_text(held)}"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["can't be closed", "m-2.csv is missing", f"{money_text(held)}"])
    expect(in_ledger(cwd, "billed_cost") == truth, "a part was imported")
    (cwd / "aws" / "m-2.csv").write_text(second)
    expect_run(["import", "aws"], cwd, 0, ["as before"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 0, ["not checked against any total"])


def check_words_beside():
    """What people put beside bills to read is said and skipped."""
    cwd = folder()
    (cwd / "bills").mkdir()
    (cwd / "bills" / "bill.csv").write_text(make(cwd, PROVIDERS["FOCUS"], [], "bill.csv"))
    for name in ("README", "ReadMe.txt", "notes.md", ".DS_Store"):
        (cwd / "bills" / name).write_text("These are the bills of March.\n")
    _, err = expect_run(["import", "bills"], cwd, 0, ["README is skipped: it is not a bill"])
    expect("notes.md is skipped" in err, err)


def check_guard_is_configured():
    """`bills[].confirm_percent` and `confirm_amount` say from when on a person is asked."""
    header = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargeCategory,BillingAccountId,"
              "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,InvoiceIssuerName\n")

    def bill(costs):
        return header + "".join(
            f"{cost},{cost},{cost},{cost},USD,Usage,A,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
            f"2026-03-{day:02}T00:00:00Z,2026-03-{day:02}T01:00:00Z,Acme\n" for day, cost in enumerate(costs, 1))

    cwd = folder()
    (cwd / "a.csv").write_text(bill([100, 100]))
    (cwd / "b.csv").write_text(bill([100, 95]))
    for number, (keys, code) in enumerate((("", 0), (", confirm_percent: 2", 1), (", confirm_percent: 3", 0),
                                           (", confirm_amount: 4.99", 1), (", confirm_amount: 5", 0))):
        (cwd / "pennyweight.yaml").write_text(f"bills: [{{format: focus{keys}}}]\n")
        expect_run(["--store", f"g{number}", "import", "a.csv"], cwd)
        expect_run(["--store", f"g{number}", "import", "b.csv"], cwd, code,
                   ["5.00 USD", "--confirm"] if code else ["5.00 USD taken away"])


def check_staleness():
    """No figure is silently older than its facts; allocating again ends it, also where nothing changes."""
    cwd = folder()
    bill = Bill(make(cwd, PROVIDERS["FOCUS"], [], "bill.csv"))
    behind = "2026-03 was allocated at "
    expect_run(["import", "bill.csv"], cwd)
    expect_run(["reconcile"], cwd, 1, ["2026-03 has bill lines and was never allocated"])
    expect_run(["allocate"], cwd)
    _, err = expect_run(["report", "--by", "service"], cwd)
    expect("was allocated" not in err, f"nothing came since: {err}")
    for what, name, text in (("later bill", "again.csv", bill.changed("InvoiceId", lambda old, _: "7").text()),
                             ("machines", "nodes.csv", (cwd / "nodes.csv").read_text())):
        (cwd / name).write_text(text)
        expect_run(["import", name], cwd)
        for words in (["report", "--by", "service"], ["invoice", "--month", "2026-03"],
                      ["export", "focus", "--month", "2026-03", "--out", "focus.csv"]):
            _, err = expect_run(words, cwd)
            expect(behind in err and name in err and "allocate --month 2026-03" in err, f"{what}, {words}: {err}")
        expect_run(["allocate"], cwd)
        _, err = expect_run(["report", "--by", "service"], cwd)
        expect("was allocated" not in err, f"{what}, allocated: {err}")
    expect_run(["import", "again.csv"], cwd)
    _, err = expect_run(["report", "--by", "service"], cwd)
    expect("was allocated" not in err, f"the same again changes nothing: {err}")
    # What is aside is beside the difference of an invoice's reconciliation.
    (cwd / "odd.csv").write_text(bill.text(rows=bill.rows[:-1] + [["?" if title == "ChargePeriodStart" else cell for
                                                                   title, cell in zip(bill.header, bill.rows[-1])]]))
    expect_run(["import", "--allow-aside", "--confirm", "odd.csv"], cwd)
    expect_run(["allocate"], cwd)
    expect_run(["invoice", "--month", "2026-03", "--books"], cwd, 0, ["Set aside, not in the bill: 1 row"])


def check_clouds():
    """Accounts of two clouds with one number: both bills stand, and each is replaced by its own."""
    cwd = folder()
    truth = {}
    for name in ("AWS CUR", "Oracle"):
        provider = PROVIDERS[name]
        bill = Bill(make(cwd, provider, provider["form"], f"{provider['cloud']}.csv"))
        truth[f"{provider['cloud']}.csv"] = sum(provider["cost"](row) for row in bill.dicts())
    bill = Bill(make(cwd, PROVIDERS["Azure"], ["--as", "azure-actual"], "azure.csv"))
    truth["azure.csv"] = sum(Decimal(row["CostInBillingCurrency"]) for row in bill.dicts())
    total = sum(truth.values())
    for _ in range(2):
        for name in truth:
            out, _ = expect_run(["import", "--azure-metric", "actual", name], cwd)
            expect("account 466626164790" in out, f"{name} has another account")
    got = in_ledger(cwd, "billed_cost")
    expect(got == total, f"three clouds: {got}, the truth is {total}")


def check_other_resources():
    """A bill of other machines of an account is no later version of it, though it costs more."""
    cwd = folder()
    bill = Bill(make(cwd, PROVIDERS["FOCUS"], [], "bill.csv"))
    resource = bill.header.index("ResourceId")
    machines = sorted({row[resource] for row in bill.rows if "i-0aa" in row[resource]})
    expect(len(machines) == 4, f"the bill has other machines: {machines}")
    few = [row for row in bill.rows if row[resource] == machines[0]]
    others = [[cell.replace(machines[0], "i-0bb0000000000000f") for cell in row] for row in few]
    (cwd / "few.csv").write_text(bill.text(rows=few))
    (cwd / "others.csv").write_text(bill.text(rows=others))
    truth = sum(Decimal(row["BilledCost"]) for row in Bill(bill.text(rows=few)).dicts())
    expect_run(["import", "few.csv"], cwd)
    expect_run(["import", "others.csv"], cwd, 1, ["resources that cost", "nothing was imported"])
    expect(in_ledger(cwd, "billed_cost") == truth, "other resources: the ledger has changed")
    both = Bill(bill.text(rows=few + others))
    (cwd / "both.csv").write_text(both.text())
    expect_run(["import", "both.csv"], cwd)
    truth = sum(Decimal(row["BilledCost"]) for row in both.dicts())
    expect(in_ledger(cwd, "billed_cost") == truth, "all resources: not their sum")


def check_table(found):
    page = (pathlib.Path(ROOT) / "docs" / "bills" / "deliveries.md").read_text()
    kinds = list(next(iter(found.values())))
    lines = ["| delivered | " + " | ".join(found) + " |", "|" + "---|" * (len(found) + 1)]
    for kind in kinds:
        lines.append(f"| {kind} | " +
                     " | ".join(cells.get(kind, "has none") for cells in found.values()) + " |")
    table = "\n".join(lines)
    expect(table in page, f"docs/bills/deliveries.md has another table than what was found:\n{table}")


if __name__ == "__main__":
    check_open_books()
    check_manifests()
    check_words_beside()
    check_guard_is_configured()
    check_staleness()
    check_clouds()
    check_other_resources()
    check_table({name: Cells(name).run() for name in PROVIDERS})
    report("cli/deliveries")
