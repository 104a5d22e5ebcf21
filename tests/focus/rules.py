#!/usr/bin/env python3
"""Judges a FOCUS file by the rules of its version and by our own about split cost allocation.

usage: rules.py --version 1.2|1.3|1.4 --file X.csv|X.parquet [--metadata M.json]
                [--applicability ALL|A,B,…|ALL,-C,…] [--origin BILL.csv] [--sql-tool PROGRAM]
                [--json OUT] [--all]

Exit: 0 nothing is broken but what contradictions.txt names, 1 a rule is broken, 2 it can't be said.
"""
import argparse
import json
import sys

import allocation
import checks
import evaluate
import file_rules
import model as models
import table as tables


def judge(version, table, applicability="ALL", metadata=None, origin=None):
    """All outcomes, those of the specification first."""
    model = models.load(version)
    applicable = _applicable(model, applicability)
    outcomes = evaluate.evaluate(model, table, applicable)
    outcomes += file_rules.outcomes(model, table)
    if metadata is not None:
        outcomes += file_rules.metadata_outcomes(model, table, metadata)
    outcomes += allocation.outcomes(model, table, origin)
    return outcomes


def _applicable(model, applicability):
    """ "ALL", "A,B" or "ALL,-C": what the data generator supports."""
    names = [name for name in applicability.split(",") if name]
    unknown = {name.removeprefix("-") for name in names} - {*model.criteria, "ALL"}
    if unknown:
        raise checks.UnknownCheck(f"criteria that {model.version} lacks: {sorted(unknown)}")
    added = set(model.criteria) if "ALL" in names else {
        name for name in names if not name.startswith("-")}
    return added - {name[1:] for name in names if name.startswith("-")}


def show(outcomes, everything, out):
    notes = {entry.id: entry for entry in models.contradictions()}
    for outcome in outcomes:
        if outcome.status not in ("failed", "advice", "contradiction") and not everything:
            continue
        head = f"{outcome.rule} ({outcome.wrong_rows} of {outcome.judged} rows)"
        if outcome.status == "contradiction":
            note = notes[models.plain(outcome.rule)]
            print(f"contradiction: {head}: {note.reason} ({note.upstream})", file=out)
            continue
        print(f"{outcome.status.upper()}: {head}\n    {outcome.sentence}", file=out)
        for line in outcome.wrong:
            print(f"    {line}", file=out)
    counts = count(outcomes)
    for status, meaning in evaluate.STATUSES:
        if counts.get(status):
            print(f"{counts[status]:5} {status}: {meaning}", file=out)


def count(outcomes):
    counts = {}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
    return counts


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True, choices=models.VERSIONS)
    parser.add_argument("--file", required=True)
    parser.add_argument("--metadata", help="the file that describes this one")
    parser.add_argument("--applicability", default="ALL",
                        help="criteria, with commas between them; -C takes one away")
    parser.add_argument("--origin", help="the bill whose charges the file divides, as FOCUS")
    parser.add_argument("--sql-tool", help="the program that reads Parquet")
    parser.add_argument("--json", help="where to write every outcome")
    parser.add_argument("--all", action="store_true", help="tell of every rule")
    options = parser.parse_args(arguments)
    try:
        table = tables.read(options.file, options.sql_tool)
        origin = tables.read(options.origin, options.sql_tool) if options.origin else None
        metadata = None
        if options.metadata:
            with open(options.metadata, encoding="utf-8") as file:
                metadata = json.load(file)
        outcomes = judge(options.version, table, options.applicability, metadata, origin)
    except (checks.UnknownCheck, tables.Unreadable, OSError, ValueError) as error:
        print(f"rules: {error}", file=sys.stderr)
        return 2
    show(outcomes, options.all, sys.stdout)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([vars(outcome) for outcome in outcomes], file, indent=1)
    broken = sum(outcome.status == "failed" for outcome in outcomes)
    print(f"{options.file}: FOCUS {options.version}, {len(table.rows)} rows: "
          f"{'conforms' if not broken else f'{broken} rules broken'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
