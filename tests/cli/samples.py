"""Every sample of a bill in tests/data, through the program: each row is taken, set aside with a
reason, or skipped with a reason, and the imported rows add up to the provider's own column."""
import csv
import decimal
import io
import json
import pathlib
import re
import subprocess
from decimal import Decimal

from harness import ROOT, SQL_TOOL, expect, expect_run, folder, report, run

decimal.getcontext().prec = 60
DATA = pathlib.Path(ROOT) / "tests" / "data"


def rows_of(path):
    """The rows of a CSV file by the line on which each begins."""
    text = io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")
    reader = csv.reader(text)
    header = next(reader)
    rows, begin = {}, reader.line_num + 1
    for row in reader:
        if row:
            rows[begin] = dict(zip(header, row))
        begin = reader.line_num + 1
    return rows


def number(text):
    """Of a native column: 0 where it is empty, and with a comma where that is the point."""
    return Decimal(text.replace(",", ".") or "0")


def column(*names):
    def cost(row):
        return number(next(row[name] for name in names if name in row))
    return cost


def google(row):
    credits = json.loads(row["credits"]) if row.get("credits", "") not in ("", "[]") else []
    return number(row["cost"]) + sum((Decimal(str(each["amount"])) for each in credits), Decimal(0))


def amazon(row):
    """A Savings Plan pays for the use that it covers, which is billed by its fees."""
    if row["lineItem/LineItemType"].startswith("SavingsPlanNegation"):
        return Decimal(0)
    return number(row["lineItem/UnblendedCost"])


def table(cwd, statement, name):
    done = subprocess.run([SQL_TOOL, "pennyweight.duckdb",
                           f"COPY ({statement}) TO '{name}' (HEADER)"], cwd=cwd,
                          capture_output=True, timeout=60)
    expect(done.returncode == 0, f"{statement}: {done.stderr.decode()}")
    return list(csv.DictReader((cwd / name).read_text().splitlines()))


class Imported:
    """What became of one file in a ledger of its own."""

    def __init__(self, path, options=()):
        self.path = path
        self.cwd = folder()
        self.code, self.out, self.err = run(["import", "--allow-aside", *options, str(path)], self.cwd)
        self.rows = rows_of(path) if path.suffix == ".csv" else {}
        self.refusal = ""
        self.taken, self.aside, self.passed = set(), {}, 0
        self.lines, self.billed = 0, Decimal(0)
        if self.code != 0:
            self.refusal = self.err.split(": ", 3)[-1].split("; the header has")[0].strip()
            return
        self.format = self.out.splitlines()[0].split("  ")[-1]
        out, _ = expect_run(["export", "charges", "--out", "charges.csv"], self.cwd)
        with open(self.cwd / "charges.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.taken.add(int(row["file_line"]))
                self.billed += Decimal(row["billed_cost"])
                self.lines += 1
        for row in table(self.cwd, "SELECT line, column_name, reason FROM rejected_rows",
                         "aside.csv"):
            self.aside[int(row["line"])] = row["reason"]
        found = re.findall(r"([\d,]+) rows? (?:was|were) skipped", self.out)
        self.passed = sum(int(count.replace(",", "")) for count in found)

    def native_sum(self, cost):
        return sum((cost(self.rows[line]) for line in self.taken), Decimal(0))


def check(name, cost, options=(), aside=0, passed=0, billed=None):
    """All rows are accounted for. `billed`: where it is not the sum of the native column."""
    got = Imported(DATA / name, options)
    expect(got.code == 0, f"{name}: {got.err}")
    expect(not got.taken & set(got.aside), f"{name}: a row is taken and set aside")
    expect(got.taken | set(got.aside) <= set(got.rows), f"{name}: rows that are not in the file")
    expect(len(got.taken) + len(got.aside) + got.passed == len(got.rows),
           f"{name}: {len(got.rows)} rows, {len(got.taken)} taken, {len(got.aside)} set aside, "
           f"{got.passed} skipped")
    expect(len(got.aside) == aside, f"{name}: {len(got.aside)} rows set aside, want {aside}")
    expect(all(got.aside.values()), f"{name}: a row is set aside without a reason")
    expect(got.passed == passed, f"{name}: {got.passed} rows skipped, want {passed}")
    want = got.native_sum(cost) if billed is None else Decimal(billed)
    expect(got.billed == want, f"{name}: billed {got.billed}, the file has {want}")
    print(f"{name}: {got.format}; {len(got.rows)} rows, {len(got.taken)} taken as {got.lines} "
          f"lines, {len(got.aside)} set aside, {got.passed} skipped; billed {got.billed}")


def check_example(path):
    """The specification's worked tables are parts of bills. Those that lack what every bill has are
    refused as a whole, by name of the columns; completed, each row of them is taken."""
    name = str(path.relative_to(DATA))
    got = Imported(path)
    if got.code != 0:
        expect(got.code == 1 and "missing columns: " in got.err, f"{name}: {got.code}, {got.err}")
        print(f"{name}: {len(got.rows)} rows, refused as a whole: {got.refusal}")
        return False
    check(name, column("BilledCost"), aside=len(got.aside))
    return not got.aside


if __name__ == "__main__":
    focus = column("BilledCost")
    check("aws/legacy_koku.csv", amazon)
    check("aws/legacy_focus_converters.csv", amazon)
    azure = column("CostInBillingCurrency", "costInBillingCurrency", "PreTaxCost (PreTaxCost)")
    check("azure/enterprise_2020.csv", azure, aside=5)  # its currency is called MC
    check("azure/enterprise_2021.csv", azure)
    check("azure/enterprise_2023.csv", azure)
    check("azure/pay_as_you_go_german.csv", azure)
    check("gcp/gcp_2022-08-01_5.csv", google)
    check("oci/oci_cost_report_head.csv", column("cost/myCost"))
    check("focus/official_1_0_sample.csv", focus)
    for provider in ["aws", "azure", "gcp"]:
        for version in ["1_2", "1_3"]:
            check(f"focus/{provider}_{version}.csv", focus)
    for name in ["scenarios_correction_set", "scenarios_sca_equal"]:
        check_example(DATA / "focus" / f"{name}.csv")
    examples = sorted((DATA / "focus" / "spec_examples").iterdir())
    expect(len(examples) == 26, f"{len(examples)} examples of the specification")
    whole = [path.name for path in examples if check_example(path)]
    expect(whole == [], f"{whole} are bills as they stand")
    # Two of them have a row whose charge period ends at 30 o'clock (2023-02-01T30:00:00Z).
    late = {"commitment_discount_purchase_scenario_2.csv",
              "commitment_discount_purchase_scenario_3.csv"}
    for path in sorted((DATA / "focus" / "spec_examples_completed").iterdir()):
        expect(check_example(path) != (path.name in late), f"{path.name}, completed")
    report("cli/samples")
