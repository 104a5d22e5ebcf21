"""Split cost allocation (FOCUS 1.3 and 1.4): what no model can check, as it takes several rows.

An origin charge is a line of the bill; allocated charges are the rows that stand for it. They share
x_OriginChargeId. The specification's sentences (DataGeneratorCalculatedSplitCostAllocationHandling
and the Allocated columns): summable metrics add up to the origin's, everything else equals it, the
ratios of all elements of all rows add up to 1, and what is not allocated has no resource. All sums
are exact.
"""
from decimal import Decimal, localcontext

import formats
from file_rules import outcome

ORIGIN = "x_OriginChargeId"
SUMMABLE = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "PricingQuantity",
            "ConsumedQuantity", "CommitmentDiscountQuantity", "PricingCurrencyEffectiveCost")
COSTS = SUMMABLE[:4]
ALLOCATED = ("AllocatedMethodId", "AllocatedMethodDetails", "AllocatedResourceId",
             "AllocatedResourceName", "AllocatedTags")
# Costs and quantities are counted in units of 10^-18.
TICK = Decimal(1).scaleb(-18)
# How far a part may be from its ratio, of the whole and at all: ratios are written with fewer
# digits than amounts, and each posting of a part is cut at a tick. Sums are compared with ==.
OF_THE_WHOLE = Decimal(1).scaleb(-12)
AT_ALL = Decimal(1).scaleb(-12)


def outcomes(model, table, origin=None):
    """Nothing for a file that is not divided, unless the bill that it divides is given."""
    divided = "AllocatedMethodId" in table.column_set and any(
        row["AllocatedMethodId"] is not None for row in table.rows)
    if not divided and origin is None:
        return []
    with localcontext() as context:
        context.prec = 100
        groups = _groups(table)
        found = [
            _of_null(table),
            _of_origin_id(table),
            _of_details(table),
            _of_ratios(groups, table),
            _of_one_ratio(groups, table),
            _of_dimensions(groups, table),
            _of_idle(groups, table),
            _of_names(table),
            _of_unique(groups, table),
            _of_tags(table),
        ]
        if origin is not None:
            found += _of_bill(groups, table, origin)
    return found


def _groups(table):
    """The rows of each origin charge that is divided."""
    groups = {}
    if ORIGIN in table.column_set:
        for at, row in enumerate(table.rows):
            if row.get("AllocatedMethodId") is not None and row[ORIGIN] is not None:
                groups.setdefault(row[ORIGIN], []).append(at)
    return groups


def _of_null(table):
    wrong = []
    for at, row in enumerate(table.rows):
        if row.get("AllocatedMethodId") is None:
            wrong += [f"{table.line(at)}: {name} without AllocatedMethodId" for name in ALLOCATED
                      if row.get(name) is not None]
    return outcome("own-Split-Null", "The Allocated columns MUST be null when a charge is not part "
                   "of a split.", wrong, len(table.rows))


def _of_origin_id(table):
    whole = {row.get(ORIGIN) for row in table.rows if row.get("AllocatedMethodId") is None}
    wrong = []
    for at, row in enumerate(table.rows):
        if row.get("AllocatedMethodId") is None:
            continue
        if row.get(ORIGIN) is None:
            wrong.append(f"{table.line(at)}: a part without {ORIGIN}")
        elif row[ORIGIN] in whole:
            wrong.append(f"{table.line(at)}: {row[ORIGIN]} is divided and also there whole")
    return outcome("own-Split-Origin", "Every part names its origin charge, and no origin charge "
                   "is there twice.", wrong, len(table.rows))


def _of_details(table):
    rows = [at for at, row in enumerate(table.rows) if row.get("AllocatedMethodId") is not None]
    wrong = [table.line(at) for at in rows if table.rows[at].get("AllocatedMethodDetails") is None]
    return outcome("own-Split-Details", "AllocatedMethodDetails SHOULD NOT be null when a charge "
                   "is part of a split.", wrong, len(rows), "SHOULD")


def ratios(row):
    """The ratios of all elements of a row; None when they can't be read."""
    text = row.get("AllocatedMethodDetails")
    if text is None:
        return None
    try:
        value = formats.parse_json(text)
    except formats.NotJson:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("Elements"), list):
        return None
    found = [element.get("AllocatedRatio") for element in value["Elements"]
             if isinstance(element, dict)]
    if any(not isinstance(ratio, formats.JsonNumber) for ratio in found):
        return None
    return found


def _of_ratios(groups, table):
    wrong = []
    for origin, rows in groups.items():
        parts = [ratios(table.rows[at]) for at in rows]
        if any(part is None for part in parts):
            wrong.append(f"{origin}: a row without readable ratios")
            continue
        total = sum(ratio for part in parts for ratio in part)
        if total != 1:
            wrong.append(f"{origin}: the ratios of {len(rows)} rows add up to {total}")
    return outcome("own-Split-Ratios", "The sum of AllocatedRatio over all elements of all charges "
                   "of one origin charge MUST be 1.", wrong, len(groups))


def _number(row, name):
    text = row.get(name)
    return None if text is None else formats.decimal(text)


