"""What a single value must look like: the format attributes of FOCUS, sentence by sentence.

Every function takes a text and returns nothing when it conforms, or the words for what is wrong.
"""
import functools
import json
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation

# NumericFormat: digits, one point, a minus and no plus, scientific notation as mEn.
_NUMERIC = re.compile(r"-?\d+(\.\d+)?(E-?\d+)?")
# DateTimeFormat: YYYY-MM-DDTHH:mm:ssZ.
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
# UnitFormat: a unit, a unit per interval, a unit times an interval, each with a whole number.
_WORD = r"[A-Za-z][A-Za-z0-9]*(?: [A-Za-z][A-Za-z0-9]*)*"
_UNIT = re.compile(rf"(?:\d+ )?({_WORD})(?:-({_WORD})|/(?:\d+ )?({_WORD}))?")
_LISTED_UNITS = (
    "b Kb Mb Gb Tb Pb Eb B KB MB GB TB PB EB Kib Mib Gib Tib Pib Eib KiB MiB GiB TiB PiB EiB "
    "Year Month Day Hour Minute Second Years Months Days Hours Minutes Seconds "
    "Count Unit Request Token Connection Certificate Domain Core "
    "Counts Units Requests Tokens Connections Certificates Domains Cores").split()
_LISTED = set(_LISTED_UNITS)
_LISTED_WORDS = {unit.lower(): unit for unit in _LISTED_UNITS if len(unit) > 3}
# ISO 4217, list one without funds, metals and test codes, and what left it since 2015.
CURRENCIES = set((
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP "
    "BYN BYR BZD CAD CDF CHF CLP CNY COP CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD "
    "FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY "
    "KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRO "
    "MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON "
    "RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT "
    "TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VEF VES VND VUV WST XAF XCD XCG XOF XPF YER "
    "ZAR ZMW ZWG ZWL").split())


class JsonNumber(Decimal):
    """A number of a JSON text that still knows how it was written."""

    def __new__(cls, raw):
        number = super().__new__(cls, raw)
        number.raw = raw
        return number


class NotJson(ValueError):
    pass


def _unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise NotJson("a key stands twice")
    return dict(pairs)


def _refuse(word):
    raise NotJson(f"{word} is no JSON number")


@functools.lru_cache(maxsize=200_000)
def parse_json(text):
    """The value, numbers exact. NotJson says why not."""
    try:
        return json.loads(text, parse_float=JsonNumber, parse_int=JsonNumber,
                          parse_constant=_refuse, object_pairs_hook=_unique)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NotJson(f"no JSON: {error}") from None


def kind_of(value):
    """The name that the rule models give a JSON value's type."""
    if value is None:
        return "Null"
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, JsonNumber):
        return "Decimal"
    return {str: "String", dict: "Object", list: "Array"}[type(value)]


@functools.lru_cache(maxsize=200_000)
def decimal(text):
    """A Decimal, or None when the text is no finite number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and text == text.strip() else None


@functools.lru_cache(maxsize=200_000)
def numeric(text):
    return None if _NUMERIC.fullmatch(text, 0) and text.isascii() else "is not in numeric format"


@functools.lru_cache(maxsize=200_000)
def date_time(text):
    if not _DATE_TIME.fullmatch(text) or not text.isascii():
        return "is not YYYY-MM-DDTHH:mm:ssZ"
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return "is no moment that exists"
    return None


@functools.lru_cache(maxsize=200_000)
def string(text):
    """NullHandling and StringHandling: what one value can show of them."""
    if text.strip() == "":
        return "is blank where null is meant"
    if text in ("NULL", "null", "Not Applicable", "N/A", "None"):
        return "stands for null"
    if "\ufffd" in text or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        return "holds what is no Unicode text"
    return None


@functools.lru_cache(maxsize=10_000)
def unit(text):
    match = _UNIT.fullmatch(text)
    if not match:
        return "is not in unit format"
    for name in match.groups():
        for word in (name or "").split():
            if word not in _LISTED and _LISTED_WORDS.get(word.lower(), word) != word:
                return f"writes {_LISTED_WORDS[word.lower()]} as {word}"
            if not word[0].isupper() and word not in _LISTED:
                return f"does not begin {word} with a capital"
    return None


def currency(text):
    return None if text in CURRENCIES else "is no code of ISO 4217"


def currency_or_virtual(text):
    """Until 1.3 a virtual currency is any text; what looks like a code must be one."""
    if re.fullmatch(r"[A-Za-z]{3}", text):
        return currency(text)
    return string(text)


@functools.lru_cache(maxsize=200_000)
def key_value(text):
    try:
        value = parse_json(text)
    except NotJson as error:
        return str(error)
    return flat_object(value)


def flat_object(value):
    if not isinstance(value, dict):
        return "is no JSON object"
    for key, member in value.items():
        if isinstance(member, (dict, list)):
            return f"nests under {key}"
    return None


@functools.lru_cache(maxsize=200_000)
def json_object(text):
    """JsonObjectFormat: arrays of one type, without repetition and without null."""
    try:
        value = parse_json(text)
    except NotJson as error:
        return str(error)
    if not isinstance(value, dict):
        return "is no JSON object"
    return _arrays(value)


def _arrays(value):
    if isinstance(value, dict):
        members = value.values()
    elif isinstance(value, list):
        members = value
        kinds = {kind_of(member) for member in value}
        if "Null" in kinds:
            return "holds null in an array"
        if len(kinds) > 1:
            return "mixes types in an array"
        if len({repr(member) for member in value}) != len(value):
            return "repeats an element of an array"
    else:
        return None
    return next((wrong for wrong in map(_arrays, members) if wrong), None)


_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\*|\d+)\]")


@functools.lru_cache(maxsize=1000)
def path_steps(path):
    """ "$.Elements[*].Unit" as ("Elements", "*", "Unit")."""
    steps, at = [], 1
    while at < len(path):
        match = _STEP.match(path, at)
        if path[0] != "$" or not match:
            raise ValueError(f"a JSON path that nobody reads: {path}")
        steps.append(match[1] if match[1] is not None else
                     "*" if match[2] == "*" else int(match[2]))
        at = match.end()
    return tuple(steps)


def values_at(value, steps):
    """The values at a path, as (there, value): a key that is missing gives (False, None)."""
    if not steps:
        return [(True, value)]
    step, rest = steps[0], steps[1:]
    if step == "*":
        if not isinstance(value, list):
            return [(False, None)]
        return [found for member in value for found in values_at(member, rest)]
    if isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            return [(False, None)]
        return values_at(value[step], rest)
    if not isinstance(value, dict) or step not in value:
        return [(False, None)]
    return values_at(value[step], rest)
