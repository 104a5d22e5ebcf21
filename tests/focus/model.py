"""The rules of a FOCUS version as one kind of thing, whatever they are written down as.

1.2 and 1.3 have a machine-readable requirements model: a tree of rules below one root. 1.4 has none
in reach, so its rules are put together here: the rules of 1.3 whose sentence the text of 1.4 still
says, the 1.4 table of columns (presence, type, nulls, allowed values, formats), and its schemas.

Some rules of the models contradict themselves or others. contradictions.txt names them, and
corrections.json says what they would be if they did what their sentence says; they are judged both
ways, and only the second counts.
"""
import copy
import functools
import gzip
import json
import pathlib
import re
from dataclasses import dataclass, field

import checks

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "focus_rules"
VERSIONS = ("1.2", "1.3", "1.4")
# Rules that say what is allowed; nothing can break them.
PERMISSIONS = ("MAY", "MAY NOT", "OPTIONAL")
ADVICE = ("SHOULD", "SHOULD NOT", "RECOMMENDED")


@dataclass
class Rule:
    id: str
    sentence: str
    keyword: str
    about: str                  # the column, where it is about one
    function: str               # Presence, Type, Format, Nullability, Validation, Composite
    check: dict                 # empty for a dynamic rule
    condition: dict = field(default_factory=dict)
    criteria: tuple = ()        # what must be supported for the rule to apply
    dynamic: bool = False       # needs knowledge that is in no file
    parts: tuple = ()           # ids of rules, of a composite
    removed: bool = False
    schema: dict = None         # 1.4: the JSON schema that the column must satisfy


@dataclass
class Contradiction:
    id: str
    versions: tuple
    against: str
    upstream: str
    reason: str


@dataclass
class Model:
    version: str
    root: str
    rules: dict                 # id to Rule, as the model has them
    corrected: dict             # id to Rule, of those that contradictions.txt names
    criteria: tuple
    columns: tuple              # all columns of FOCUS in this version


def plain(rule_id):
    """1.3 puts the dataset before an id that 1.2 has without."""
    return rule_id.removeprefix("CAU-")


