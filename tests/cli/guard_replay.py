"""A month of the ledger held to rules and to the terms of clients, with the real program: the sums against
those of `report`, rule sets from another file, and findings with their evidence."""
import json
import shutil
import subprocess
from decimal import Decimal

from harness import expect, expect_run, folder, import_all, report

cwd = folder()
CONFIG = """clusters: [{name: lab, kind: slurm, time_zone: UTC}]
guardrails:
  clients:
  - {name: nlp, dimension: team, regions: ["eu-*"], dedicated_nodes: true}
  - {name: search, dimension: team, node_pools: ["*"]}
  rules:
  - {name: never, when: {gpus_above: 1000}}
"""
RULES = """guardrails:
  rules:
  - {name: large, effect: require_approval, when: {gpus_above: 3}, reason: half a machine}
  - {name: long, when: {time_above: 24h}}
  - {name: nobody, mode: warn, when: {label_missing: [team]}}
  - {name: all, mode: audit, when: {kind: "Slurm job"}}
"""
(cwd / "pennyweight.yaml").write_text(CONFIG)
(cwd / "rules.yaml").write_text(RULES)
import_all(cwd)
expect_run(["allocate"], cwd)


def tables(*arguments, code=0):
    out, _ = expect_run([*arguments, "--format", "json"], cwd, code)
    return {table["title"].split(",")[0]: table for table in json.loads(out)}


def money(value):
    return Decimal(value)


def check_replay():
    found = tables("guard", "replay", "--month", "2026-03", "--rules", "rules.yaml")
    decisions = found["What the rules would have decided"]
    rows = {row["decision"]: row for row in decisions["rows"]}
    # Every workload has one decision, and their money is that of all workloads.
    total = sum(money(row["cost"]) for row in rows.values())
    expect(total == money(decisions["total"]["cost"]), f"{total} and {decisions['total']}")
    spent = tables("report", "--by", "workload", "--month", "2026-03")
    costs = [money(row["effective_cost"]) for table in spent.values() for row in table["rows"]
             if not str(row["workload"]).startswith("(")]
    expect(sum(costs) == total and len(costs) == decisions["total"]["workloads"],
           f"workloads cost {sum(costs)} in the report ({len(costs)}), {total} in the replay")
    expect(money(rows["denied"]["cost"]) > 0 and money(rows["needs_approval"]["cost"]) > 0, f"{rows}")
    expect(rows["allowed"]["workloads"] > 0, f"{rows}")
    rules = {row["rule"]: row for row in found["By rule; a workload counts for each rule that applies"]["rows"]}
    expect(rules["all"]["workloads"] == decisions["total"]["workloads"], f"{rules['all']}")
    # By hand from sacct: jobs of over a day, and of more than four GPUs.
    header, *lines = (cwd / "jobs.txt").read_text().splitlines()
    owners = found["Who would have met a rule"]
    expect(money(owners["total"]["saved"]) == money(rows["denied"]["cost"]), f"{owners['total']}")
    expect(money(owners["total"]["delayed"]) == money(rows["needs_approval"]["cost"]), f"{owners['total']}")
    names = header.split("|")
    elapsed = [int(dict(zip(names, line.split("|")))["ElapsedRaw"]) for line in lines] if "ElapsedRaw" in names else []
    if elapsed:
        expect(rules["long"]["workloads"] <= sum(one > 86400 for one in elapsed), f"{rules['long']}")
    # What the ledger does not know is never met, neither to stop nor to exempt.
    until = "reason: r, until: 2099-01-01"
    (cwd / "unknown.yaml").write_text(RULES + f"""
  - {{name: unscanned, when: {{annotation_missing: [scan]}}}}
  - {{name: within, effect: require_approval, when: {{exceeds_budget: false}}}}
  - {{name: large too, effect: require_approval, when: {{gpus_above: 3}},
     exempt: [{{when: {{annotation_missing: [scan]}}, {until}}}, {{when: {{exceeds_budget: false}}, {until}}}]}}
""")
    more = tables("guard", "replay", "--month", "2026-03", "--rules", "unknown.yaml")
    same = more["What the rules would have decided"]
    expect(same["rows"] == decisions["rows"], f"{same['rows']}")
    expect(any(note.startswith("3 rules have") for note in same["notes"]), f"{same['notes']}")
    of_all = {row["rule"]: row for row in more["By rule; a workload counts for each rule that applies"]["rows"]}
    expect(of_all["large too"] == of_all["large"] | {"rule": "large too"}, f"{of_all}")
    own = tables("guard", "replay")["What the rules would have decided"]
    expect([row["workloads"] for row in own["rows"] if row["decision"] == "denied"] == [0], f"{own['rows']}")
    csv, _ = expect_run(["guard", "replay", "--rules", "rules.yaml", "--format", "csv"], cwd)
    expect(csv.startswith("currency,decision") or csv.startswith("decision"), csv[:200])
    expect_run(["guard", "replay", "--month", "2031-01"], cwd, 1, has=["2031-01"])
    expect_run(["guard", "replay", "--by", "colour"], cwd, 2, has=["colour"])
    expect_run(["guard", "replay", "--rules", "no.yaml"], cwd, 1, has=["no.yaml"])
    (cwd / "euro.yaml").write_text("guardrails: {rules: [{name: a, when: {per_run_above: 1 EUR}}]}\n")
    expect_run(["guard", "replay", "--rules", "euro.yaml"], cwd, 1, has=["no workload has costs"])


