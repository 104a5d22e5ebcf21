"""What a file as a whole must be: its header, its lines, its periods, its metadata.

These are sentences of FOCUS that the models call dynamic but that a file does show. Their ids begin
with "own-".
"""
import re

import formats
from evaluate import ROWS_SHOWN, Outcome

_CUSTOM = re.compile(r"x_[A-Z][A-Za-z0-9]*")


def outcomes(model, table):
    return [
        _of_lines(table),
        _of_names(model, table),
        _of_custom_names(table),
        _of_repeated(table),
        _of_order(model, table),
        _of_period("ChargePeriod", table),
        _of_period("BillingPeriod", table),
        _of_commitment_resource(table),
        _of_price_details(table),
    ]


def outcome(rule, sentence, wrong, judged, keyword="MUST"):
    status = "passed" if not wrong else "failed" if keyword.startswith("MUST") else "advice"
    return Outcome(rule, status, sentence, keyword, judged, wrong[:ROWS_SHOWN], len(wrong))


def _of_lines(table):
    return outcome("own-Lines", "Every line has as many fields as the header.",
                   [f"line {line}" for line in table.ragged], len(table.rows) + len(table.ragged))


def _of_names(model, table):
    wrong = [name for name in table.columns
             if name not in model.columns and not name.startswith("x_")]
    return outcome("own-ColumnNames", "A column is one of FOCUS in this version or begins with x_.",
                   wrong, len(table.columns))


def _of_custom_names(table):
    custom = [name for name in table.columns if name.startswith("x_")]
    wrong = [name for name in custom if not _CUSTOM.fullmatch(name) or len(name) > 50]
    return outcome("own-CustomColumnNames",
                   "Custom columns SHOULD be Pascal case after x_ and of at most 50 characters.",
                   wrong, len(custom), "SHOULD")


def _of_repeated(table):
    wrong = sorted({name for name in table.columns if table.columns.count(name) > 1})
    return outcome("own-ColumnsOnce", "No column stands twice.", wrong, len(table.columns))


def _of_order(model, table):
    """1.4: FOCUS columns first, then custom ones, each in alphabetical order; before 1.4 only the
    first half."""
    standard = [name for name in table.columns if name in model.columns]
    custom = [name for name in table.columns if name not in model.columns]
    wrong = [] if table.columns == standard + custom else ["custom columns among those of FOCUS"]
    if model.version == "1.4":
        if standard != sorted(standard):
            wrong.append("FOCUS columns not in alphabetical order")
        if custom != sorted(custom):
            wrong.append("custom columns not in alphabetical order")
    return outcome("own-ColumnOrder", "FOCUS columns SHOULD come first, then custom columns.",
                   wrong, len(table.columns), "SHOULD")


def _of_period(name, table):
    start, end = name + "Start", name + "End"
    wrong = []
    for at, row in enumerate(table.rows):
        # The format is fixed, so texts are in the order of time.
        if row.get(start) and row.get(end) and row[start] >= row[end]:
            wrong.append(f"{table.line(at)}: {row[start]} to {row[end]}")
    return outcome(f"own-{name}", f"{end} is exclusive, so it is after {start}.", wrong,
                   len(table.rows))


def _of_commitment_resource(table):
    wrong = []
    for at, row in enumerate(table.rows):
        commitment = row.get("CommitmentDiscountId")
        itself = (row.get("ChargeCategory") == "Purchase"
                  or row.get("CommitmentDiscountStatus") == "Unused")
        if commitment is not None and itself and row.get("ResourceId") != commitment:
            wrong.append(f"{table.line(at)}: ResourceId={row.get('ResourceId')!r}, "
                         f"CommitmentDiscountId={commitment!r}")
    return outcome("own-CommitmentResource", "CommitmentDiscountId MUST be equal to ResourceId of "
                   "the purchase and of the unused portion of a commitment.", wrong,
                   len(table.rows))


# FOCUS-defined properties of SkuPriceDetails and what their values are.
_PRICE_DETAILS = {
    "CoreCount": "Decimal", "DiskMaxIops": "Decimal", "DiskSpace": "Decimal", "DiskType": "String",
    "GpuCount": "Decimal", "InstanceType": "String", "InstanceSeries": "String",
    "MemorySize": "Decimal", "NetworkMaxIops": "Decimal", "NetworkMaxThroughput": "Decimal",
    "OperatingSystem": "String", "Redundancy": "String", "StorageClass": "String"}


def _of_price_details(table):
    wrong = []
    for at, row in enumerate(table.rows):
        try:
            details = formats.parse_json(row.get("SkuPriceDetails") or "{}")
        except formats.NotJson:
            continue  # FormatKeyValue says so
        for key, value in details.items() if isinstance(details, dict) else ():
            kind = _PRICE_DETAILS.get(key)
            if kind is None and not key.startswith("x_"):
                wrong.append(f"{table.line(at)}: {key} is neither of FOCUS nor begins with x_")
            elif kind is not None and value is not None and formats.kind_of(value) != kind:
                wrong.append(f"{table.line(at)}: {key} is no {kind}")
    return outcome("own-SkuPriceDetails", "Properties of SkuPriceDetails MUST begin with x_ or be "
                   "of FOCUS, with values of their type.", wrong, len(table.rows))


_DATA_TYPES = {"STRING", "DECIMAL", "DATETIME", "JSON"}


def metadata_outcomes(model, table, metadata):
    """The schema object of FOCUS metadata: what it must say, and that it describes this file."""
    missing = [key for key in ("SchemaId", "CreationDate", "FocusVersion", "ColumnDefinition")
               if not metadata.get(key)]
    version = [] if metadata.get("FocusVersion") == model.version else [
        f"FocusVersion {metadata.get('FocusVersion')!r} for a file of {model.version}"]
    definitions = metadata.get("ColumnDefinition") or []
    described = [entry.get("ColumnName") for entry in definitions]
    differs = [name for name in table.columns if name not in described]
    differs += [f"{name} is described and not there" for name in described
                if name not in table.column_set]
    types = [str(entry.get("ColumnName")) for entry in definitions
             if str(entry.get("DataType", "")).upper().replace("/", "") not in _DATA_TYPES]
    return [
        outcome("own-Metadata-Schema", "The schema has an id, a date, a version and columns.",
                missing, 4),
        outcome("own-Metadata-Version", "The metadata is of the file's version.", version, 1),
        outcome("own-Metadata-Columns", "The metadata describes the columns of the file.", differs,
                len(table.columns)),
        outcome("own-Metadata-Types", "Every column is described with its data type.", types,
                len(described)),
    ]