@functools.lru_cache
def contradictions():
    found = []
    for line in (HERE / "contradictions.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, versions, against, upstream, reason = (part.strip() for part in line.split("|"))
            found.append(Contradiction(name, tuple(versions.split()), against, upstream, reason))
    return found


@functools.lru_cache
def load(version):
    if version == "1.4":
        return _load_1_4()
    return _load_model(version)


def _unpack(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def _load_model(version):
    raw = _unpack(f"model-{version}.json.gz")
    known = {entry.id for entry in contradictions() if version in entry.versions}
    rules = {}
    for rule_id, entry in raw["ModelRules"].items():
        rules[rule_id] = _rule(rule_id, entry, plain(rule_id) in known)
    corrections = json.loads((HERE / "corrections.json").read_text(encoding="utf-8"))
    corrected = {}
    for rule_id, rule in rules.items():
        if plain(rule_id) in known:
            corrected[rule_id] = _correct(rule, corrections[plain(rule_id)])
    missing = known - {plain(rule_id) for rule_id in corrected}
    if missing:
        raise checks.UnknownCheck(f"contradictions.txt names rules that {version} lacks: {missing}")
    root, = raw["ModelDatasets"]["CostAndUsage"]["ModelRules"]
    presence = [rule.check["ColumnName"] for rule in rules.values()
                if rule.check.get("CheckFunction") == "ColumnPresent" and _of_root(rule, version)]
    return Model(version, root, rules, corrected, tuple(raw["ApplicabilityCriteria"]),
                 tuple(dict.fromkeys(presence)))


def _of_root(rule, version):
    return version == "1.2" or rule.id.startswith("CAU-")


def _rule(rule_id, entry, contradicts):
    validation = entry["ValidationCriteria"]
    check, condition = validation["Requirement"], validation["Condition"]
    parts = _parts(check)
    if condition and "CheckFunction" not in condition:
        # {"AND": …} where {"CheckFunction": "AND", "Items": …} is meant. The models' own runner
        # sees no condition there.
        if not contradicts:
            raise checks.UnknownCheck(f"{rule_id}: a condition of unknown form: {condition}")
        condition = {}
    return Rule(id=rule_id, sentence=validation["MustSatisfy"], keyword=validation["Keyword"],
                about=entry["Reference"], function=entry["Function"], check=check,
                condition=condition, criteria=tuple(entry["ApplicabilityCriteria"]),
                dynamic=entry["Type"] == "Dynamic", parts=parts,
                removed=entry["Status"] == "Removed")


def _parts(check):
    """The rules that a composite consists of. A mixture of rules and checks is unknown."""
    if check.get("CheckFunction") == "CheckModelRule":
        return (check["ModelRuleId"],)
    if check.get("CheckFunction") not in ("AND", "OR"):
        return ()
    found = [_parts(item) for item in checks.argument(check, "Items")]
    if any(found) and not all(found):
        raise checks.UnknownCheck(f"rules and checks mixed: {check}")
    return tuple(part for parts in found for part in parts)


def _correct(rule, correction):
    result = copy.deepcopy(rule)
    if "Replace" in correction:
        text = json.dumps([result.check, result.condition])
        for old, new in correction["Replace"].items():
            text = text.replace(old, new)
        result.check, result.condition = json.loads(text)
    result.check = correction.get("Requirement", result.check)
    result.condition = correction.get("Condition", result.condition)
    result.dynamic = correction.get("Dynamic", result.dynamic)
    return result


# 1.4 ------------------------------------------------------------------------------------------

# What 1.4 took away, and what its schemas say better.
_GONE_IN_1_4 = ("ProviderName", "PublisherName")
_CRITERIA = {
    "Supports capacity reservations": ["CAPACITY_RESERVATION_SUPPORTED"],
    "Supports commitment discounts": ["COMMITMENT_DISCOUNT_SUPPORTED"],
    "Supports commitment programs": ["COMMITMENT_PROGRAMS_SUPPORTED"],
    "Supports contract commitments": ["CONTRACT_COMMITMENTS_SUPPORTED"],
    "Supports payable invoices": ["PAYABLE_INVOICES_SUPPORTED"],
    "Supports pricing and billing in different currencies": [
        "PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED"],
}


def sentences_1_4():
    """(column, sentence) of the draft of 1.4, in its order."""
    with gzip.open(DATA / "sentences-1.4-draft.txt.gz", "rt", encoding="utf-8") as file:
        about, found = None, []
        for line in file:
            if line.startswith("# "):
                about = line[2:].split()[0]
            elif line.strip():
                found.append((about, line.strip().removeprefix("* ")))
    return found


def normal(sentence):
    """A sentence without the marks and turns of phrase that changed while its meaning did not."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", sentence)
    text = re.sub(r"[*\\`]", "", text).strip().rstrip(".:").lower()
    text = re.sub(r"^the ([a-z]+) column ", r"\1 ", text)
    text = text.replace("charge category", "chargecategory").replace("data generator", "provider")
    text = text.replace("service provider", "provider").replace("adheres to", "must adhere to")
    text = text.replace("is defined as follows", "")
    return re.sub(r"\s+", " ", text).strip()


def _load_1_4():
    old = _load_model("1.3")
    table = _unpack("columns-1.4.json.gz")
    columns = table["datasets"]["Cost and Usage"]["columns"]
    said = {(about, normal(sentence)) for about, sentence in sentences_1_4()}
    rules = {}
    for rule_id, rule in old.rules.items():
        if _kept(rule, said):
            rule = copy.deepcopy(old.corrected.get(rule_id, rule))
            rule.condition, rule.criteria = _of_parents(rule, old)
            rules[rule_id] = rule
    for name, entry in columns.items():
        for rule in _column_rules(name, entry, old):
            rules[rule.id] = rule
    for rule in (*_cost_rules(), *_schema_rules()):
        rules[rule.id] = rule
    for rule in _rest_of_the_text(rules.values(), old):
        rules[rule.id] = rule
    root = Rule("1.4", "Cost and Usage adheres to all rules below.", "MUST", "CostAndUsage",
                "Composite", {"CheckFunction": "AND", "Items": []}, parts=tuple(rules))
    rules = {"1.4": root, **rules}
    criteria = tuple(dict.fromkeys((*old.criteria, *(name for names in _CRITERIA.values()
                                                     for name in names))))
    return Model("1.4", "1.4", rules, {}, criteria, tuple(columns))


def _kept(rule, said):
    """A static rule of 1.3 about one column, whose sentence 1.4 still says. The requirements of
    AllocatedMethodDetailsObject are not in the draft's text: they stay, beside the schema."""
    return (rule.id.startswith("CAU-") and not rule.dynamic and not rule.parts and not rule.removed
            and rule.about not in _GONE_IN_1_4
            and rule.function in ("Nullability", "Validation", "Format")
            and (rule.about == "AllocatedMethodDetailsObject"
                 or (rule.about, normal(rule.sentence)) in said))


def _of_parents(rule, model):
    """In a list of all rules a rule must carry the conditions and criteria of those that it stood
    below."""
    conditions = [rule.condition] if rule.condition else []
    criteria = list(rule.criteria)
    above = {part: parent for parent in model.rules.values() for part in parent.parts}
    parent = above.get(rule.id)
    while parent:
        if parent.condition:
            conditions.append(parent.condition)
        criteria += parent.criteria
        parent = above.get(parent.id)
    condition = conditions[0] if conditions else {}
    if len(conditions) > 1:
        condition = {"CheckFunction": "AND", "Items": conditions}
    return condition, tuple(dict.fromkeys(criteria))


def _column_rules(name, entry, old):
    level = entry["feature_level"]
    keyword = {"Mandatory": "MUST", "Conditional": "MUST", "Recommended": "RECOMMENDED"}[level]
    criteria = _criteria_of(name, entry, old)

    def rule(suffix, function, sentence, check, keyword="MUST", condition=None):
        return Rule(f"1.4-{name}-{suffix}", sentence, keyword, name, function, check,
                    condition=condition or {}, criteria=criteria)

    yield rule("present", "Presence", f"{name} is {level} in 1.4.",
               {"CheckFunction": "ColumnPresent", "ColumnName": name}, keyword)
    kind = {"String": "TypeString", "JSON": "TypeString", "Decimal": "TypeDecimal",
            "Date/Time": "TypeDateTime"}[entry["data_type"]]
    yield rule("type", "Type", f"{name} MUST be of type {entry['data_type']}.",
               {"CheckFunction": kind, "ColumnName": name})
    if not entry["allows_nulls"]:
        yield rule("null", "Nullability", f"{name} MUST NOT be null.",
                   {"CheckFunction": "CheckNotValue", "ColumnName": name, "Value": None})
    if entry["allowed_values"]:
        yield rule("allowed", "Validation", f"{name} MUST be one of the allowed values.",
                   {"CheckFunction": "OR", "Items": [
                       {"CheckFunction": "CheckValue", "ColumnName": name, "Value": value}
                       for value in entry["allowed_values"]]})
    if entry["value_format"] == "Decimal (non-negative)":
        yield rule("range", "Validation", f"{name} MUST be a non-negative decimal value.",
                   {"CheckFunction": "CheckGreaterOrEqualThanValue", "ColumnName": name,
                    "Value": 0})
    formats_of = {"Currency": "FormatNationalCurrency", "Unit": "FormatUnit",
                  "Key-Value": "FormatKeyValue", "JSON Object": "FormatJSON",
                  "Date/Time": "FormatDateTime"}
    check = formats_of.get(entry["value_format"])
    # "The national or virtual currency denomination that a resource or service was priced in."
    if name == "PricingCurrency":
        check = "FormatCurrency"
    if entry["data_type"] == "Decimal":
        check = "FormatNumeric"
    if entry["data_type"] == "String" and check is None:
        check = "FormatString"
    yield rule("format", "Format", f"{name} conforms to {entry['value_format']}.",
               {"CheckFunction": check, "ColumnName": name},
               "SHOULD" if check == "FormatUnit" else "MUST")


def _criteria_of(name, entry, old):
    if entry["feature_level"] == "Mandatory":
        return ()
    before = [rule for rule in old.rules.values() if rule.check.get("ColumnName") == name
              and rule.check.get("CheckFunction") == "ColumnPresent" and rule.criteria]
    if before:
        return before[0].criteria
    for start, criteria in _CRITERIA.items():
        if entry["condition"].startswith(start):
            return tuple(criteria)
    if entry["feature_level"] == "Conditional":
        raise checks.UnknownCheck(f"{name}: a condition that nobody reads: {entry['condition']}")
    return ()


# Forms of sentences that the table of columns covers.
_COVERED = re.compile(
    r"(.* )?must be of type .*|.* must conform to (numericformat|datetimeformat|stringhandling|"
    r"currencyformat|keyvalueformat|jsonobjectformat) requirements|[a-z]+ must not be null|"
    r".* must be one of the allowed values|.* must be a non-negative decimal value|"
    r".* should conform to unitformat requirements|"
    r"costandusage (must|should) include [a-z]+( when .*)?|"
    r"effectivecost must equal billedcost when chargecategory is \"tax\" or \"credit\"")


def _rest_of_the_text(rules, old):
    """Every other sentence of the draft, so that what is not checked can be counted."""
    checked = {(rule.about, normal(rule.sentence)) for rule in rules}
    for at, (about, sentence) in enumerate(sentences_1_4()):
        text = normal(sentence)
        headline = "must adhere to the following" in text or sentence.endswith(":")
        if headline or (about, text) in checked or _COVERED.fullmatch(text):
            continue
        keyword = "MAY" if " may " in text else "SHOULD" if " should " in text else "MUST"
        yield Rule(f"1.4-{about}-sentence-{at + 1}", sentence, keyword, about, "Validation", {},
                   dynamic=True)


def _cost_rules():
    """Sentences of 1.4 about costs that 1.3 did not have and that a row can show."""
    def category(name):
        return {"CheckFunction": "CheckValue", "ColumnName": "ChargeCategory", "Value": name}

    yield Rule("1.4-EffectiveCost-tax-credit",
               'EffectiveCost MUST equal BilledCost when ChargeCategory is "Tax" or "Credit".',
               "MUST", "EffectiveCost", "Validation",
               {"CheckFunction": "CheckSameNumber", "ColumnAName": "EffectiveCost",
                "ColumnBName": "BilledCost"},
               condition={"CheckFunction": "OR", "Items": [category("Tax"), category("Credit")]})
    yield Rule("1.4-EffectiveCost-covering",
               'EffectiveCost MUST be 0 when ChargeCategory is "Purchase" and the purchase is '
               "intended to cover related eligible charges.",
               "MUST", "EffectiveCost", "Validation",
               {"CheckFunction": "CheckValue", "ColumnName": "EffectiveCost", "Value": 0},
               condition={"CheckFunction": "AND", "Items": [
                   category("Purchase"),
                   {"CheckFunction": "CheckNotValue", "ColumnName": "CommitmentDiscountId",
                    "Value": None}]})


def _schema_rules():
    for column, file in (
            ("AllocatedMethodDetails", "allocatedmethoddetailsobjectschema.json"),
            ("ContractApplied", "contractappliedobjectschema.json"),
            ("CommitmentProgramEligibilityDetails",
             "commitmentprogrameligibilitydetailsobjectschema.json")):
        schema = json.loads((DATA / "schemas-1.4" / file).read_text(encoding="utf-8"))
        yield Rule(f"1.4-{column}-schema", f"{column} MUST satisfy {file}.", "MUST", column,
                   "Format", {"CheckFunction": "JSONSchema", "ColumnName": column}, schema=schema)
