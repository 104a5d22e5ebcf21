"""The price before it is spent, with the real program: figures, formats, limits, rules."""
import json
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from decimal import Decimal

from harness import ROOT, expect, expect_run, folder, report

cwd = folder()
DAY = ["--prices-as-of", "2026-07-20"]
PRICES = """provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,box,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
"""
(cwd / "prices.csv").write_text(PRICES)
RULES = """prices: {override: prices.csv}
guardrails:
  rules:
  - name: research-is-free-to-try
    effect: allow
    when: {namespace: "sandbox-*", gpus_above: 0, per_month_above: 0 USD, name: tiny}
  - name: label
    effect: deny
    when: {kind: "*", label_missing: [team]}
    reason: who pays must be known
    way_out: add the label team
  - name: big
    effect: require_approval
    when: {gpus_above: 8}
    exempt: [{when: {name: launch}, reason: the launch, until: 2026-11-30}]
  - name: long
    mode: audit
    when: {time_above: 24h}
"""
(cwd / "rules.yaml").write_text(RULES)


def deployment(name, replicas, gpus, labels="{team: nlp}", cpu=10, memory="100Gi"):
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: ml, labels: {labels}}}
spec:
  replicas: {replicas}
  template:
    spec:
      nodeSelector: {{node.kubernetes.io/instance-type: box}}
      containers:
      - resources: {{limits: {{nvidia.com/gpu: {gpus}, cpu: {cpu}, memory: {memory}}}}}
