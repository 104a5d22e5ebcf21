"""audit utilisation: the GPUs of a month, by hand. Two nodes of one GPU each for March, 744 each:
ana trains on a at 80 %, bo's notebook holds b at 10 %; c is not seen by telemetry at all."""
import csv
import io
import json

from harness import expect, expect_run, folder, report

cwd = folder()
HEAD = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,BillingPeriodStart,"
        "BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,"
        "ChargeDescription,ChargeFrequency,BillingAccountId,InvoiceIssuerName,ServiceProviderName,"
        "ServiceCategory,ServiceName,ResourceId,ListUnitPrice,PricingQuantity,PricingUnit")
(cwd / "bill.csv").write_text(HEAD + "\n" + "".join(
    f"744,744,744,744,USD,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
    f"Usage,,a node,Usage-Based,acc,Demo,Demo,Compute,Machines,{node},1,744,Hours\n" for node in "abc"))
(cwd / "n.csv").write_text("node,provider_id,gpu_model,gpu_count,from\n" + "".join(
    f"{node},{node},NVIDIA A100-SXM4-80GB,1,2026-03-01\n" for node in "abc"))
(cwd / "g.csv").write_text("node,uuid,index,model,from\n" + "".join(
    f"{node},GPU-{node},0,NVIDIA A100-SXM4-80GB,2026-03-01\n" for node in "abc"))
(cwd / "j.csv").write_text("workload,begin,end,gpu,team,user,label:job_name\n"
                           "1,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,GPU-a,nlp,ana,train-large\n"
                           "2,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,GPU-b,vision,bo,notebook\n")
GIB = 1 << 30
rows = ["node,gpu,at,sm_active,memory_used_bytes,memory_total_bytes"]
for day in range(1, 32):
    for hour in range(24):
        for minute in range(0, 60, 5):
            at = f"2026-03-{day:02}T{hour:02}:{minute:02}:00Z"
            rows.append(f"a,GPU-a,{at},0.8,{70 * GIB},{80 * GIB}")
            rows.append(f"b,GPU-b,{at},0.1,{8 * GIB},{80 * GIB}")
(cwd / "u.csv").write_text("\n".join(rows) + "\n")
expect_run(["import", "--cluster", "lab", "n.csv", "g.csv", "j.csv", "u.csv", "bill.csv"], cwd)
expect_run(["allocate"], cwd)

out, _ = expect_run(["audit", "utilisation", "--format", "csv"], cwd)
table = list(csv.DictReader(io.StringIO(out)))
expect([row["node"] for row in table] == ["b", "a", "c"], f"under 30 % first, not seen last: {table}")
expect([row["utilisation"] for row in table] == ["10.0000", "80.0000", ""], f"{table}")
expect([row["type"] for row in table] == ["interactive", "training", ""], "what the names say")
expect(table[0]["memory_peak_gib"] == "8.0" and table[0]["metric"] == "SM_ACTIVE", f"{table[0]}")
expect([row["cost"] for row in table] == ["744"] * 3, "each its node's cost")
expect(table[2]["gpu"] == "not seen" and table[2]["stop"] != "", f"c is needed by nobody: {table[2]}")
expect(table[2]["saves"] == "730", f"and saves all of it: {table[2]['saves']}")

document = json.loads(expect_run(["audit", "utilisation", "--format", "json"], cwd)[0])
expect(document[0]["title"].startswith("The easiest to save") and len(document[0]["rows"]) <= 3,
       f"the easiest first: {document[0]['title']}")
expect_run(["audit", "utilisation", "--format", "pdf"], cwd, 2, ["--out"])
expect_run(["audit", "utilisation", "--month", "1999-01"], cwd, 1)
expect_run(["audit", "utilisation", "--cluster", "elsewhere"], cwd, 2, ["there is no cluster"])
for name in ("one.pdf", "two.pdf"):
    expect_run(["audit", "utilisation", "--format", "pdf", "--out", name], cwd, 0, ["written to"])
one = (cwd / "one.pdf").read_bytes()
expect(one.startswith(b"%PDF-") and len(one) > 5000, "a PDF")
expect(one == (cwd / "two.pdf").read_bytes(), "the same bytes again")
report("cli/utilisation")