def check_compliance():
    found = tables("compliance", "--month", "2026-03")
    clients = {row["client"]: row for row in found["Residency and isolation"]["rows"]}
    findings = found["Findings"]["rows"]
    region = [row for row in findings if row["client"] == "nlp" and row["rule"] == "region"]
    # None of the nodes is in Europe, so all that nlp was charged on nodes is in these.
    expect(region and sum(money(row["cost"]) for row in region) == money(clients["nlp"]["charged"]),
           f"{region} {clients}")
    expect(all(" on " in row["evidence"] for row in region), f"{region}")
    expect(clients["nlp"]["findings"] == sum(row["client"] == "nlp" for row in findings), f"{clients}")
    beside = [row for row in findings if row["rule"] == "dedicated node"]
    expect(all(row["client"] == "nlp" and " beside " in row["evidence"] for row in beside), f"{beside}")
    # The report of one client may be handed to it: it names nobody else's work.
    own = [row for row in tables("compliance", "nlp", "--month", "2026-03")["Findings"]["rows"] if row["rule"] in ("dedicated node", "shared GPU")]
    expect(len(own) == len(beside) and all("beside work of " in row["evidence"] for row in own), f"{own}")
    expect(all("beside work of " not in row["evidence"] for row in beside), f"{beside}")
    expect_run(["compliance", "--check"], cwd, 1, has=["region"])
    expect_run(["compliance", "search", "--month", "2026-03"], cwd, has=["search"])
    expect_run(["compliance", "acme"], cwd, 1, has=["no client 'acme'"])
    # The PDF has the figures of the tables, and the terms to which they were held.
    expect_run(["compliance", "nlp", "--month", "2026-03", "--check", "--pdf", "nlp.pdf"], cwd, 1)
    expect((cwd / "nlp.pdf").read_bytes().startswith(b"%PDF-"), "a PDF")
    if shutil.which("pdftotext"):
        words = subprocess.run(["pdftotext", "-layout", str(cwd / "nlp.pdf"), "-"], check=True, capture_output=True,
                               text=True).stdout
        figures = words.replace(",", "")
        expect("Residency and isolation of nlp" in words and "regions eu-*" in words, words[:500])
        own = tables("compliance", "nlp", "--month", "2026-03")
        for row in own["Residency and isolation"]["rows"]:
            expect(f"{money(row['charged']):.2f}" in figures, f"{row} is not in {words}")
        for row in own["Findings"]["rows"]:
            expect(f"{money(row['cost']):.2f}" in figures, f"{row} is not in {words}")
    # Who sees it: as far as scopes let them.
    expect("Who changed what" in found, f"{list(found)}")
    for name, scope in (("all", "everything"), ("nlp-lead", "team=nlp,cv"), ("other", "team=search"), ("part", "user=ana")):
        expect_run(["user", "add", name, "--role", "viewer", "--scope", scope, "--no-password"], cwd)
    sees = {row["who"]: row["sees"] for row in tables("compliance", "nlp", "--month", "2026-03")["Who sees what they are charged"]["rows"]}
    expect(sees.pop("admin", "everything") == "everything" and sees == {
        "all": "everything", "nlp-lead": "all of the client", "part": "a part of the client"}, f"{sees}")
    csv, _ = expect_run(["compliance", "--format", "csv"], cwd)
    expect(csv.count("\n") == len(findings) + 1, csv[:300])
    (cwd / "pennyweight.yaml").write_text(CONFIG.replace("eu-*", "*").replace("dedicated_nodes: true", "dedicated_nodes: false"))
    expect_run(["compliance", "nlp", "--check"], cwd)
    (cwd / "pennyweight.yaml").write_text("clusters: [{name: lab, kind: slurm}]\n")
    expect_run(["compliance"], cwd, 2, has=["guardrails.clients"])


