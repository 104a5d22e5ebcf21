"""Judges a table by the rules of a model.

From the root down: a composite's condition holds for its parts, a part is judged by its own
sentence whatever its composite makes of it, and a rule whose criteria are not supported is passed
over with all its parts. Every rule gets exactly one outcome.
"""
from dataclasses import dataclass, field

import checks
import formats
import model as models
import schema

ROWS_SHOWN = 5


@dataclass
class Outcome:
    rule: str
    status: str                 # one of STATUSES
    sentence: str = ""
    keyword: str = "MUST"
    judged: int = 0             # rows to which the rule's condition applied
    wrong: list = field(default_factory=list)   # words for the first of them
    wrong_rows: int = 0


STATUSES = (
    ("passed", "static rules that hold"),
    ("failed", "static rules that are broken"),
    ("advice", "recommendations (SHOULD) that are not followed"),
    ("contradiction", "broken as encoded, but contradictions.txt knows why; judged as corrected"),
    ("corrected", "rules of contradictions.txt that hold as their sentence says"),
    ("permission", "MAY: nothing to break"),
    ("composite", "only their parts are judged"),
    ("dynamic", "not checked: no file shows them"),
    ("absent", "about a column that the file does not have"),
    ("not applicable", "their criteria are not among those asked for"),
    ("removed", "no longer part of this version"),
    ("attribute", "below no dataset: their sentences are what Format and Type checks check"),
)


def evaluate(model, table, applicable):
    """Outcomes in the order of the model."""
    judge = _Judge(model, table, applicable)
    judge.visit(model.root, list(range(len(table.rows))), applies=True)
    for rule in model.rules.values():
        if rule.id not in judge.outcomes and not _of_other_dataset(rule):
            judge.outcomes[rule.id] = _outcome(rule, "removed" if rule.removed else
                                               "dynamic" if rule.dynamic else "attribute")
    order = {rule_id: at for at, rule_id in enumerate(model.rules)}
    return sorted((outcome for found in judge.outcomes.values()
                   for outcome in (found if isinstance(found, list) else [found])),
                  key=lambda outcome: order[outcome.rule.removesuffix("*")])


def _of_other_dataset(rule):
    return rule.id.startswith("CCT-")


def _outcome(rule, status, **more):
    return Outcome(rule.id, status, rule.sentence, rule.keyword, **more)


class _Judge:
    def __init__(self, model, table, applicable):
        self.model, self.table, self.applicable = model, table, applicable
        self.outcomes = {}

    def visit(self, rule_id, rows, applies):
        if rule_id not in self.model.rules:
            raise checks.UnknownCheck(f"a rule that the model does not have: {rule_id}")
        rule = self.model.rules[rule_id]
        if rule_id in self.outcomes:  # two rules of 1.2 stand below two composites
            return
        applies = applies and all(name in self.applicable for name in rule.criteria)
        if rule.parts:
            self.outcomes[rule_id] = _outcome(rule, "composite" if applies else "not applicable")
            condition = self.model.corrected.get(rule_id, rule).condition
            if condition and applies:
                rows = [at for at in rows
                        if checks.holds(condition, self.table.rows[at], as_condition=True)]
            for part in rule.parts:
                self.visit(part, rows, applies)
            return
        self.outcomes[rule_id] = self.leaf(rule, rows, applies)

    def leaf(self, rule, rows, applies):
        if rule.removed:
            return _outcome(rule, "removed")
        if not applies:
            return _outcome(rule, "not applicable")
        if rule.dynamic:
            return _outcome(rule, "dynamic")
        if rule.keyword in models.PERMISSIONS:
            _known(rule)
            return _outcome(rule, "permission")
        as_encoded = self.judged(rule, rows)
        if rule.id not in self.model.corrected:
            return as_encoded
        corrected = self.model.corrected[rule.id]
        corrected = _outcome(rule, "dynamic") if corrected.dynamic else self.judged(corrected, rows)
        corrected.rule += "*"
        if corrected.status == "passed":
            corrected.status = "corrected"
        if as_encoded.status in ("failed", "advice"):
            as_encoded.status = "contradiction"
        return [as_encoded, corrected]

    def judged(self, rule, rows):
        check = rule.check
        name = check.get("CheckFunction")
        if name != "ColumnPresent" and not checks.columns_of(check) <= self.table.column_set:
            _known(rule)
            return _outcome(rule, "absent")
        rows, wrong = self.wrong_rows(rule, rows)
        if not wrong:
            return _outcome(rule, "passed", judged=len(rows))
        status = "advice" if rule.keyword in models.ADVICE else "failed"
        return _outcome(rule, status, judged=len(rows), wrong_rows=len(wrong),
                        wrong=[self.words(rule, at) for at in wrong[:ROWS_SHOWN]])

    def wrong_rows(self, rule, rows):
        """The rows that the rule is about, and those of them that break it."""
        check, condition = rule.check, rule.condition
        table = self.table
        per_element = checks.element_column(condition) and checks.element_column(check)
        if per_element:
            views = [(at, view) for at in rows
                     for view in checks.elements(table.rows[at], per_element)
                     if checks.holds(condition, view, as_condition=True)]
            return (sorted({at for at, _ in views}),
                    sorted({at for at, view in views if not checks.holds(check, view)}))
        if condition:
            rows = [at for at in rows
                    if checks.holds(condition, table.rows[at], as_condition=True)]
        name = check.get("CheckFunction")
        if name in checks.TABLE_CHECKS:
            return rows, checks.TABLE_CHECKS[name](check, table, rows)
        if name == "JSONSchema":
            return rows, [at for at in rows if _schema_problems(rule, table.rows[at])]
        if (rule.function == "Validation" and rule.about in table.column_set
                and not checks.speaks_of_null(check)):
            # Whether a value may be missing is the matter of other rules.
            rows = [at for at in rows if table.rows[at][rule.about] is not None]
        return rows, [at for at in rows if not checks.holds(check, table.rows[at])]

    def words(self, rule, at):
        if at < 0 or rule.check.get("CheckFunction") == "ColumnPresent":
            return "the header"
        row = self.table.rows[at]
        names = sorted(checks.columns_of(rule.check) | checks.columns_of(rule.condition))
        said = ", ".join(f"{name}={row.get(name)!r:.120}" for name in names)
        problems = _schema_problems(rule, row) if rule.schema else []
        return f"{self.table.line(at)}: {said}" + "".join(f"; {one}" for one in problems[:3])


def _schema_problems(rule, row):
    text = row[rule.check["ColumnName"]]
    if text is None:
        return []
    try:
        return schema.problems(rule.schema, formats.parse_json(text))
    except formats.NotJson as error:
        return [str(error)]


def _known(rule):
    """Also a check that nothing will be asked of must be one that the interpreter knows."""
    for check in (rule.check, rule.condition):
        if check:
            _known_check(check, rule.id)


def _known_check(check, rule_id):
    name = check.get("CheckFunction")
    if name in ("AND", "OR"):
        for item in checks.argument(check, "Items"):
            _known_check(item, rule_id)
    elif name not in checks.ROW_CHECKS and name not in checks.TABLE_CHECKS and name != "JSONSchema":
        raise checks.UnknownCheck(f"{rule_id}: the check function {name}")
