#!/usr/bin/env python3
"""The judge of FOCUS files judged: good files pass, and what is planted is found by the rule meant.

usage: rules_test.py [SQL_TOOL]
"""
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import allocation
import checks
import evaluate
import formats
import good_files
import model as models
import rules
import schema
import table as tables

SQL_TOOL = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules.py")


def broken(version, table, **more):
    return {outcome.rule for outcome in rules.judge(version, table, **more)
            if outcome.status == "failed"}


_GOOD = {version: good_files.good(version) for version in models.VERSIONS}


def fresh(version):
    table = _GOOD[version]
    return tables.Table(list(table.columns), [dict(row) for row in table.rows])


class GoodFilesTest(unittest.TestCase):
    def test_samples_of_1_2_conform(self):
        for name in ("aws_1_2.csv", "azure_1_2.csv", "gcp_1_2.csv"):
            self.assertEqual(broken("1.2", good_files.sample(name)), set(), name)

    def test_samples_of_1_3_break_nothing_but_what_they_lack(self):
        """Their parts name no origin charge, and repeat a tag of the resource."""
        for name in ("aws_1_3.csv", "azure_1_3.csv", "gcp_1_3.csv"):
            self.assertEqual(broken("1.3", good_files.sample(name)),
                             {"own-Split-Origin", "own-Split-Tags"}, name)

    def test_divided_files_conform_and_meet_their_bill(self):
        for version in ("1.3", "1.4"):
            self.assertEqual(broken(version, good_files.good(version),
                                    origin=good_files.bill(version)), set(), version)

    def test_a_file_is_not_of_another_version(self):
        self.assertIn("CAU-CostAndUsage-D-076-M", broken("1.3", good_files.good("1.2")))
        self.assertIn("own-ColumnNames", broken("1.2", good_files.good("1.3")))
        self.assertIn("own-ColumnNames", broken("1.4", good_files.good("1.3")))

    def test_every_static_rule_has_an_outcome(self):
        for version in models.VERSIONS:
            model = models.load(version)
            outcomes = rules.judge(version, good_files.good(version))
            seen = {outcome.rule for outcome in outcomes}
            ours = {rule for rule in model.rules if not rule.startswith("CCT-")}
            self.assertLessEqual(ours, seen, version)
            counts = rules.count(outcomes)
            self.assertEqual(counts.get("absent", 0), 0, version)
            self.assertEqual(counts.get("not applicable", 0), 0, version)


def every(name, value):
    def plant(table):
        for row in table.rows:
            row[name] = value
    return plant


def first(where, **values):
    """In the first row of which `where` holds."""
    def plant(table):
        row = next(row for row in table.rows if where(row))
        row.update(values)
    return plant


def drop(name):
    def plant(table):
        table.columns.remove(name)
        table.column_set.remove(name)
        for row in table.rows:
            del row[name]
    return plant


def rename(old, new):
    def plant(table):
        table.columns[table.columns.index(old)] = new
        table.column_set = set(table.columns)
        for row in table.rows:
            row[new] = row.pop(old)
    return plant


def _more(name, amount):
    """The first part has more by `amount`, and the second less."""
    def plant(table):
        rows = [row for row in table.rows if part(row)]
        for row, sign in zip(rows, (1, -1)):
            row[name] = f"{formats.decimal(row[name]) + sign * formats.decimal(amount):f}"
    return plant


def usage(row):
    return row["ChargeCategory"] == "Usage"


def purchase(row):
    return row["ChargeCategory"] == "Purchase"


def tax(row):
    return row["ChargeCategory"] == "Tax"


def whole(row):
    return usage(row) and row.get("AllocatedMethodId") is None and row["ConsumedQuantity"]


def part(row):
    return row["AllocatedResourceId"] is not None


def committed(row):
    return row["CommitmentDiscountStatus"] == "Used"


def details(**members):
    return json.dumps({"Elements": [members]})