def check_history():
    """What similar work cost: the percentiles by nearest rank, of the amounts of `report`."""
    spent = tables("report", "--by", "workload", "--month", "2026-03")
    cost_of = {str(row["workload"]): money(row["effective_cost"]) for table in spent.values() for row in table["rows"]}
    header, *lines = (cwd / "jobs.txt").read_text().splitlines()
    jobs = [dict(zip(header.split("|"), line.split("|"))) for line in lines]
    by_name = {}
    for job in jobs:
        if "." not in job["JobID"] and job["JobID"] in cost_of:
            by_name.setdefault(job["JobName"], []).append(cost_of[job["JobID"]])
    expect(by_name, f"no jobs with costs: {list(cost_of)[:5]} {jobs[0]}")
    name, costs = max(by_name.items(), key=lambda item: len(item[1]))
    costs.sort()
    (cwd / "job.sbatch").write_text(f"#!/bin/sh\n#SBATCH -J {name} --gpus=1 -t 60\n")
    found = tables("estimate", "job.sbatch", "--history", "--gpu-model", "A100-SXM4-80GB", "--prices-as-of", "2026-07-20")
    row = found["What similar workloads really cost"]["rows"][0]
    expect(row["likeness"] == "same name" and row["similar"] == len(costs), f"{row} {len(costs)}")
    expect(money(row["cost_p50"]) == costs[-(-len(costs) * 50 // 100) - 1], f"p50 {row} {costs}")
    expect(money(row["cost_p90"]) == costs[-(-len(costs) * 90 // 100) - 1], f"p90 {row} {costs}")
    (cwd / "job.sbatch").write_text("#!/bin/sh\n#SBATCH -J never-seen --gpus=999 -t 60\n")
    found = tables("estimate", "job.sbatch", "--history", "--gpu-model", "A100-SXM4-80GB", "--prices-as-of", "2026-07-20")
    row = found["What similar workloads really cost"]["rows"][0]
    expect(row["likeness"] == "none" and row["similar"] == 0 and row["cost_p50"] is None, f"{row}")
    text, _ = expect_run(["estimate", "job.sbatch", "--history", "--gpu-model", "A100-SXM4-80GB", "--format", "markdown"], cwd)
    expect("### What similar workloads really cost" in text, text)
    expect_run(["estimate", "job.sbatch", "--history", "--by", "colour"], cwd, 2, has=["colour"])


def check_rule_sets():
    """Three sets of rules, as those of the guide on Philly and openb: whom each stops, and the money, worked out
    here from sacct and the costs of `report`."""
    spent = tables("report", "--by", "workload", "--month", "2026-03")
    cost_of = {str(row["workload"]): money(row["effective_cost"]) for table in spent.values() for row in table["rows"]}
    header, *lines = (cwd / "jobs.txt").read_text().splitlines()
    jobs = []
    for line in lines:
        job = dict(zip(header.split("|"), line.split("|")))
        gpus = [int(part.split("=")[1]) for part in job["AllocTRES"].split(",") if part.startswith("gres/gpu=")]
        if job["JobID"] in cost_of:
            jobs.append((sum(gpus), int(job["ElapsedRaw"]) / 3600, cost_of[job["JobID"]]))
    expect(len(jobs) > 50, f"{len(jobs)} jobs")
    sets = [
        ("[{name: large, effect: require_approval, when: {gpus_above: 2}}, {name: long, effect: warn, when: {time_above: 12h}}]",
         lambda gpus, hours, cost: "needs_approval" if gpus > 2 else "warned" if hours > 12 else "allowed"),
        ("[{name: dear, effect: require_approval, when: {per_run_above: 20 USD}}, {name: too dear, when: {per_run_above: 100 USD}}]",
         lambda gpus, hours, cost: "denied" if cost > 100 else "needs_approval" if cost > 20 else "allowed"),
        ("[{name: endless, when: {time_above: 24h}}, {name: huge, when: {gpus_above: 3}}, {name: day, effect: require_approval, when: {time_above: 6h}}]",
         lambda gpus, hours, cost: "denied" if hours > 24 or gpus > 3 else "needs_approval" if hours > 6 else "allowed")]
    for number, (rules, decide) in enumerate(sets):
        (cwd / "set.yaml").write_text(f"guardrails: {{rules: {rules}}}\n")
        found = tables("guard", "replay", "--month", "2026-03", "--rules", "set.yaml")["What the rules would have decided"]
        wanted = {}
        for job in jobs:
            count, cost = wanted.get(decide(*job), (0, Decimal(0)))
            wanted[decide(*job)] = (count + 1, cost + job[2])
        got = {row["decision"]: (row["workloads"], money(row["cost"])) for row in found["rows"] if row["workloads"]}
        expect(got == wanted and len(wanted) > 1, f"set {number}: {got} instead of {wanted}")


check_replay()
check_rule_sets()
check_compliance()
check_history()
report("guard_replay")
