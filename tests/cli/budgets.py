"""Budgets of the real program: what they say was spent is what report says until the same day."""
import csv
import io
import re
from decimal import Decimal

from harness import expect, expect_run, folder, import_all, report

cwd = folder()
import_all(cwd)
expect_run(["allocate"], cwd)
CONFIG = """clusters: [{name: lab, kind: slurm, time_zone: UTC}]
budgets:
  - {name: month, filter: team=nlp, amount: 4000 USD}
  - {name: all, amount: 4000 USD, cost: list}
  - {name: hours, filter: team=nlp, amount: 900 gpu_hours}
  - {name: week, filter: team=nlp, amount: 700 USD, period: week}
  - {name: project, filter: team=nlp, amount: 700 USD, period: project, from: 2026-03-05, to: 2026-04-02}
  - {name: saved, filter: team=nlp, amount: 700 USD, period: week, from: 2026-03-02, roll_over: true}
  - {name: euro, filter: team=nlp, amount: 1 EUR}
  - {name: misspelt, filter: team=npl, amount: 1 USD}
"""
(cwd / "budgets.yaml").write_text(CONFIG)


def rows(arguments):
    out, _ = expect_run(["--config", "budgets.yaml", *arguments, "--format", "csv"], cwd)
    return list(csv.DictReader(io.StringIO(out)))


def spent(first, last, column="effective_cost", cost="effective", filters=("--filter", "team=nlp")):
    lines = rows(["report", "--by", "cluster", *filters, "--from", first, "--to", last,
                  "--cost", cost])
    return sum((Decimal(line[column]) for line in lines), Decimal(0))


def budget(name, today):
    row = rows(["budget", name, "--today", today])[0]
    return {**row, **{key: Decimal(row[key]) for key in ("actual", "carried", "left") if row[key]}}


# The ledger has the whole of March: on a day within it the later days don't count.
for today in ("2026-03-01", "2026-03-02", "2026-03-15", "2026-03-30", "2026-03-31"):
    got = budget("month", today)
    expect(got["actual"] == spent("2026-03-01", today), f"month on {today}: {got['actual']}")
expect(budget("month", "2026-04-01")["actual"] == 0, "April has no costs")
expect(budget("all", "2026-03-20")["actual"]
       == spent("2026-03-01", "2026-03-20", "list_cost", "list", ()), "list cost of everything")
expect(budget("week", "2026-03-18")["actual"] == spent("2026-03-16", "2026-03-18"), "from Monday on")
expect(budget("project", "2026-03-18")["actual"] == spent("2026-03-05", "2026-03-18"), "a project")
hours = budget("hours", "2026-03-20")["actual"]
expect(round(hours, 4) == round(spent("2026-03-01", "2026-03-20", "gpu_hours"), 4), f"{hours} hours")

# Weeks of 700 from 2 March on: two are over on the 18th.
got = budget("saved", "2026-03-18")
expect(got["carried"] == 1400 - spent("2026-03-02", "2026-03-15"), f"{got}")
expect(got["left"] == 700 + got["carried"] - got["actual"], f"{got}")

# What a budget says of itself can be asked of a report.
told, _ = expect_run(["--config", "budgets.yaml", "budget", "saved", "--today", "2026-03-18", "--explain"], cwd, 0,
                     ["700.00 USD of the period itself, less 508.25 USD that earlier ones overspent", "at an even pace it would be"])
command = re.search(r"pennyweight (report --by cluster --filter team=nlp --from 2026-03-16 --to 2026-03-18)$", told, re.M)
expect(command, told)
total = sum(Decimal(row["effective_cost"]) for row in rows(command[1].split()))
expect(total == got["actual"], f"{total} is not {got['actual']}")

# One that can't be measured hides no other, and fails a check.
everything, _ = expect_run(["--config", "budgets.yaml", "budget", "--today", "2026-03-20"], cwd, 0,
                           ["add the filter currency=EUR", "unknown", "check the names in it"])
expect(everything.count("team=nlp") >= 6, "all budgets are shown")
expect_run(["--config", "budgets.yaml", "budget", "euro", "--today", "2026-03-20", "--check"], cwd, 1)
expect_run(["--config", "budgets.yaml", "budget", "all", "--today", "2026-03-01", "--check"], cwd, 0)
# Nor does a scope pass that nothing matches: it is probably misspelt.
expect_run(["--config", "budgets.yaml", "budget", "misspelt", "--today", "2026-03-20", "--check"], cwd, 1,
           ["unknown", "no cost of the last 400 days matches its scope, team=npl"])
expect_run(["--config", "budgets.yaml", "budget", "none"], cwd, 1, ["there is no budget 'none'"])
# People set budgets besides those of the configuration; each change is a version and in the audit log.
at = ["--config", "budgets.yaml"]
expect_run([*at, "budget", "set", "extra", "--filter", "team=nlp", "--amount", "4000 USD", "--owner", "bo"], cwd, 0,
           ["1 budget set"])
expect_run([*at, "budget", "set", "extra", "--filter", "team=nlp", "--amount", "4000 USD", "--owner", "bo"], cwd, 0,
           ["0 budgets set, 1 as before"])
expect(budget("extra", "2026-03-18")["actual"] == budget("month", "2026-03-18")["actual"], "the same scope, the same cost")
for arguments, why in ((["set", "month", "--amount", "1 USD"], "part of the configuration"),
                       (["set", "x", "--amount", "1"], "has no currency"),
                       (["set", "x", "--amount", "1 USD", "--filter", "tame=nlp"], "tame"),
                       (["set", "x", "--amount", "1 USD", "--period", "decade"], "use day, week"),
                       (["set", "x", "--amount", "9 gpu_hours", "--cost", "list"], "GPU-hours have no list cost; leave"),
                       (["set", "x", "--amount", "9 gpu_hours", "--cost", "effective"], "have no effective cost"),
                       (["--check", "set", "x", "--amount", "1 USD"], "set excludes"),
                       (["--explain", "remove", "x"], "remove excludes"),
                       (["--today", "2026-03-18", "history"], "history excludes"),
                       (["remove", "month"], "part of the configuration")):
    expect_run([*at, "budget", *arguments], cwd, 2, [why])
expect_run([*at, "budget", "remove", "nobody"], cwd, 1, ["nobody has set a budget 'nobody'"])
(cwd / "plan.csv").write_text("name,filter,amount\nextra,team=nlp,5000 USD\nwrong,team=nlp,5\n")
expect_run([*at, "budget", "import", "plan.csv"], cwd, 2, ["plan.csv:3: amount: '5' has no currency", "nothing was changed"])
(cwd / "plan.csv").write_text("name,filter,amount\nextra,team=nlp,5000 USD\nmore,team=nlp;cluster=lab,70 USD\n")
expect_run([*at, "budget", "import", "plan.csv"], cwd, 0, ["2 budgets set"])
expect(budget("more", "2026-03-18")["actual"] == budget("extra", "2026-03-18")["actual"], "two filters")
expect_run([*at, "budget", "remove", "more"], cwd, 0, ["removed"])
versions = rows(["budget", "history"])
expect([row["budget"] for row in versions] == ["extra", "extra", "more", "more"], f"{versions}")
expect("4000 USD" in versions[0]["definition"] and "5000 USD" in versions[1]["definition"], "what it was")
audit, _ = expect_run([*at, "audit", "log"], cwd)
expect("2 budgets: extra, more" in audit, "a plan is one entry")
for word in ("budget.set", "budget.remove", "budget more"):
    expect(word in audit, f"the audit log has {word}")

report("cli/budgets")