# What is planted in a good file, and the rule that must find it.
PLANTED = [
    ("1.2", "no BilledCost", drop("BilledCost"), "CostAndUsage-D-006-M"),
    ("1.2", "a cost that is null", first(usage, BilledCost=None), "BilledCost-C-003-M"),
    ("1.2", "a cost with a plus", first(usage, EffectiveCost="+1.5"), "EffectiveCost-C-002-M"),
    ("1.2", "a cost as C++ prints it", first(usage, ListCost="1e+06"), "ListCost-C-002-M"),
    ("1.2", "thousands", first(usage, ContractedCost="1,000.5"), "ContractedCost-C-002-M"),
    ("1.2", "a date without Z", first(usage, ChargePeriodStart="2026-05-01T00:00:00"),
     "ChargePeriodStart-C-002-M"),
    ("1.2", "the 31st of April", first(usage, BillingPeriodEnd="2026-04-31T00:00:00Z"),
     "BillingPeriodEnd-C-002-M"),
    ("1.2", "a category of its own", first(usage, ChargeCategory="Refund"),
     "ChargeCategory-C-003-M"),
    ("1.2", "a currency of its own", every("BillingCurrency", "USX"), "BillingCurrency-C-006-M"),
    ("1.2", "a tag in a tag", first(usage, Tags='{"a":{"b":1}}'), "Tags-C-001-M"),
    ("1.2", "a tag twice", first(usage, Tags='{"a":"1","a":"2"}'), "Tags-C-001-M"),
    ("1.2", "a purchase by usage", first(purchase, ChargeFrequency="Usage-Based"),
     "ChargeFrequency-C-004-C"),
    ("1.2", "a subcategory elsewhere", first(usage, ServiceSubcategory="Block Storage"),
     "ServiceSubcategory-C-004-M"),
    ("1.2", "a service in two categories", first(usage, ServiceCategory="Other"),
     "ServiceName-C-005-C"),
    ("1.2", "a status without commitment",
     first(lambda row: row["CommitmentDiscountId"] is None, CommitmentDiscountStatus="Used"),
     "CommitmentDiscountStatus-C-003-C*"),
    ("1.2", "a commitment without status", first(committed, CommitmentDiscountStatus=None),
     "CommitmentDiscountStatus-C-004-C*"),
    ("1.2", "a status of a lifecycle", first(committed, CommitmentDiscountStatus="Active"),
     "CommitmentDiscountStatus-C-005-M*"),
    ("1.2", "a purchased commitment with its cost", first(purchase, EffectiveCost="1.0"),
     "EffectiveCost-C-005-C*"),
    ("1.2", "usage without quantity", first(usage, ConsumedQuantity=None, ConsumedUnit=None),
     "ConsumedQuantity-C-006-C*"),
    ("1.2", "half a price", first(lambda row: row["ListUnitPrice"], ListUnitPrice="0.001"),
     "ListCost-C-009-C"),
    ("1.2", "a negative price", first(lambda row: row["ListUnitPrice"], ListUnitPrice="-0.5"),
     "ListUnitPrice-C-008-M"),
    ("1.2", "a period that ends first", first(usage, ChargePeriodEnd="2020-01-01T00:00:00Z"),
     "own-ChargePeriod"),
    ("1.3", "a tax with a SKU", first(tax, SkuId="sku"), "CAU-SkuId-C-004-C"),
    ("1.3", "a cost off by a millionth",
     first(whole, ListCost="0.1"), "CAU-ListCost-C-011-C"),
    ("1.3", "a name without id",
     first(lambda row: part(row), AllocatedResourceId=None), "CAU-AllocatedResourceName-C-004-C"),
    ("1.3", "an id without name", first(part, AllocatedResourceName=None),
     "CAU-AllocatedResourceName-C-005-C"),
    ("1.3", "details that are a list", first(part, AllocatedMethodDetails="[]"),
     "CAU-AllocatedMethodDetails-C-003-M"),
    ("1.3", "details without ratio", first(part, AllocatedMethodDetails=details(UsageUnit="Hours")),
     "CAU-AllocatedMethodDetailsObject-O-012-M"),
    ("1.3", "a ratio in quotes", first(part, AllocatedMethodDetails=details(AllocatedRatio="0.5")),
     "CAU-AllocatedMethodDetailsObject-O-013-M"),
    ("1.3", "a quantity without unit",
     first(part, AllocatedMethodDetails=details(AllocatedRatio=0.5, UsageQuantity=1)),
     "CAU-AllocatedMethodDetailsObject-O-016-C"),
    ("1.3", "a key of its own in details",
     first(part, AllocatedMethodDetails=details(AllocatedRatio=0.5, Team="x")),
     "CAU-AllocatedMethodDetailsObject-O-009-C"),
    ("1.3", "ratios that miss a part of a billion",
     first(part, AllocatedMethodDetails=details(AllocatedRatio=0.500000001)), "own-Split-Ratios"),
    ("1.3", "a part that pays a little more", _more("BilledCost", "1E-9"), "own-Split-OneRatio"),
    ("1.3", "a part that pays another share",
     first(part, BilledCost="0.000001"), "own-Split-OneRatio"),
    ("1.3", "a part in another region", first(part, RegionId="elsewhere"), "own-Split-Dimensions"),
    ("1.3", "a part at another price", first(part, ListUnitPrice="9"), "own-Split-Dimensions"),
    ("1.3", "two rows of what is left",
     first(part, AllocatedResourceId=None, AllocatedResourceName=None), "own-Split-Idle"),
    ("1.3", "a part of nothing", first(part, x_OriginChargeId=None), "own-Split-Origin"),
    ("1.3", "an allocated tag without split",
     first(whole, AllocatedTags='{"a":"b"}'), "own-Split-Null"),
    ("1.3", "a contract without id",
     first(lambda row: row["ContractApplied"], ContractApplied=details(ContractId="c")),
     "CAU-ContractAppliedObject-O-029-C*"),
    ("1.3", "no ServiceProviderName", drop("ServiceProviderName"), "CAU-CostAndUsage-D-076-M"),
    ("1.4", "ProviderName is back", rename("InvoiceDetailId", "ProviderName"), "own-ColumnNames"),
    ("1.4", "no InvoiceDetailId", drop("InvoiceDetailId"), "1.4-InvoiceDetailId-present"),
    ("1.4", "a virtual currency", every("BillingCurrency", "Credits"),
     "1.4-BillingCurrency-format"),
    ("1.4", "a tax with two costs", first(tax, EffectiveCost="77.0"),
     "1.4-EffectiveCost-tax-credit"),
    ("1.4", "a ratio above one", first(part, AllocatedMethodDetails=details(AllocatedRatio=1.5)),
     "1.4-AllocatedMethodDetails-schema"),
    ("1.4", "no elements", first(part, AllocatedMethodDetails='{"Elements":[]}'),
     "1.4-AllocatedMethodDetails-schema"),
    ("1.4", "a cost and a quantity of one contract",
     first(lambda row: row["ContractApplied"], ContractApplied=details(
         ContractId="c", ContractCommitmentId="d", ContractCommitmentAppliedCost=1,
         ContractCommitmentAppliedQuantity=1, ContractCommitmentAppliedUnit="Hours")),
     "1.4-ContractApplied-schema"),
    ("1.4", "programs that are no list", first(whole, CommitmentProgramEligibilityDetails=
                                               '{"CommitmentPrograms":"Savings Plans"}'),
     "1.4-CommitmentProgramEligibilityDetails-schema"),
    ("1.4", "an unknown price category", first(whole, PricingCategory="Spot"),
     "1.4-PricingCategory-allowed"),
    ("1.4", "usage without price", first(whole, ContractedUnitPrice=None),
     "CAU-ContractedUnitPrice-C-006-C"),
    ("1.4", "a GPU count in quotes", first(whole, SkuPriceDetails='{"GpuCount":"8"}'),
     "own-SkuPriceDetails"),
]