"""


def estimate(arguments, code=0, has=(), stdin=None):
    return expect_run(["--config", "rules.yaml", "estimate", *arguments, *DAY], cwd, code, has, stdin)


def tables(arguments, code=0, stdin=None):
    out, _ = estimate([*arguments, "--format", "json"], code, stdin=stdin)
    return json.loads(out)


# Figures by hand: 3 x 2 of 8 GPUs of 32, 30 of 100 CPUs of 4, 300 of 1000 GiB of 4.
(cwd / "chat.yaml").write_text(deployment("chat", 3, 2))
row = tables(["chat.yaml"])[0]["rows"][0]
expect(Decimal(row["cost_per_hour"]) == Decimal("26.4"), f"per hour {row}")
expect(Decimal(row["idle_per_hour"]) == Decimal("13.6"), f"idle {row}")
expect(Decimal(row["cost_per_month"]) == Decimal("19272"), f"per month {row}")
expect(row["machines"] == "1 x own box", f"{row}")

# A pipe, a folder, and the same thing in JSON say the same.
stdin = (cwd / "chat.yaml").read_bytes()
expect(tables(["-"], stdin=stdin)[0]["total"] == tables(["chat.yaml"])[0]["total"], "a pipe")
(cwd / "tree" / "sub").mkdir(parents=True)
(cwd / "tree" / ".git").mkdir()
(cwd / "tree" / ".git" / "x.yaml").write_text(deployment("hidden", 9, 8))
(cwd / "tree" / "sub" / "a.yml").write_text(deployment("chat", 3, 2))
(cwd / "tree" / "values.yaml").write_text("image: {{ .Values.image }}\n")
(cwd / "tree" / "a.json").write_text(json.dumps(
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "b", "namespace": "ml"},
     "spec": {"template": {"spec": {
         "nodeSelector": {"node.kubernetes.io/instance-type": "box"},
         "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}}}))
got = tables(["tree"])
expect([row["workload"] for row in got[0]["rows"]] == ["Deployment ml/b", "Deployment ml/chat"],
       f"a folder: {got}")
expect("Helm template" in json.dumps(got[1]), f"what can't be read is listed: {got}")

# Formats for CI.
markdown, _ = estimate(["chat.yaml", "--format", "markdown"])
expect(markdown.startswith("<!-- pennyweight-estimate -->\n"), "the comment's marker")
expect("19,272.00" in markdown, markdown)
sarif = json.loads(estimate(["tree", "--refuse-unpriced", "--format", "sarif"], 1)[0])
result = sarif["runs"][0]["results"][0]
expect(result["level"] == "error" and result["ruleId"] == "not-priced", f"{result}")
expect(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tree/values.yaml",
       f"{result}")
known = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
expect({one["ruleId"] for one in sarif["runs"][0]["results"]} <= known, "rules are described")
limited = ["chat.yaml", "--max-per-month", "1", "--format", "junit"]
suite = ElementTree.fromstring(estimate(limited, 1)[0])
expect(suite.get("tests") == "2" and suite.get("failures") == "1", ElementTree.tostring(suite))
expect(len(suite.findall("testcase/failure")) == 1, "one failure")

# Limits are exact, and a change is what is added.
estimate(["chat.yaml", "--max-per-month", "19272"])
estimate(["chat.yaml", "--max-per-month", "19271.99"], 1, ["above the limit of 19,271.99 USD"])
(cwd / "more.yaml").write_text(deployment("chat", 4, 2) + "---\n" + deployment("new", 1, 8))
got = tables(["more.yaml", "--base", "chat.yaml"])[0]
expect([row["change"] for row in got["rows"]] == ["changed", "added"], f"{got}")
expect(Decimal(got["total"]["per_hour_difference"]) == Decimal("41.6"), f"{got}")  # 8.8 + 32.8
estimate(["more.yaml", "--base", "chat.yaml", "--max-increase", "30368"])
estimate(["more.yaml", "--base", "chat.yaml", "--max-increase", "30367.99"], 1)
estimate(["more.yaml", "--max-increase", "1"], 2, ["--base"])
estimate(["more.yaml", "--base", "origin/main"], 2, ["git worktree add FOLDER origin/main"])
(cwd / "job.sh").write_text("#!/bin/sh\n#SBATCH --gres=gpu:h100:8 -t 90 --exclusive -N 2\n")
estimate(["job.sh", "--instance-type", "box", "--gpu-model", "h100=H100-SXM5-80GB",
          "--max-per-run", "120"])
estimate(["chat.yaml", "--region", "nowhere"], has=["the price list has no region 'nowhere'"])
expect("no region" not in estimate(["chat.yaml", "--region", "us-east-1"])[0], "a region of the list")
estimate(["job.sh", "--instance-type", "box", "--gpu-model", "h100=H100-SXM5-80GB",
          "--max-per-run", "119.99"], 1, ["a run may cost 120.00 USD"])

# Bad input is refused with its place, and nothing hangs or falls over.
for name, text, message in [
        ("bomb.yaml", "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 10)}]\n"
                              for i in range(12)), "with its aliases written out"),
        ("deep.yaml", "a: " + "[" * 5000, "nested too deeply"),
        ("deep.json", "[" * 5000, "nested too deeply"),
        ("helm.yaml", "a: 1\n{{- if .Values.x }}\n", "helm.yaml:2: is a Helm template"),
        ("twice.yaml", "a: 1\na: 2\n", "twice.yaml:2: the key 'a' is here twice"),
        ("binary.yaml", "a\0b", "binary file"),
]:
    (cwd / name).write_text(text)
    estimate([name], 1, [message])
estimate(["missing.yaml"], 1, ["missing.yaml"])
estimate(["chat.yaml", "--gpu-model", "H100"], 2, ["--gpu-model"])
estimate(["chat.yaml", "--currency", "usd"], 2, ["--currency"])
estimate(["chat.yaml", "--hours", "-1"], 2, ["--hours"])


# Rules.
def guard(arguments, code=0, has=()):
    return expect_run(["--config", "rules.yaml", "guard", *arguments, *DAY], cwd, code, has)


guard(["check", "chat.yaml"], 0, ["allowed"])
(cwd / "nobody.yaml").write_text(deployment("x", 1, 1, "{}"))
guard(["check", "nobody.yaml"], 1, ["denied", "who pays must be known; add the label team"])
(cwd / "launch.yaml").write_text(deployment("launch", 2, 8))
guard(["check", "launch.yaml", "--today", "2026-11-30"], 0, ["exempt: the launch"])
guard(["check", "launch.yaml", "--today", "2026-12-01"], 1, ["needs_approval", "16 GPUs"])
(cwd / "magic.yaml").write_text("apiVersion: x/v1\nkind: Magic\nmetadata: {name: m}\n")
guard(["check", "magic.yaml"], 1, ["no rule can judge it"])
expect_run(["guard", "check", "chat.yaml"], cwd, 2, ["no rules"])
guard(["check", "chat.yaml", "--currency", "EUR"], 2, ["--currency USD"])


def case(name, manifest, expected, rules=None, **more):
    return {"name": name, "manifest": manifest, "expect": expected,
            **({} if rules is None else {"rules": rules}), **more}


CASES = [
    case("a small service", deployment("a", 1, 1), "allowed", []),
    case("no label", deployment("a", 1, 1, "{}"), "denied", ["label"]),
    case("big", deployment("a", 2, 8), "needs_approval", ["big"]),
    case("both", deployment("a", 2, 8, "{}"), "denied", ["label", "big"]),
    case("exempt", deployment("launch", 2, 8), "allowed", ["big"], today="2026-11-30"),
    case("no longer", deployment("launch", 2, 8), "needs_approval", ["big"], today="2026-12-01"),
    case("tried only", "#!/bin/sh\n#SBATCH -t 2-0 --comment x\n", "denied", ["label", "long"]),
]
(cwd / "cases.yaml").write_text(json.dumps({"cases": CASES}))
guard(["test", "cases.yaml"], 0, ["7 passed, 0 failed"])
CASES[2]["expect"] = "allowed"
(cwd / "cases.yaml").write_text(json.dumps({"cases": CASES}))
guard(["test", "cases.yaml"], 1, ["big: needs_approval instead of allowed", "6 passed, 1 failed"])
CASES[2]["expect"] = "deny"
(cwd / "cases.yaml").write_text(json.dumps({"cases": CASES}))
guard(["test", "cases.yaml"], 2, ["cases[].expect is allowed, warned, needs_approval or denied, not 'deny'"])

# The options that the templates for CI use exist.
usage, _ = expect_run(["estimate", "--help"], cwd)
for template in sorted((pathlib.Path(ROOT) / "deploy" / "ci").iterdir()):
    lines = [line for line in template.read_text().splitlines()
             if "pennyweight estimate" in line or "LIMITS:" in line]
    expect(lines, f"{template.name} estimates")
    for option in re.findall(r"(--[a-z-]+)", " ".join(lines)):
        expect(option + " " in usage, f"{template.name}: {option}")

report("guardrails")
