"""The check functions of the FOCUS rule models, over rows of texts.

A check is a tree: a name, its arguments, perhaps further checks. `holds` answers it for one row;
the few that speak of the whole table (`TABLE_CHECKS`) are answered at once for all rows. A name
that is not in these tables is an error and never a pass, and so is an argument that is missing.

Null. As a condition a value check on null is plainly false. As a requirement it is not judged: that
a value may be missing is said by rules of their own. The models' own runner does the same.
"""
from decimal import Decimal

import formats

# A ledger that counts in 10^-18 cuts a share of money and a share of a quantity there, once for
# every posting that a share is made of. A product may miss so much, for a million postings a row.
ROUNDING = Decimal(1).scaleb(-12)


class UnknownCheck(Exception):
    """The model says something that this interpreter does not know."""


def argument(check, name):
    if name not in check:
        raise UnknownCheck(f"{check.get('CheckFunction')} without {name}: {check}")
    return check[name]


def column(check):
    """Two rules of 1.2 and 1.3 say CheckCondition where all others say ColumnName."""
    if "ColumnName" in check:
        return check["ColumnName"]
    return argument(check, "CheckCondition")


def same(text, value):
    """Whether a cell says what the model says; numbers by value."""
    if text is None or value is None:
        return text is None and value is None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = formats.decimal(text)
        return number is not None and number == Decimal(str(value))
    return text == value


def _format(judge):
    def check_format(check, row, _):
        text = row.get(column(check))
        return text is None or judge(text) is None
    return check_format


def _value(check, row, as_condition):
    text, value = row.get(column(check)), argument(check, "Value")
    if text is None and value is not None:
        return not as_condition
    return same(text, value)


def _not_value(check, row, _):
    return not same(row.get(column(check)), argument(check, "Value"))


def _same_value(check, row, _):
    return row.get(argument(check, "ColumnAName")) == row.get(argument(check, "ColumnBName"))


def _not_same_value(check, row, _):
    left = row.get(argument(check, "ColumnAName"))
    return left is None or left != row.get(argument(check, "ColumnBName"))


def _same_number(check, row, as_condition):
    texts = row.get(argument(check, "ColumnAName")), row.get(argument(check, "ColumnBName"))
    if None in texts:
        return not as_condition
    left, right = map(formats.decimal, texts)
    return left is not None and left == right


def _at_least(check, row, as_condition):
    text = row.get(column(check))
    if text is None:
        return not as_condition
    number = formats.decimal(text)
    return number is not None and number >= Decimal(str(argument(check, "Value")))


def _product(check, row, as_condition):
    """In exact numbers; see ROUNDING."""
    texts = [row.get(argument(check, name))
             for name in ("ColumnAName", "ColumnBName", "ResultColumnName")]
    if None in texts:
        return not as_condition
    price, quantity, cost = map(formats.decimal, texts)
    if None in (price, quantity, cost):
        return False
    return abs(price * quantity - cost) <= (abs(price) + 1) * ROUNDING


def _json(check, row, name="ColumnName"):
    """The parsed column and whether there is something to judge."""
    text = row.get(argument(check, name))
    if text is None:
        return None, False
    try:
        return formats.parse_json(text), True
    except formats.NotJson:
        return None, True


def _json_check(judge):
    """A check of every value at a path. `judge(check, there, value, steps)` answers for one."""
    def check_path(check, row, as_condition):
        value, there = _json(check, row)
        if not there:
            return not as_condition
        if value is None:
            return False
        steps = formats.path_steps(argument(check, "Path"))
        if isinstance(row, Element):
            steps = row.bound(steps)
        return all(judge(check, found, member, steps)
                   for found, member in formats.values_at(value, steps))
    return check_path


def _path_type(check, there, value, steps):
    expected = argument(check, "ExpectedType")
    if expected not in ("Array", "Object", "String", "Decimal"):
        raise UnknownCheck(f"a JSON type {expected}")
    if not there:
        return len(steps) > 1  # a key of an element may be missing; that is another rule's matter
    return value is None or formats.kind_of(value) == expected