class PlantedTest(unittest.TestCase):
    def test_what_is_planted_is_found_by_the_rule_meant(self):
        for version, what, plant, rule in PLANTED:
            with self.subTest(f"{version}: {what}"):
                table = fresh(version)
                plant(table)
                self.assertIn(rule, broken(version, table))

    def test_a_lost_cent_is_found_by_the_bill(self):
        for version in ("1.3", "1.4"):
            for name in allocation.COSTS:
                table, bill = fresh(version), good_files.bill(version)
                bill.rows[0][name] = str(formats.decimal(bill.rows[0][name]) + allocation.TICK)
                self.assertLessEqual({"own-Bill-Totals", "own-Bill-Lines"},
                                     broken(version, table, origin=bill))

    def test_a_lost_line_is_found_by_the_bill(self):
        table = fresh("1.4")
        table.rows.pop(0)
        self.assertIn("own-Bill-Lines", broken("1.4", table, origin=good_files.bill("1.4")))

    def test_advice_breaks_nothing(self):
        table = fresh("1.4")
        every("ConsumedUnit", "gpu hours")(table)
        found = {outcome.rule: outcome.status for outcome in rules.judge("1.4", table)}
        self.assertEqual(found["1.4-ConsumedUnit-format"], "advice")


def contract(**members):
    return details(**{"ContractId": "c", "ContractCommitmentId": "d", **members})


