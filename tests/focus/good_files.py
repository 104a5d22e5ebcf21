"""Files that conform, made from the public samples, for tests to break.

The samples of 1.3 hold parts of origin charges whose other parts are not in the sample, so a good
file takes their whole charges and divides one of them anew.
"""
import csv
import io
import json
import pathlib
from decimal import Decimal

import allocation
import table as tables

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "data" / "focus"
# Three parts and what is left of a node, as ratios that add up to 1.
RATIOS = ("0.5", "0.25", "0.125", "0.125")


def sample(name):
    return tables.read(str(SAMPLES / name))


def good(version):
    """A conforming table of `version` with divided charges where the version has them."""
    if version == "1.2":
        return sample("aws_1_2.csv")
    base = sample("aws_1_3.csv")
    rows = [dict(row) for row in base.rows if row["AllocatedMethodId"] is None]
    columns = [*base.columns, allocation.ORIGIN]
    for at, row in enumerate(rows):
        row[allocation.ORIGIN] = f"charge-{at + 1}"
    divided = next(row for row in rows if row["ChargeCategory"] == "Usage"
                   and row["ConsumedQuantity"] is not None)
    rows += [_part(divided, at) for at in range(len(RATIOS))]
    rows.remove(divided)
    if version == "1.4":
        columns, rows = _as_1_4(columns, rows)
    return tables.Table(columns, rows, name=f"good {version}")


def bill(version):
    """The bill that good(version) divides."""
    divided = good(version)
    rows = {}
    for row in divided.rows:
        line = rows.setdefault(row[allocation.ORIGIN], {
            **row, **dict.fromkeys(allocation.ALLOCATED),
            **{name: None for name in allocation.SUMMABLE}})
        for name in allocation.SUMMABLE:
            if row[name] is not None:
                line[name] = str(Decimal(line[name] or 0) + Decimal(row[name]))
    return tables.Table(divided.columns, list(rows.values()), name=f"bill {version}")


def _part(origin, at):
    ratio = Decimal(RATIOS[at])
    part = dict(origin)
    for name in allocation.SUMMABLE:
        if origin[name] is not None:
            part[name] = f"{Decimal(origin[name]) * ratio:f}"
    idle = at == len(RATIOS) - 1
    part["AllocatedMethodId"] = "gpu-time"
    part["AllocatedMethodDetails"] = json.dumps({"Elements": [
        {"AllocatedRatio": float(ratio), "UsageUnit": "GPU-Hours", "UsageQuantity": at + 1.5}]})
    part["AllocatedResourceId"] = None if idle else f"cluster/job-{at}"
    part["AllocatedResourceName"] = None if idle else f"job-{at}"
    part["AllocatedTags"] = None if idle else json.dumps({"slurm/user": f"user{at}"})
    return part


def _as_1_4(columns, rows):
    gone = ("ProviderName", "PublisherName")
    columns = sorted(name for name in columns if name not in gone)
    columns = sorted([*(name for name in columns if not name.startswith("x_")), "InvoiceDetailId",
                      "CommitmentProgramEligibilityDetails"]) + [allocation.ORIGIN]
    for row in rows:
        row["InvoiceDetailId"] = None
        row["CommitmentProgramEligibilityDetails"] = None
    return columns, [{name: row[name] for name in columns} for row in rows]


def as_csv(table):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow(["" if row[name] is None else row[name] for name in table.columns])
    return out.getvalue()
