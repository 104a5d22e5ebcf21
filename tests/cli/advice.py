"""The life of an advice on the real program: found, accepted, done, and what the ledger then shows.

In February two nodes of 240 a day are billed and jobs hold one of them; from 1 March on the other
one is gone. So giving it back saves 240 a day, 7300 a month of 730 hours, and the ledger of March
says exactly that. Bo's notebook holds a third node that stays: ending it moves the money to nobody.
"""
import csv
import datetime
import io
import json

from harness import expect, expect_run, folder, report

cwd = folder()
HEAD = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,BillingPeriodStart,"
        "BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,"
        "ChargeDescription,ChargeFrequency,BillingAccountId,InvoiceIssuerName,ServiceProviderName,"
        "ServiceCategory,ServiceName,ResourceId,ListUnitPrice,PricingQuantity,PricingUnit")
DAY = datetime.timedelta(days=1)


def bill(month, nodes, days):
    first = datetime.date.fromisoformat(month + "-01")
    after = (first + 31 * DAY).replace(day=1)
    lines = [HEAD]
    for node in nodes:
        for day in range(days):
            begin = first + day * DAY
            lines.append(f"240,240,240,240,USD,{first}T00:00:00Z,{after}T00:00:00Z,{begin}T00:00:00Z,"
                         f"{begin + DAY}T00:00:00Z,Usage,,a node for a day,Usage-Based,acc,Demo,Demo,"
                         f"Compute,Machines,{node},10,24,Hours")
    (cwd / f"{month}.csv").write_text("\n".join(lines) + "\n")


(cwd / "three.csv").write_text(
    "node,provider_id,gpu_model,gpu_count,from\n" + "".join(
        f"{name},{name},NVIDIA A100-SXM4-80GB,8,2026-02-01\n" for name in ("a", "b", "c")))
jobs = ["JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|"
        "NodeList"]
for number in range(59):
    begin = datetime.date(2026, 2, 1) + number * DAY
    for who, team, node, name in (("ana", "nlp", "a", "train"), ("bo", "vision", "c", "notebook")):
        jobs.append(f"{1000 + 2 * number + (who == 'bo')}|{name}|gpu|{team}|{who}|COMPLETED|{begin}T00:00:00|"
                    f"{begin + DAY}T00:00:00|86400|1|8|billing=8,cpu=8,gres/gpu=8,mem=64G,node=1|{node}")
(cwd / "all.txt").write_text("\n".join(jobs) + "\n")
bill("2026-02", "abc", 28)
bill("2026-03", "ac", 31)
expect_run(["import", "--cluster", "lab", "three.csv", "all.txt", "2026-02.csv"], cwd)
expect_run(["allocate"], cwd)


def rows(*arguments):
    out, _ = expect_run(["advise", *arguments, "--format", "csv"], cwd)
    return list(csv.DictReader(io.StringIO(out)))


found = rows("--month", "2026-02")
expect([row["kind"] for row in found] == ["unneeded-nodes"], f"one advice: {found}")
advice = found[0]["id"]
expect((found[0]["expected"], found[0]["state"], found[0]["in_total"]) == ("7300", "new", "yes"), found)

# Nothing follows from nothing.
expect_run(["advise", "verify", advice], cwd, 1, ["is new", "say first since when"])
expect_run(["advise", "accept", "ffff"], cwd, 1, ["no advice has the id 'ffff'"])
expect_run(["advise", "dismiss", advice], cwd, 2)
expect_run(["advise", "done", advice, "--on", "2199-01-01"], cwd, 2, ["after today"])

# Dismissed: out of the list and its total, until a day or until it is reopened.
expect_run(["advise", "dismiss", advice[:6], "--reason", "reserved for the launch", "--until",
            "2199-01-01", "--by", "ana"], cwd)
out, _ = expect_run(["advise", "--month", "2026-02"], cwd, 0, ["1 advice dismissed"])
expect(advice not in out, "a dismissed advice is not shown")
expect(rows("--month", "2026-02", "--dismissed")[0]["state"] == "dismissed", "but on request")
expect_run(["advise", "show", advice, "--month", "2026-02"], cwd, 0,
           ["dismissed", "reserved for the launch", "until 2199-01-01"])
expect_run(["advise", "reopen", advice, "--reason", "the launch is off"], cwd)
expect_run(["advise", "accept", advice, "--by", "ana"], cwd)
expect_run(["advise", "accept", advice], cwd, 1, ["is accepted"])
expect(rows("--month", "2026-02")[0]["state"] == "accepted", "accepted")
expect_run(["advise", "done", advice, "--on", "2026-03-01"], cwd)
expect(rows("--month", "2026-02")[0]["in_total"] == "done", "what is done is not found again")
expect_run(["advise", "verify", advice], cwd, 1, ["too early", "2026-03-01"])

# March shows it: 28 days after against 28 before, for the same work.
expect_run(["import", "--cluster", "lab", "2026-03.csv"], cwd)
expect_run(["allocate"], cwd)
expect_run(["advise", "verify", advice], cwd, 0,
           ["2026-02-01 to 2026-02-28 was compared with 2026-03-02 to 2026-03-29",
            "20,160.00 USD", "13,440.00 USD", "it saves 7,300.00 USD a month"])
decided = rows("decided")
expect((decided[0]["state"], decided[0]["realised"], decided[0]["day"])
       == ("verified", "7300.00", "2026-03-01"), decided)
out, _ = expect_run(["advise", "progress", "--month", "2026-03"], cwd, 0, ["(fleet)"])
progress = {row["team"]: row for row in rows("progress", "--month", "2026-03")}
expect(progress["(fleet)"]["done"] == "7300" and progress["(fleet)"]["realised"] == "7300", progress)

# Every step is in the audit log, and the ledger still reconciles.
audit, _ = expect_run(["audit", "log", "--format", "json"], cwd)
for action in ("dismiss", "reopen", "accept", "done", "verify"):
    expect(f"advice.{action}" in audit, f"no advice.{action} in the audit log")
expect_run(["reconcile"], cwd, 0, ["0 off"])
report("cli/advice")