class EveryRuleTest(unittest.TestCase):
    """Every static rule can be broken: a rule that nothing breaks would be a silent pass."""

    # Rules that nothing can break, and why.
    UNBREAKABLE = {
        "PricingQuantity-C-008-M": "asks in 1.2 that a quantity be not null, of those that are not",
        "ContractAppliedObject-O-030-M": "as encoded; contradictions.txt says so",
        "ContractAppliedObject-O-031-M": "as encoded; contradictions.txt says so",
        "ContractAppliedObject-O-038-M": "as encoded; contradictions.txt says so",
    }
    VALUES = (
        None, "", "x", "-1", "1e5", "0.1", "2020-01-01T00:00:00Z", "Usage", "Tax", "Purchase",
        "Correction", "Used", "Unused", "[1]", '{"a":{"b":1}}', '{"Elements":{"a":1}}',
        '{"Elements":["a"]}', '{"Elements":[{"b":1}]}', '{"Elements":[]}',
        details(AllocatedRatio="a", UsageQuantity="b", UsageUnit=3),
        details(AllocatedRatio=1, UsageQuantity=1),
        contract(ContractId=1, ContractCommitmentId=2, ContractCommitmentAppliedCost="a",
                 ContractCommitmentAppliedQuantity=None, ContractCommitmentAppliedUnit="m"),
        contract(ContractId="", ContractCommitmentId="", ContractCommitmentAppliedCost=None,
                 ContractCommitmentAppliedQuantity="1", ContractCommitmentAppliedUnit=3),
        contract(ContractCommitmentAppliedQuantity=None, ContractCommitmentAppliedCost=None),
        contract(ContractCommitmentAppliedQuantity=1, ContractCommitmentAppliedUnit=""),
        contract(ContractCommitmentAppliedQuantity=1, ContractCommitmentAppliedUnit=None),
        '{"Elements":[{"ContractId":"a","ContractCommitmentId":"b"},{"ContractId":"c",'
        '"ContractCommitmentId":"b","x_A":{"b":1},"B":1}]}')

    def test_every_static_rule_can_be_broken(self):
        for version in models.VERSIONS:
            with self.subTest(version):
                whole_rules = {models.plain(rule) for rule in self.rules_that_stay_whole(version)}
                self.assertLessEqual(whole_rules, set(self.UNBREAKABLE))

    def rules_that_stay_whole(self, version):
        model = models.load(version)
        criteria, rule_of = set(model.criteria), model.rules
        start = evaluate.evaluate(model, self.few_rows(version), criteria)
        # A CSV has nothing but texts; Parquet's types are tested apart.
        left = {outcome.rule for outcome in start if outcome.status in ("passed", "corrected")
                and outcome.rule in rule_of
                and rule_of[outcome.rule].check.get("CheckFunction") != "TypeString"}
        for plant in self.plants(version):
            table = self.few_rows(version)
            plant(table)
            left -= {outcome.rule for outcome in evaluate.evaluate(model, table, criteria)
                     if outcome.status in ("failed", "advice", "contradiction")}
        return left

    @staticmethod
    def few_rows(version):
        """A row of every kind."""
        table = tables.Table(list(_GOOD[version].columns),
                             [dict(row) for row in _GOOD[version].rows])
        kinds = {}
        for row in table.rows:
            kinds.setdefault((row["ChargeCategory"], row["CommitmentDiscountStatus"],
                              row.get("AllocatedMethodId"), row.get("AllocatedResourceId") is None),
                             row)
        table.rows = list(kinds.values())
        return table

    def plants(self, version):
        for name in fresh(version).columns:
            if not name.startswith("x_"):
                yield drop(name)
                for value in self.VALUES:
                    yield every(name, value)
        yield first(whole, ChargeClass="Correction", ConsumedQuantity=None)


class RandomTest(unittest.TestCase):
    """Any change of one cell of a divided file is found, given the bill that it divides; but for
    the words by which a part is called, which only its own ledger knows."""

    WORDS = {"AllocatedResourceId", "AllocatedResourceName", "AllocatedTags", "AllocatedMethodId",
             "AllocatedMethodDetails"}

    def test_a_changed_cell_is_found(self):
        for version in ("1.3", "1.4"):
            bill = good_files.bill(version)
            for seed in range(200):
                dice = random.Random(seed)
                table = fresh(version)
                row = dice.choice(table.rows)
                name = dice.choice([one for one in table.columns if one not in self.WORDS])
                old = row[name]
                row[name] = dice.choice([
                    None if old is not None else "x", "x", "0", "1.0", '{"a":"b"}',
                    (old or "") + "1", "2026-05-01T00:00:01Z"])
                if row[name] == old or _same_number(row[name], old):
                    continue
                with self.subTest(f"{version}, seed {seed}: {name} {old!r} to {row[name]!r}"):
                    self.assertNotEqual(broken(version, table, origin=bill), set())


def _same_number(left, right):
    """1.5 and 1.50 are one amount."""
    values = [formats.decimal(text) if text else None for text in (left, right)]
    return None not in values and values[0] == values[1]


