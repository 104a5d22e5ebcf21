"""The same cost is the same figure wherever it is shown: for random filters, costs, currencies and
periods, the answers of /costs, /summary, /workloads, /coverage and /explain equal `report`, digit by
digit, and what an explanation lists adds up to the amount that it explains. Two currencies."""
import csv
import io
import os
import random
import subprocess
from decimal import Decimal, getcontext

import serving
import two_currencies
from serving import BINARY, expect, guarded

getcontext().prec = 80
ROUNDS = int(os.environ.get("PENNYWEIGHT_FIGURES", "15"))
DIMENSIONS = ["team", "user", "project", "cluster", "node", "service", "component", "workload", "kind"]
COSTS = ["effective", "billed", "list", "contracted"]


def report(server, question):
    """The rows of the command line."""
    arguments = ["report", "--format", "csv"]
    for name, value in question.items():
        for one in value if isinstance(value, list) else [value]:
            arguments += ["--" + name, one]
    done = subprocess.run([BINARY, *arguments], cwd=server.folder, capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stdout}{done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def some_question(rng, values):
    dimension = rng.choice(DIMENSIONS)
    question = {"by": dimension, "cost": rng.choice(COSTS), "filter": []}
    if rng.random() < 0.3:
        question["by"] += "," + rng.choice([one for one in DIMENSIONS if one != dimension])
    for _ in range(rng.randrange(3)):
        name = rng.choice(DIMENSIONS)
        some = rng.sample(values[name], min(len(values[name]), rng.randrange(1, 3)))
        negate = rng.random() < 0.3
        # A kind in parentheses stands for itself alone.
        if len(some) > 1 or negate:
            some = [one for one in some if not one.startswith("(")] or some[:1]
        if negate and some[0].startswith("("):
            continue
        quoted = [one.replace("\\", "\\\\").replace(",", "\\,") for one in some]
        question["filter"].append(f"{name}{'!=' if negate else '='}{','.join(quoted)}")
    period = rng.random()
    if period < 0.5:
        question["month"] = rng.choice(["2026-02", "2026-03", "2026-01"])
    elif period < 0.9:
        begin = rng.randrange(1, 25)
        question["from"], question["to"] = f"2026-03-{begin:02}", f"2026-03-{begin + 5:02}"
    currency = rng.choice([None, "USD", "EUR", "original"])
    if currency:
        question["currency"] = currency
    return question


def sums(rows, column):
    total = {}
    for row in rows:
        total[row["currency"]] = total.get(row["currency"], Decimal(0)) + Decimal(row[column])
    return {currency: amount for currency, amount in total.items() if amount != 0}


def of_list(entries, amount="amount", currency="currency"):
    total = {}
    for entry in entries:
        total[entry[currency]] = total.get(entry[currency], Decimal(0)) + Decimal(entry[amount])
    return {code: amount for code, amount in total.items() if amount != 0}


def check_costs(server, asker, question):
    rows = report(server, question)
    answer = asker.get("/api/v1/costs", question)
    if not expect(answer.status == 200, f"{question}: {answer}"):
        return []
    column = question["cost"] + "_cost"
    got = [(table.get("currency"), row) for table in answer.json()["tables"] for row in table["rows"]]
    keys = question["by"].split(",")
    same = [[row[name] for name in keys] + [code, row[column]] for code, row in got]
    want = [[row[name] for name in keys] + [row["currency"], row[column]] for row in rows]
    expect(sorted(same) == sorted(want), f"/costs differs from report: {question}\n{same[:5]}\n{want[:5]}")
    return rows


def explained(asker, asked, what):
    """All of an explanation, page by page; the amounts of its pages add up to it."""
    page = asker.get("/api/v1/explain", {**asked, "top": "1000"})
    if not expect(page.status == 200, f"{what}: {page}"):
        return None
    first = page.json()
    lines = list(first["lines"])
    while len(lines) < first["postings_total"]:
        more = asker.get("/api/v1/explain", {**asked, "top": "1000", "offset": str(len(lines))})
        if not expect(more.status == 200 and more.json()["lines"], f"{what} at {len(lines)}: {more}"):
            return None
        lines += more.json()["lines"]
    expect(len(lines) == first["postings_total"], f"{what}: {len(lines)} postings")
    expect([one["number"] for one in lines] == list(range(len(lines))), f"{what}: numbered")
    billed = of_list(lines)
    expect(billed == of_list(first["parts"]), f"{what}: the postings add up to the parts")
    expect(billed == of_list(first["months"]), f"{what}: the parts add up to the months")
    expect(of_list(first["months"], "shown", "shown_currency") == of_list(first["total"]),
           f"{what}: the months add up to the total")
    return first, lines


def check_explanations(asker, question, rows, rng):
    column = question["cost"] + "_cost"
    keys = question["by"].split(",")
    whole = explained(asker, question, f"the whole of {question}")
    if whole:
        expect(of_list(whole[0]["total"]) == sums(rows, column), f"the whole of {question}")
    shown = [row for row in rows if all(row[name] != "(none)" for name in keys)]
    for row in rng.sample(shown, min(2, len(shown))):
        values = [row[name] for name in keys]
        key = values[0] if len(values) == 1 else ",".join(
            one.replace("\\", "\\\\").replace(",", "\\,") for one in values)
        same = [one for one in rows if all(one[name] == row[name] for name in keys)]
        got = explained(asker, {**question, "key": key}, f"{key} of {question}")
        if got:
            expect(of_list(got[0]["total"]) == sums(same, column),
                   f"{key} of {question}: {got[0]['total']}, the report says {same}")


def check_buckets(asker):
    """What was spread leads to the bill lines of its bucket, which add up to it."""
    spread = asker.get("/api/v1/explain", {"by": "kind", "key": "shared", "month": "2026-03",
                                           "top": "1000", "filter": "team!=", "currency": "original"})
    if not expect(spread.status == 200, f"spread amounts: {spread}"):
        return
    transfers = {line["charge"]: line["number"] for line in spread.json()["lines"]}
    expect(len(transfers) > 3, "shared cost was spread")
    for transfer, number in list(transfers.items())[:5]:
        one = asker.get("/api/v1/explain", {
            "by": "kind", "key": "shared", "month": "2026-03", "filter": "team!=", "top": "1",
            "posting": str(number), "currency": "original"}).json()
        expect(one["bucket"] == transfer, f"posting {number} was moved by {transfer}: {one['bucket']}")
        facts = [fact for step in one["explanation"] for fact in step["facts"]]
        told = [Decimal(fact["value"].replace(",", "").split()[-1]) for fact in facts
                if fact["name"] == "the bucket's effective cost"]
        bucket = explained(asker, {"bucket": transfer}, f"bucket {transfer}")
        if bucket:
            got = sum(of_list(bucket[0]["total"]).values())
            expect(told == [got], f"bucket {transfer} is {got}, told {told}")
            for line in bucket[1][:2]:
                charge = asker.get("/api/v1/explain", {"charge": line["charge"]})
                expect(charge.status == 200 and charge.json()["exact"],
                       f"its line {line['charge']}: {charge}")


def check_month(server, asker, month, currency):
    chosen = {"currency": currency} if currency else {}
    kinds = report(server, {"by": "kind", "month": month, **chosen})
    for one in asker.get("/api/v1/summary", {"month": month, **chosen}).json()["months"]:
        if one["month"] != month:
            continue
        own = [row for row in kinds if row["currency"] == one["currency"]]
        expect(Decimal(one["total"]) == sums(own, "effective_cost").get(one["currency"], 0),
               f"the summary of {month} in {currency}")
        for row in own:
            expect(Decimal(one[row["kind"]]) == Decimal(row["effective_cost"]), f"{row} in the summary")
    works = asker.get("/api/v1/workloads", {"month": month, "limit": "1000", **chosen}).json()["data"]
    of_report = {(row["cluster"], row["workload"], row["currency"]): row["effective_cost"] for row in
                 report(server, {"by": "cluster,workload", "month": month, **chosen})}
    for one in works:
        cluster = one["cluster"] or "(no cluster)"
        expect(one["effective_cost"] == of_report.get((cluster, one["workload"], one["currency"])),
               f"workload {one['workload']} of {month} in {currency}")
    coverage = asker.get("/api/v1/coverage", {"month": month, "by": "team", "format": "csv", **chosen})
    parts = list(csv.DictReader(io.StringIO(coverage.body.decode())))
    whole = sums(report(server, {"by": "cluster", "month": month, **chosen}), "effective_cost")
    for code, amount in whole.items():
        reached = [row for row in parts if row["currency"] == code]
        expect(len(reached) > 0, f"coverage of {month} in {currency} has {code}")


def main():
    seed = int(os.environ.get("PENNYWEIGHT_SEED", "1"))
    rng = random.Random(seed)
    server = two_currencies.server()
    asker = server.sign_in_admin()
    values = {name: sorted({row[name] for row in report(server, {"by": name, "currency": "original"})})
              for name in DIMENSIONS}
    values = {name: [one for one in all_of if one != "(none)"] or ["x"] for name, all_of in values.items()}
    for month in ("2026-02", "2026-03"):
        for currency in (None, "EUR", "original"):
            check_month(server, asker, month, currency)
    check_buckets(asker)
    for _ in range(ROUNDS):
        question = some_question(rng, values)
        rows = check_costs(server, asker, question)
        if rows:
            check_explanations(asker, question, rows, rng)
    print(f"{ROUNDS} questions, seed {seed}")


guarded(main, "figures")