def _path_prefix(check, there, value, _):
    if not there or not isinstance(value, dict):
        return False
    ignored = set(argument(check, "IgnoreKeys"))
    return all(key in ignored or key.startswith(argument(check, "Prefix")) for key in value)


def _path_value(check, there, value, _):
    wanted = argument(check, "Value")
    return (value if there else None) == wanted


def _path_text(judge):
    def check_text(_, there, value, __):
        return not there or value is None or (isinstance(value, str) and judge(value) is None)
    return check_text


def _path_numeric(_, there, value, __):
    if not there or value is None:
        return True
    return isinstance(value, formats.JsonNumber) and formats.numeric(value.raw) is None


def _path_same(check, row, as_condition):
    if argument(check, "PathB") is not None:
        raise UnknownCheck("JSONCheckPathSameValue with a second path")
    value, there = _json(check, row, "ColumnAName")
    if not there:
        return not as_condition
    if value is None:
        return False
    steps = formats.path_steps(argument(check, "PathA"))
    return all(found and member == row.get(argument(check, "ColumnBName"))
               for found, member in formats.values_at(value, steps))


def _all(check, row, as_condition):
    return all(holds(item, row, as_condition) for item in argument(check, "Items"))


def _any(check, row, as_condition):
    return any(holds(item, row, as_condition) for item in argument(check, "Items"))


ROW_CHECKS = {
    "AND": _all,
    "OR": _any,
    "CheckValue": _value,
    "CheckNotValue": _not_value,
    "CheckSameValue": _same_value,
    "CheckNotSameValue": _not_same_value,
    "CheckGreaterOrEqualThanValue": _at_least,
    "CheckDecimalValue": _format(lambda text: None if formats.decimal(text) is not None else "no"),
    "CheckNationalCurrency": _format(formats.currency),
    "ColumnByColumnEqualsColumnValue": _product,
    "FormatNumeric": _format(formats.numeric),
    "FormatDateTime": _format(formats.date_time),
    "FormatString": _format(formats.string),
    "FormatUnit": _format(formats.unit),
    "FormatCurrency": _format(formats.currency_or_virtual),
    "FormatKeyValue": _format(formats.key_value),
    "FormatJSON": _format(formats.json_object),
    "JSONCheckPathType": _json_check(_path_type),
    "JSONCheckPathKeyExists": _json_check(lambda check, there, value, steps: there),
    "JSONCheckPathKeyValueFormat": _json_check(
        lambda check, there, value, steps: there and formats.flat_object(value) is None),
    "JSONCheckPathKeyStartsWith": _json_check(_path_prefix),
    "JSONCheckPathValue": _json_check(_path_value),
    "JSONCheckPathNotValue": _json_check(lambda *args: not _path_value(*args)),
    "JSONCheckPathSameValue": _path_same,
    "JSONCheckPathNumericFormat": _json_check(_path_numeric),
    "JSONCheckPathUnitFormat": _json_check(_path_text(formats.unit)),
    "JSONFormatNumeric": _json_check(_path_numeric),
    "JSONFormatUnit": _json_check(_path_text(formats.unit)),
    "JSONFormatString": _json_check(_path_text(formats.string)),
    # Not of the models: what model.py says of 1.4.
    "CheckSameNumber": _same_number,
    "FormatNationalCurrency": _format(formats.currency),
}


def holds(check, row, as_condition=False):
    name = check.get("CheckFunction")
    if name not in ROW_CHECKS:
        raise UnknownCheck(f"the check function {name} in {check}")
    return ROW_CHECKS[name](check, row, as_condition)