class ContradictionsTest(unittest.TestCase):
    """For each line of contradictions.txt a row for which nothing satisfies both of its sides."""

    # The row, the column that may be chosen freely, and the values to choose from.
    STATUS = (None, "Used", "Unused", "Active", "Expired", "Pending", "x")
    CONTRACT = [None if value is None else json.dumps({"Elements": [value]}) for value in (
        {"ContractId": "c", "ContractCommitmentId": "d", "ContractCommitmentAppliedCost": 1},
        {"ContractId": "c", "ContractCommitmentId": "d", "ContractCommitmentAppliedCost": 1,
         "ContractCommitmentAppliedQuantity": None, "ContractCommitmentAppliedUnit": None},
        {"ContractId": "c", "ContractCommitmentId": "d", "ContractCommitmentAppliedCost": None,
         "ContractCommitmentAppliedQuantity": 1, "ContractCommitmentAppliedUnit": "Hours"},
        {"ContractId": "c", "ContractCommitmentId": "d", "ContractCommitmentAppliedCost": 1,
         "ContractCommitmentAppliedQuantity": 1, "ContractCommitmentAppliedUnit": "Hours"},
        {"ContractId": "c", "ContractCommitmentID": "d", "ContractCommitmentAppliedCost": 1,
         "ContractCommitmentAppliedQuantity": None, "ContractCommitmentAppliedUnit": None},
        {"ContractId": "c", "ContractCommitmentID": "d", "ContractCommitmentAppliedCost": 1,
         "ContractCommitmentAppliedQuantity": 2, "ContractCommitmentAppliedUnit": "Hours"},
        {"ContractId": "c", "ContractCommitmentID": "d", "ContractCommitmentId": "d",
         "ContractCommitmentAppliedCost": 1, "ContractCommitmentAppliedQuantity": None,
         "ContractCommitmentAppliedUnit": None},
        {"ContractId": "c", "ContractCommitmentId": 7},
        {"ContractId": "c", "ContractCommitmentId": " "},
        {"ContractCommitmentId": "d"})]
    WITNESSES = {
        "CommitmentDiscountStatus-C-003-C":
            ({"CommitmentDiscountId": None}, "CommitmentDiscountStatus", STATUS),
        "CommitmentDiscountStatus-C-004-C":
            # A commitment's row needs a status, a row without needs none: as encoded the second is
            # asked for one. Its neighbour, as its words say, forbids it.
            ({"CommitmentDiscountId": None, "ChargeCategory": "Usage"},
             "CommitmentDiscountStatus", STATUS),
        "CommitmentDiscountStatus-C-005-M":
            ({"CommitmentDiscountId": "c", "ChargeCategory": "Usage"},
             "CommitmentDiscountStatus", STATUS[1:]),
        "CapacityReservationStatus-C-003-C": ({}, "CapacityReservationStatus", STATUS),
        "CapacityReservationStatus-C-004-C": ({}, "CapacityReservationStatus", STATUS),
        "ConsumedQuantity-C-006-C":
            ({"ChargeClass": "Correction", "ChargeCategory": "Usage", "SkuPriceId": None},
             "ConsumedQuantity", (None,)),
        "EffectiveCost-C-005-C":
            ({"ChargeCategory": "Purchase", "CommitmentDiscountId": None, "BilledCost": "5.0"},
             "EffectiveCost", ("5.0", "5")),
        "BilledCost-C-005-C":
            ({"ProviderName": "AWS", "InvoiceIssuerName": "Amazon Web Services, Inc."},
             "BilledCost", ("5.0",)),
        "CommitmentDiscountQuantity-C-007-C":
            ({"ChargeCategory": "Usage", "CommitmentDiscountId": "c", "ChargeClass": "Correction"},
             "CommitmentDiscountQuantity", ("1.0", "-1.0")),
        "PricingCurrencyContractedUnitPrice-C-012-C":
            ({"SkuPriceId": None}, "PricingCurrencyContractedUnitPrice", (None, "0", "1.5")),
        "PricingCurrencyEffectiveCost-C-004-M":
            ({"PricingCurrencyListUnitPrice": "1.0"}, "PricingCurrencyEffectiveCost", ("x",)),
        "InvoiceId-C-004-C": ({}, "InvoiceId", (None, "invoice")),
        "InvoiceId-C-005-C": ({}, "InvoiceId", (None, "invoice")),
    }

    def test_every_line_has_a_witness(self):
        for entry in models.contradictions():
            for version in entry.versions:
                with self.subTest(f"{version} {entry.id}"):
                    self.assertTrue(self.contradicts(entry, version))

    def contradicts(self, entry, version):
        model = models.load(version)
        rule_id = entry.id if entry.id in model.rules else f"CAU-{entry.id}"
        if entry.id.startswith("ContractApplied"):
            row = {"ResourceId": "d", "ChargeCategory": "Purchase"}
            name, values = "ContractApplied", self.CONTRACT
        else:
            row, name, values = self.WITNESSES[entry.id]
        if entry.against == "nothing":
            return self.is_silent(rule_id, model, row, name, values)
        for value in values:
            table = self.one_row(model, {**row, name: value})
            if self.holds(model.rules[rule_id], table) and self.other_side(entry, model, table):
                return False
        return True

    def is_silent(self, rule_id, model, row, name, values):
        """Some value breaks the words and not the check. Of a composite: its condition, on a row
        that it is meant for."""
        tried = [self.one_row(model, {**row, name: value}) for value in values]
        rule, corrected = model.rules[rule_id], model.corrected[rule_id]
        if rule.parts:
            return any(checks.holds(corrected.condition, table.rows[0], as_condition=True)
                       and not checks.holds(rule.condition, table.rows[0], as_condition=True)
                       for table in tried)
        return any(self.holds(rule, table) and not self.holds(corrected, table) for table in tried)

    @staticmethod
    def one_row(model, row):
        return tables.Table(list(model.columns), [{name: row.get(name) for name in model.columns}])

    @staticmethod
    def holds(rule, table):
        if rule.dynamic:
            return True
        judge = evaluate._Judge(models.load("1.3"), table, set())
        return not judge.wrong_rows(rule, [0])[1]

    def other_side(self, entry, model, table):
        """What the rule contradicts."""
        prefix = "CAU-" if model.version == "1.3" else ""
        *others, last = entry.against.split()
        if last == "schema":
            text = table.rows[0]["ContractApplied"]
            of_contracts = models.load("1.4").rules["1.4-ContractApplied-schema"].schema
            return (not schema.problems(of_contracts, formats.parse_json(text))
                    and all(self.holds(model.rules[prefix + other], table) for other in others))
        if entry.against == "its sentence":
            corrected = [model.corrected[prefix + entry.id]]
            if entry.id == "CommitmentDiscountStatus-C-004-C":
                corrected.append(model.corrected[prefix + "CommitmentDiscountStatus-C-003-C"])
            if entry.id == "BilledCost-C-005-C":
                return True  # no third party is paid, so the words do not forbid the billed cost
            if entry.id == "EffectiveCost-C-005-C":
                # 1.4: a purchase that covers nothing has its billed cost. All values here have it.
                return table.rows[0]["EffectiveCost"] is not None
            return all(self.holds(rule, table) for rule in corrected)
        other = model.rules[prefix + entry.against]
        if other.keyword == "MAY":
            return True  # the values to choose from are what it allows
        return self.holds(other, table)

    def test_every_correction_belongs_to_a_line(self):
        with open(models.HERE / "corrections.json", encoding="utf-8") as file:
            self.assertEqual(set(json.load(file)), {entry.id for entry in models.contradictions()})