def _of_one_ratio(groups, table):
    """Every summable column is cut by the row's own ratio."""
    wrong = []
    for origin, rows in groups.items():
        for name in SUMMABLE:
            if name not in table.column_set:
                continue
            values = [_number(table.rows[at], name) for at in rows]
            if all(value is None for value in values):
                continue
            if any(value is None for value in values):
                wrong.append(f"{origin}: {name} is null in some of its rows")
                continue
            total = sum(values)
            for at, value in zip(rows, values):
                parts = ratios(table.rows[at])
                if parts is None:
                    continue
                allowed = abs(total) * OF_THE_WHOLE + AT_ALL
                if abs(value - sum(parts) * total) > allowed:
                    wrong.append(f"{table.line(at)}: {name} {value} is not {sum(parts)} of {total}")
    return outcome("own-Split-OneRatio", "All summable metrics of a part are the same share of the "
                   "origin's.", wrong, sum(map(len, groups.values())))


def _of_dimensions(groups, table):
    names = [name for name in table.columns
             if not name.startswith("x_") and name not in SUMMABLE and name not in ALLOCATED]
    names += ["AllocatedMethodId"]
    wrong = []
    for origin, rows in groups.items():
        first = table.rows[rows[0]]
        for at in rows[1:]:
            differs = [name for name in names if table.rows[at][name] != first[name]]
            if differs:
                wrong.append(f"{table.line(at)}: {', '.join(differs)} unlike {table.line(rows[0])} "
                             f"of {origin}")
    return outcome("own-Split-Dimensions", "Dimensions and unit prices of all parts of an origin "
                   "charge MUST match.", wrong, sum(map(len, groups.values())))


def _of_idle(groups, table):
    wrong = []
    for origin, rows in groups.items():
        idle = [at for at in rows if table.rows[at].get("AllocatedResourceId") is None]
        if len(idle) > 1:
            wrong.append(f"{origin}: {len(idle)} rows without AllocatedResourceId")
    return outcome("own-Split-Idle", "What is not allocated of an origin charge is one row.", wrong,
                   len(groups))


def _of_names(table):
    names = ("AllocatedResourceId", "AllocatedResourceName")
    wrong = [table.line(at) for at, row in enumerate(table.rows)
             if len({row.get(name) is None for name in names}) > 1]
    return outcome("own-Split-Names", "AllocatedResourceName is null exactly when "
                   "AllocatedResourceId is.", wrong, len(table.rows))


def _of_unique(groups, table):
    wrong = []
    for origin, rows in groups.items():
        ids = [table.rows[at].get("AllocatedResourceId") for at in rows]
        twice = sorted({one for one in ids if one is not None and ids.count(one) > 1})
        wrong += [f"{origin}: {one}" for one in twice]
    return outcome("own-Split-Unique", "AllocatedResourceId SHOULD be unique within its origin "
                   "charge.", wrong, len(groups), "SHOULD")


def _object(text):
    try:
        value = formats.parse_json(text) if text else {}
    except formats.NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def _of_tags(table):
    wrong = []
    for at, row in enumerate(table.rows):
        tags = _object(row.get("Tags"))
        twice = sorted(key for key, value in _object(row.get("AllocatedTags")).items()
                       if key in tags and tags[key] == value)
        if twice:
            wrong.append(f"{table.line(at)}: {', '.join(twice)}")
    return outcome("own-Split-Tags", "AllocatedTags MUST NOT include resource tags already present "
                   "in Tags.", wrong, len(table.rows))


# Against the bill ---------------------------------------------------------------------------------

def _totals(rows, names):
    totals = {}
    for row in rows:
        key = tuple(row.get(name) for name in ("BillingCurrency", "BillingPeriodStart"))
        sums = totals.setdefault(key, {name: Decimal(0) for name in names})
        for name in names:
            sums[name] += _number(row, name) or 0
    return totals


def _of_bill(groups, table, origin):
    names = [name for name in SUMMABLE
             if name in table.column_set and name in origin.column_set]
    here, there = _totals(table.rows, names), _totals(origin.rows, names)
    wrong = [f"{key}: {here.get(key)} here, {there.get(key)} in the bill"
             for key in sorted(set(here) | set(there), key=str) if here.get(key) != there.get(key)]
    found = [outcome("own-Bill-Totals", "Per currency and billing period every summable metric "
                     "adds up to the bill's.", wrong, len(there))]
    if ORIGIN in origin.column_set and ORIGIN in table.column_set:
        found += _line_by_line(table, origin, names)
    return found


def _line_by_line(table, origin, names):
    parts = {}
    for at, row in enumerate(table.rows):
        parts.setdefault(row[ORIGIN], []).append(at)
    lines = {row[ORIGIN]: row for row in origin.rows}
    shared = [name for name in table.columns if name in origin.column_set
              and name not in SUMMABLE and name not in ALLOCATED]
    sums, same = [], []
    for key in [*lines, *(key for key in parts if key not in lines)]:
        rows = parts.get(key, [])
        if key not in lines or not rows:
            sums.append(f"{key}: {len(rows)} rows here, {int(key in lines)} in the bill")
            continue
        for name in names:
            total = sum((_number(table.rows[at], name) or Decimal(0)) for at in rows)
            if total != (_number(lines[key], name) or 0):
                sums.append(f"{key}: {name} adds up to {total}, the bill has {lines[key][name]}")
        for at in rows:
            differs = [name for name in shared if table.rows[at][name] != lines[key][name]]
            if differs:
                same.append(f"{table.line(at)}: {', '.join(differs)} unlike the bill's line {key}")
    return [
        outcome("own-Bill-Lines", "The parts of every line of the bill add up to it.", sums,
                len(lines)),
        outcome("own-Bill-Dimensions", "Every part says of its line what the bill says.", same,
                len(table.rows)),
    ]
