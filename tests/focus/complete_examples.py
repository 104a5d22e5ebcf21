#!/usr/bin/env python3
"""Completes the worked examples of the specification so that they are bills.

usage: complete_examples.py [--check]

The specification's tables show one point each. Fifteen have dates such as 4/1/25 and amounts such
as "$10,000.00 ", eleven leave out columns that every FOCUS file must have. What is done here, and
nothing else: dates and amounts are written as FOCUS writes them, `null` becomes nothing, and
columns that are missing are added: BillingCurrency USD, ListCost and ContractedCost 0.00. The
results lie in tests/data/focus/spec_examples_completed; --check compares them with what this makes
today.
"""
import csv
import io
import pathlib
import re
import sys
from decimal import Decimal

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "focus"
ADDED = (("BillingCurrency", "USD"), ("ListCost", "0.00"), ("ContractedCost", "0.00"))
_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{2})")


def completed(text):
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    header, rows = [name.strip().lstrip("\ufeff") for name in rows[0]], rows[1:]
    for name, value in ADDED:
        if name not in header:
            header.append(name)
            for row in rows:
                row.append(value)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_value(name, text) for name, text in zip(header, row, strict=True)])
    return out.getvalue()


def _value(name, text):
    text = text.strip()
    if text == "null":
        return ""
    day = _DAY.fullmatch(text)
    if day and (name.endswith("Start") or name.endswith("End")):
        return f"20{day[3]}-{int(day[1]):02}-{int(day[2]):02}T00:00:00Z"
    if name.endswith(("Cost", "Price", "Quantity")):
        return text.replace("$", "").replace(",", "")
    return text


def main(check):
    folder = DATA / "spec_examples_completed"
    folder.mkdir(exist_ok=True)
    differs = 0
    for source in sorted((DATA / "spec_examples").glob("*.csv")):
        text = completed(source.read_text(encoding="utf-8"))
        target = folder / source.name
        if check:
            same = target.exists() and target.read_text(encoding="utf-8") == text
            differs += not same
            if not same:
                print(f"{target}: is not what the example gives; run {__file__}")
            continue
        target.write_text(text, encoding="utf-8")
        _tell(source.stem, text)
    return 1 if differs else 0


def _tell(name, text):
    """The figures that src/ingest/bills/focus/spec_examples_test.cc expects."""
    rows = list(csv.DictReader(io.StringIO(text)))
    sums = [sum((Decimal(row[column]) for row in rows), Decimal(0)).normalize()
            for column in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")]
    bought = sum((Decimal(row["BilledCost"]) for row in rows
                  if row["ChargeCategory"] == "Purchase"), Decimal(0))
    print(name, len(rows), [f"{one:f}" for one in sums], f"purchases {bought:f}")


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
