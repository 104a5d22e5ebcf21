"""The program's own FOCUS exports, judged: every version, CSV and Parquet, with their bill and
their metadata; those of each provider's own bill, generated and real; and what is planted in them
is found.

Called as the tests of the command line are: export_test.py BINARY ROOT SQL_TOOL.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE))

import json

import model as models
import rules
import table as tables
from harness import ROOT, SQL_TOOL, expect, expect_run, folder, import_all, report


def export(cwd, version, kind, rows):
    name = f"{rows}-{version}.{kind}"
    expect_run(["export", "focus", "--month", "2026-03", "--focus-version", version,
                "--format", kind, "--rows", rows, "--out", name], cwd)
    with open(cwd / (name + ".metadata.json"), encoding="utf-8") as file:
        return tables.read(str(cwd / name), SQL_TOOL), json.load(file)


def broken(version, table, bill, metadata=None):
    return {outcome.rule for outcome in
            rules.judge(version, table, metadata=metadata, origin=bill)
            if outcome.status == "failed"}


def as_published(version, table):
    """The rules that are broken as the published model has them, without any exception."""
    return {models.plain(outcome.rule): outcome for outcome in rules.judge(version, table)
            if outcome.status in ("failed", "contradiction")}


def encoded(rule):
    where = f"where {json.dumps(rule.condition)}: " if rule.condition else "in every row: "
    return where + json.dumps(rule.check)


def expect_quoted(version, found, text):
    """Each such rule is quoted in focus-conformance.md with the text that it contradicts, both word for word."""
    model = models.load(version)
    by_name = {models.plain(rule_id): rule for rule_id, rule in model.rules.items()}
    for name in found:
        block = text.split(f"**{name}** (")[1:]
        expect(block and version in block[0].split(")")[0], f"{version}: {name} fails and is not in the document")
        if not block:
            continue
        quoted = block[0].split("\n**")[0].split("\n## ")[0]
        expect(encoded(by_name[name]) in quoted, f"{version}: {name}: its check is quoted otherwise")
        expect(by_name[name].sentence in quoted, f"{version}: {name}: its sentence is quoted otherwise")
        against = quoted.split("* against it, ")[1]
        if not against.startswith("its own sentence"):
            other = by_name[against.split(":")[0]]
            expect(encoded(other) in against and other.sentence in against, f"{version}: {name}: the other text")


def usage(row):
    return row["ChargeCategory"] == "Usage"


def part(row):
    return row.get("AllocatedResourceId") is not None


def change(where, **values):
    def plant(rows):
        next(row for row in rows if where(row)).update(values)
    return plant


# What is planted in an export of 1.3 and 1.4, and the end of the name of a rule that finds it.
PLANTED = (
    ("a cost that is null", change(usage, BilledCost=None), ("BilledCost-C-003-M",
                                                             "BilledCost-null")),
    ("a cost as C++ prints it", change(usage, EffectiveCost="1e-06"), ("EffectiveCost-C-002-M",
                                                                       "EffectiveCost-format")),
    ("a local time", change(usage, ChargePeriodStart="2026-03-01T00:00:00+01:00"),
     ("ChargePeriodStart-C-002-M", "ChargePeriodStart-format")),
    ("a category of its own", change(usage, ChargeCategory="GPU"), ("ChargeCategory-C-003-M",
                                                                   "ChargeCategory-allowed")),
    ("an owner without name", change(part, AllocatedResourceName=None),
     ("AllocatedResourceName-C-005-C",)),
    ("a key of its own", change(part, AllocatedMethodDetails='{"Elements":[{"AllocatedRatio":1,'
                                                            '"Team":"a"}]}'),
     ("AllocatedMethodDetailsObject-O-009-C",)),
    ("ratios that do not add up",
     change(part, AllocatedMethodDetails='{"Elements":[{"AllocatedRatio":0.987654321}]}'),
     ("own-Split-Ratios",)),
    ("a nested tag", change(part, AllocatedTags='{"a":{"b":1}}'), ("AllocatedTags-C-001-M",
                                                                  "AllocatedTags-format")),
    ("a part in another region", change(part, RegionId="elsewhere", RegionName="Elsewhere"),
     ("own-Split-Dimensions",)),
    ("a part at another price", change(part, ListUnitPrice="123.0"), ("own-Split-Dimensions",)),
    ("a part of nothing", change(part, x_OriginChargeId=None), ("own-Split-Origin",)),
    ("a lost row", lambda rows: rows.remove(next(filter(part, rows))), ("own-Split-Ratios",)),
    ("a tick", change(usage, ListCost="0.000000000000000001"), ("own-Bill-Totals",)),
)


# Every form in which a provider sends a bill, as the generator makes it.
FORMS = (
    ("aws-cur",), ("aws-cur2", "--edp", "net"), ("azure-actual",),
    ("azure-amortized", "--agreement", "mca"), ("gcp-csv",), ("oci",))
# Bills that were really sent, and the official sample of 1.0, which breaks rules on purpose.
REAL = (
    ("aws/legacy_koku.csv", "2023-06"), ("aws/legacy_focus_converters.csv", "2023-11"),
    ("azure/enterprise_2021.csv", "2021-05"), ("azure/enterprise_2023.csv", "2023-09"),
    ("azure/pay_as_you_go_german.csv", "2021-02"), ("gcp/gcp_2022-08-01_5.csv", "2022-08"),
    ("oci/oci_cost_report_head.csv", "2023-11"), ("focus/official_1_0_sample.csv", "2024-09"),
    ("focus/spec_examples_completed/saas_spend_agreements_a2.csv", "2025-04"),
    ("focus/spec_examples_completed/virtual_currency_pricing_model_a2.csv", "2025-04"),
)


def expect_no_findings(cwd, month, what, document, versions):
    """No rule is broken, nor as published but where a quotation says why. `versions`: of 1.4 as
    allocated too."""
    for version in versions:
        bill, lines = None, None
        for kind in ("charges", "allocated") if version == "1.4" else ("charges",):
            expect_run(["export", "focus", "--month", month, "--focus-version", version,
                        "--rows", kind, "--out", "judged.csv"], cwd)
            with open(cwd / "judged.csv.metadata.json", encoding="utf-8") as file:
                described = json.load(file)
            table = tables.read(str(cwd / "judged.csv"), SQL_TOOL)
            found = broken(version, table, bill, described)
            expect(found == set(), f"{what}, {kind}, {version}: {sorted(found)}")
            found = as_published(version, table)
            expect(not found or version != "1.4", f"{what}: 1.4 as published: {sorted(found)}")
            expect_quoted(version, found, document)
            if kind == "charges":
                bill, lines = table, len(table.rows)
        expect(lines, f"{what}: nothing is exported")


def expect_providers(document):
    for form, *options in FORMS:
        cwd = folder()
        bill = "bill.json" if form == "gcp-json" else "bill.csv"
        expect_run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to",
                    "2026-03-31", "--prices-as-of", "2026-07-20", "--as", form, *options, "--out",
                    bill], cwd)
        expect_run(["import", "--allow-aside", "--cluster", "lab", "nodes.csv", "jobs.txt", bill],
                   cwd)
        expect_run(["allocate"], cwd)
        expect_no_findings(cwd, "2026-03", " ".join([form, *options]), document,
                           ("1.2", "1.3", "1.4"))
    for name, month in REAL:
        cwd = folder()
        expect_run(["import", "--allow-aside", str(pathlib.Path(ROOT) / "tests" / "data" / name)],
                   cwd)
        expect_no_findings(cwd, month, name, document, ("1.4",))


def main():
    cwd = folder()
    import_all(cwd)
    expect_run(["allocate", "--month", "2026-03"], cwd)
    document = (pathlib.Path(ROOT) / "docs" / "bills" / "focus-conformance.md").read_text(encoding="utf-8")
    for version in ("1.2", "1.3", "1.4"):
        for kind in ("csv", "parquet"):
            bill, described = export(cwd, version, kind, "charges")
            expect(broken(version, bill, None, described) == set(), f"charges {version} {kind}")
            table, described = export(cwd, version, kind, "allocated")
            found = broken(version, table, bill, described)
            expect(found == set(), f"allocated {version} {kind}: {sorted(found)}")
            expect(len(table.rows) > len(bill.rows), f"{version} {kind}: nothing is divided")
            for one in (bill, table):
                found = as_published(version, one)
                expect(not found or version != "1.4", f"1.4 as published: {sorted(found)}")
                expect_quoted(version, found, document)
        if version == "1.2":
            continue
        for what, plant, names in PLANTED:
            rows = [dict(row) for row in table.rows]
            plant(rows)
            planted = tables.Table(table.columns, rows)
            found = broken(version, planted, bill)
            expect(any(rule.endswith(names) for rule in found),
                   f"{version}: {what}: {sorted(found)}")
    expect_providers(document)
    report("focus exports")


if __name__ == "__main__":
    main()