class ChecksTest(unittest.TestCase):
    def test_an_unknown_check_is_an_error(self):
        with self.assertRaises(checks.UnknownCheck):
            checks.holds({"CheckFunction": "CheckMoonPhase", "ColumnName": "BilledCost"}, {})
        with self.assertRaises(checks.UnknownCheck):
            checks.holds({"CheckFunction": "AND", "Items": [{"CheckFunction": None}]}, {})
        with self.assertRaises(checks.UnknownCheck):
            checks.holds({"CheckFunction": "CheckValue", "ColumnName": "A"}, {"A": "1"})
        with self.assertRaises(checks.UnknownCheck):
            rules.judge("1.2", fresh("1.2"), applicability="EVERYTHING_SUPPORTED")

    def test_null_is_false_as_a_condition_and_not_judged_as_a_requirement(self):
        check = {"CheckFunction": "CheckValue", "ColumnName": "A", "Value": "x"}
        self.assertTrue(checks.holds(check, {"A": None}))
        self.assertFalse(checks.holds(check, {"A": None}, as_condition=True))

    def test_products_are_right_to_the_twelfth_digit(self):
        check = {"CheckFunction": "ColumnByColumnEqualsColumnValue", "ColumnAName": "A",
                 "ColumnBName": "B", "ResultColumnName": "C"}
        for price, quantity, cost, right in (
                ("0.000015", "20", "0.000300", True), ("2.0", "3.0", "10.0", False),
                ("0.1", "3", "0.3", True), ("0.1", "3", "0.300000000000000004", True),
                ("0.1", "3", "0.300000000002", False),
                ("1.5", "0.333333333333333333", "0.5", True)):
            row = {"A": price, "B": quantity, "C": cost}
            self.assertEqual(checks.holds(check, row), right, row)

    def test_applicability_passes_over_what_is_not_supported(self):
        table = fresh("1.2")
        drop("CapacityReservationId")(table)
        self.assertIn("CostAndUsage-D-065-C", broken("1.2", table))
        self.assertEqual(broken("1.2", table, applicability="TAGGING_SUPPORTED"), set())
        self.assertEqual(broken("1.2", table, applicability="ALL,-CAPACITY_RESERVATION_SUPPORTED"),
                         set())