class Element:
    """A row of which only one element of a JSON array is looked at.

    A rule that says "when UsageQuantity is there, UsageUnit must be" speaks of each element, and
    not of one element because of another.
    """

    def __init__(self, row, at):
        self.row = row
        self.at = at

    def get(self, name):
        return self.row.get(name)

    def bound(self, steps):
        return tuple(self.at if step == "*" else step for step in steps)


def element_column(check):
    """The JSON column over whose elements a check runs; nothing if it is not of that kind."""
    if not isinstance(check, dict):
        return None
    if str(check.get("CheckFunction", "")).startswith("JSON") and "[*]" in check.get("Path", ""):
        return check["ColumnName"]
    return next((name for name in map(element_column, check.get("Items", ())) if name), None)


def elements(row, name):
    """The row once for each element of the array Elements in its column `name`."""
    value, there = _json({"ColumnName": name}, row)
    if not there or not isinstance(value, dict) or not isinstance(value.get("Elements"), list):
        return []
    return [Element(row, at) for at in range(len(value["Elements"]))]


# Of the whole table. Each gives the rows at fault, of those that it is asked about.

def _type(kinds, judge):
    def check_type(check, table, rows):
        name = column(check)
        if table.types is not None:
            wrong = not table.types[name].startswith(kinds)
            return [at for at in rows if wrong]
        return [at for at in rows if table.rows[at][name] is not None
                and judge(table.rows[at][name]) is not None]
    return check_type


def _present(check, table, rows):
    if column(check) in table.column_set:
        return []
    return list(rows)[:1] or [-1]


def _distinct(check, table, rows):
    """For every value of A as many values of B as expected. Null counts beside values."""
    first, second = argument(check, "ColumnAName"), argument(check, "ColumnBName")
    seen = {}
    for at in rows:
        row = table.rows[at]
        if row.get(first) is not None:
            seen.setdefault(row[first], {}).setdefault(row.get(second), at)
    expected = argument(check, "ExpectedCount")
    return sorted(max(found.values()) for found in seen.values()
                  if len(found) != expected or None in found)


def _no_duplicates(check, table, rows):
    seen, wrong = set(), []
    for at in rows:
        text = table.rows[at].get(column(check))
        if text is not None and text in seen:
            wrong.append(at)
        seen.add(text)
    return wrong


def _distinct_parent(check, table, rows):
    """Every child value has as many parents as expected, over all rows."""
    parent = formats.path_steps(argument(check, "ParentPath"))
    child = formats.path_steps(argument(check, "ChildPath"))
    seen = {}
    for at in rows:
        for element in elements(table.rows[at], argument(check, "ColumnName")):
            value, _ = _json(check, element.row)
            (_, key), = formats.values_at(value, element.bound(child))
            (_, owner), = formats.values_at(value, element.bound(parent))
            if key is not None:
                seen.setdefault(key, {}).setdefault(owner, at)
    expected = argument(check, "ExpectedCount")
    return sorted(max(found.values()) for found in seen.values()
                  if len(found) != expected or None in found)


TABLE_CHECKS = {
    "ColumnPresent": _present,
    "CheckDistinctCount": _distinct,
    "CheckNoDuplicates": _no_duplicates,
    "JSONCheckPathDistinctParent": _distinct_parent,
    # Physical types in Parquet. A CSV has texts, which must read as what they stand for.
    "TypeString": _type(("VARCHAR",), lambda text: None),
    "TypeDecimal": _type(("DECIMAL", "DOUBLE", "FLOAT"),
                         lambda text: None if formats.decimal(text) is not None else "no number"),
    "TypeDateTime": _type(("TIMESTAMP",), formats.date_time),
}


def speaks_of_null(check):
    return ("Value" in check and check["Value"] is None) or any(
        map(speaks_of_null, check.get("Items", ())))


def columns_of(check):
    """The columns that a check reads."""
    names = {check[key] for key in ("ColumnName", "CheckCondition", "ColumnAName", "ColumnBName",
                                    "ResultColumnName") if key in check}
    for item in check.get("Items", ()):
        names |= columns_of(item)
    return names