class FormatsTest(unittest.TestCase):
    def test_formats(self):
        for judge, right, wrong in (
                (formats.numeric, ("0", "-1.5", "35.2E-7", "2E7", "0.10"),
                 ("", "+1", "1e5", "35.2E+7", "1,000", "$1", "1/2", ".5", "5.", "NaN", "1 ", "١")),
                (formats.date_time, ("2026-05-01T00:00:00Z", "2024-02-29T23:59:59Z"),
                 ("2026-05-01", "2026-05-01 00:00:00", "2026-05-01T00:00:00+00:00",
                  "2026-02-29T00:00:00Z", "2026-05-01T24:00:00Z", "2026-5-1T0:00:00Z",
                  "2026-05-01T00:00:00.000Z")),
                (formats.unit, ("Hours", "GPU-Hours", "GB-Hours", "GB/Hour", "1000 Tokens", "GiB"),
                 ("hours", "gb", "HOURS", "GPU--Hours", "", "1.5 Hours")),
                (formats.currency, ("USD", "EUR", "JPY"), ("usd", "US", "USX", "XXX", "Credits")),
                (formats.currency_or_virtual, ("USD", "Credits"), ("usd", "ABC", " ")),
                (formats.key_value, ("{}", '{"a":"b","c":1,"d":true,"e":null}'),
                 ("[]", "x", '{"a":[]}', '{"a":{}}', '{"a":1,"a":2}', '{"a":NaN}', "{'a':1}")),
                (formats.json_object, ('{"a":[{"b":1},{"b":2}]}', "{}"),
                 ("[]", '{"a":[1,"b"]}', '{"a":[1,1]}', '{"a":[null]}')),
                (formats.string, ("a", " a"), ("", " ", "NULL", "Not Applicable"))):
            for text in right:
                self.assertIsNone(judge(text), text)
            for text in wrong:
                self.assertIsNotNone(judge(text), text)

    def test_schemas_refuse_and_unknown_keywords_are_errors(self):
        allocated = models.load("1.4").rules["1.4-AllocatedMethodDetails-schema"].schema
        for text, right in (
                ('{"Elements":[{"AllocatedRatio":0.5}]}', True),
                ('{"Elements":[{"AllocatedRatio":0.05,"UsageUnit":"CPU","UsageQuantity":0.5}],'
                 '"x_Basis":{"a":[1]}}', True),
                ('{"Elements":[{"AllocatedRatio":0.5,"UsageQuantity":null}]}', True),
                ('{"Elements":[{"AllocatedRatio":0.5,"UsageQuantity":1}]}', False),
                ('{"Elements":[{"AllocatedRatio":1.0000000000000000000000001}]}', False),
                ('{"Elements":[{"AllocatedRatio":-0.1}]}', False),
                ('{"Elements":[{"AllocatedRatio":true}]}', False),
                ('{"Elements":[{"AllocatedRatio":0.5,"x_team":1}]}', False),
                ('{"Elements":{}}', False), ("{}", False), ("[]", False)):
            self.assertEqual(not schema.problems(allocated, formats.parse_json(text)), right, text)
        with self.assertRaises(ValueError):
            schema.problems({"dependentRequired": {}}, {})

    def test_all_schemas_can_be_read(self):
        for file in sorted((models.DATA / "schemas-1.4").iterdir()):
            found = schema.problems(json.loads(file.read_text(encoding="utf-8")),
                                    formats.parse_json("[]"))
            self.assertNotEqual(found, [], file.name)

    def test_the_commitments_schema_with_its_conditions(self):
        path = models.DATA / "schemas-1.4" / "contractcommitmentapplicabilityobjectschema.json"
        applicability = json.loads(path.read_text(encoding="utf-8"))
        inclusion = '"InclusionOperator":"And","Inclusions":[{"Dimension":"RegionId","Operator":'
        for text, right in (
                ('{"IsGlobalScope":true}', True),
                ('{"IsGlobalScope":true,"IsComplexScope":true}', False),
                ('{"IsGlobalScope":true,' + inclusion + '"In","Values":["a"]}]}', False),
                ("{" + inclusion + '"In","Values":["a"]}]}', True),
                ("{" + inclusion + '"Exists","Values":["*"]}]}', True),
                ("{" + inclusion + '"Exists","Values":["a"]}]}', False),
                ("{" + inclusion + '"Like","Values":["a"]}]}', False),
                ("{}", False)):
            self.assertEqual(not schema.problems(applicability, formats.parse_json(text)), right,
                             text)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="focus-rules-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def run_main(self, *arguments):
        done = subprocess.run([sys.executable, MAIN, *arguments], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    def test_exit_codes(self):
        good = self.write("good.csv", good_files.as_csv(good_files.good("1.4")))
        bill = self.write("bill.csv", good_files.as_csv(good_files.bill("1.4")))
        code, text = self.run_main("--version", "1.4", "--file", good, "--origin", bill)
        self.assertEqual((code, "conforms" in text), (0, True), text)
        table = fresh("1.4")
        every("BillingCurrency", "Gold")(table)
        bad = self.write("bad.csv", good_files.as_csv(table))
        code, text = self.run_main("--version", "1.4", "--file", bad)
        self.assertEqual((code, "1.4-BillingCurrency-format" in text), (1, True), text)
        self.assertEqual(self.run_main("--version", "1.4", "--file", "nowhere.csv")[0], 2)
        self.assertEqual(self.run_main("--version", "9", "--file", good)[0], 2)
        ragged = self.write("ragged.csv", good_files.as_csv(good_files.good("1.4")) + "a,b\n")
        code, text = self.run_main("--version", "1.4", "--file", ragged)
        self.assertEqual((code, "own-Lines" in text), (1, True), text)

    def test_metadata(self):
        table = good_files.good("1.4")
        good = self.write("good.csv", good_files.as_csv(table))
        metadata = {"SchemaId": "s", "CreationDate": "2026-05-01T00:00:00Z", "FocusVersion": "1.4",
                    "ColumnDefinition": [{"ColumnName": name, "DataType": "STRING"}
                                         for name in table.columns]}
        arguments = ["--version", "1.4", "--file", good, "--metadata"]
        path = self.write("metadata.json", json.dumps(metadata))
        self.assertEqual(self.run_main(*arguments, path)[0], 0)
        for break_it in (lambda it: it.update(FocusVersion="1.3"), lambda it: it.pop("SchemaId"),
                         lambda it: it["ColumnDefinition"].pop(),
                         lambda it: it["ColumnDefinition"][0].update(DataType="FLOAT?")):
            broken_one = copy.deepcopy(metadata)
            break_it(broken_one)
            path = self.write("metadata.json", json.dumps(broken_one))
            self.assertEqual(self.run_main(*arguments, path)[0], 1)

    @unittest.skipUnless(SQL_TOOL, "no program that reads Parquet was named")
    def test_parquet_is_judged_like_its_csv_and_by_its_types(self):
        table = good_files.good("1.4")
        source = self.write("good.csv", good_files.as_csv(table))
        model = models.load("1.4")
        kinds = {rule.about: rule.check["CheckFunction"] for rule in model.rules.values()
                 if rule.function == "Type"}
        as_types = {"TypeString": "VARCHAR", "TypeDecimal": "DECIMAL(38,18)",
                    "TypeDateTime": "TIMESTAMP"}
        for bad, rule in ((None, None), ("BilledCost", "1.4-BilledCost-type"),
                          ("ChargePeriodEnd", "1.4-ChargePeriodEnd-type"),
                          ("ServiceName", None)):
            cells = ", ".join(
                f'"{name}"::' + ("VARCHAR" if name == bad else
                                 as_types[kinds.get(name, "TypeString")]) + f' AS "{name}"'
                for name in table.columns)
            path = os.path.join(self.folder, f"{bad}.parquet")
            done = subprocess.run(
                [SQL_TOOL, os.path.join(self.folder, f"{bad}.db"),
                 f"COPY (SELECT {cells} FROM read_csv('{source}', all_varchar = true)) "
                 f"TO '{path}' (FORMAT parquet)"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            read = tables.read(path, SQL_TOOL)
            self.assertEqual(broken("1.4", read), {rule} - {None} if rule else set(), bad)


if __name__ == "__main__":
    unittest.main()
