"""Limits: exports held to the schemas of their readers, drift, and rules in the words of Kubernetes."""
import json
import pathlib
import re

import yaml

from harness import expect, folder, report
from harness import run as run_program

try:
    import jsonschema
except ImportError:
    jsonschema = None

cwd = folder()
SCHEMAS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "data" / "quotas" / "schemas.json").read_text())
CONFIG = """store: {path: ledger.duckdb}
guardrails:
  pricing: {gpu_models: {h100: H100-SXM5-80GB, a100: A100-SXM4-80GB}}
  rules:
  - {name: owner, when: {kind: "*", label_missing: [team]}, reason: who pays must be known}
  - {name: costly, when: {per_hour_above: 100 USD}, reason: too dear}
  limits:
  - {name: nlp, gpus: {H100-SXM5-80GB: 16, A100-SXM4-80GB: 8}, borrow: {H100-SXM5-80GB: 4}, cohort: research,
     namespaces: [nlp-train, nlp-serve], slurm_account: nlp, slurm_qos: nlp-gpu}
  - {name: cv, gpus: {H100-SXM5-80GB: 4}, namespaces: [cv], cohort: research, enforcement: soft}
  - {name: solo, gpus: {A100-SXM4-80GB: 2}, namespaces: [solo]}
"""
(cwd / "pennyweight.yaml").write_text(CONFIG)


def run(*words, code=0):
    got, out, err = run_program(list(words), cwd)
    expect(got == code, f"{words}: {got} {out} {err}")
    return out


def check_export(system, kinds):
    text = run("guard", "limits", "--export", system)
    expect(text == run("guard", "limits", "--export", system), f"{system}: twice the same")
    found = list(yaml.safe_load_all(text))
    expect(sorted({one["kind"] for one in found}) == sorted(kinds), f"{system}: {[one['kind'] for one in found]}")
    for one in found:
        schema = SCHEMAS.get(one["kind"] if system != "runai" else "Queue of KAI")
        if schema is not None and jsonschema is not None:
            problems = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(one.get("spec", {}))]
            expect(not problems, f"{one['kind']} {one['metadata']['name']}: {problems}")
        if one["kind"] == "ClusterQueue" and "cohort" not in one["spec"]:
            expect("borrowingLimit" not in json.dumps(one), "borrowingLimit needs a cohort")
    # What is there is what is wanted; a changed number is found.
    (cwd / "real.yaml").write_text(text)
    run("guard", "limits", "--export", system, "--drift", "real.yaml")
    (cwd / "real.yaml").write_text(re.sub(r'"16"|"24"|"2"|(?<=quota: )24\b', '99', text))
    changed = run("guard", "limits", "--export", system, "--drift", "real.yaml", code=1)
    expect("99" in changed, f"{system}: {changed}")
    (cwd / "real.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    run("guard", "limits", "--export", system, "--drift", "real.yaml", code=1)
    return found


kueue = check_export("kueue", ["ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor"])
nlp = next(one for one in kueue if one["kind"] == "ClusterQueue" and one["metadata"]["name"] == "nlp")
flavors = {one["name"]: one["resources"][0] for one in nlp["spec"]["resourceGroups"][0]["flavors"]}
expect(flavors["h100-sxm5-80gb"] == {"name": "nvidia.com/gpu", "nominalQuota": "16", "borrowingLimit": "4"}, f"{flavors}")
rest = nlp["spec"]["resourceGroups"][1]
expect([one["name"] for one in rest["flavors"][0]["resources"]] == rest["coveredResources"], f"{rest}")
expect("cpu" in rest["coveredResources"] and "memory" in rest["coveredResources"], f"{rest}")
quotas = check_export("resourcequota", ["ResourceQuota"])
expect([one["spec"]["hard"] for one in quotas] == [{"requests.nvidia.com/gpu": "2"}], f"only solo can be said: {quotas}")
check_export("volcano", ["Queue"])
projects = {one["metadata"]["name"]: one["spec"] for one in check_export("runai", ["Queue"])}
expect({name: (one.get("parentQueue"), one["resources"]["gpu"]) for name, one in projects.items()} == {
    "cohort-research": (None, {"quota": 28, "limit": -1, "overQuotaWeight": 1}),
    "pennyweight": (None, {"quota": 2, "limit": -1, "overQuotaWeight": 1}),
    "nlp": ("cohort-research", {"quota": 24, "limit": 28, "overQuotaWeight": 1}),
    "cv": ("cohort-research", {"quota": 4, "limit": -1, "overQuotaWeight": 1}),
    "solo": ("pennyweight", {"quota": 2, "limit": 2, "overQuotaWeight": 0})}, f"{projects}")
script = run("guard", "limits", "--export", "slurm")
for what in ("account where name=nlp", "qos where name=nlp-gpu"):
    expect(f"modify {what} set GrpTRES=gres/gpu:h100=16,gres/gpu:a100=8,gres/gpu=24 GrpTRESMins=gres/gpu=-1\n" in script, script)
expect("modify account where name=nlp set qos+=nlp-gpu\n" in script, script)
# An account and a QOS of one limit come from two listings; either may differ.
ASSOCIATIONS = "Cluster|Account|User|GrpTRES|GrpTRESMins\nlab|nlp||gres/gpu=24,gres/gpu:a100=8,gres/gpu:h100=16|\nlab|nlp|ana|gres/gpu=1|\n"
QOS = "Name|GrpTRES|GrpTRESMins\nnormal|gres/gpu=7|\nnlp-gpu|gres/gpu=24,gres/gpu:a100=8,gres/gpu:h100=16|\n"


def slurm_drift(associations, qos, code):
    (cwd / "assoc.txt").write_text(associations)
    (cwd / "qos.txt").write_text(qos)
    return run("guard", "limits", "--export", "slurm", "--drift", "assoc.txt", "--drift", "qos.txt", code=code)


slurm_drift(ASSOCIATIONS, QOS, 0)
expect("QOS nlp-gpu" in slurm_drift(ASSOCIATIONS, QOS.replace("h100=16", "h100=99"), 1), "a changed QOS")
expect("gres/gpu=600" not in slurm_drift(ASSOCIATIONS, QOS.replace("h100=16|", "h100=16|gres/gpu=600"), 1), "minutes of nobody")
expect("QOS nlp-gpu" in slurm_drift(ASSOCIATIONS, "Name|GrpTRES|GrpTRESMins\n", 1), "a QOS that is missing")
(cwd / "qos.txt").write_text("Name|GrpTRES\nnormal|\n")
expect("show qos format=name,grptres,grptresmins" in run_program(
    ["guard", "limits", "--export", "slurm", "--drift", "qos.txt"], cwd)[2], "which columns are needed")
for policy in ("cel", "kyverno", "gatekeeper"):
    text = run("guard", "export", "--policy", policy)
    expect("rule 'costly': it asks for a price" in text and len(list(yaml.safe_load_all(text))) >= 1, f"{policy}: {text}")

# A department is not called like a project: one would take the other's place.
(cwd / "pennyweight.yaml").write_text("store: {path: ledger.duckdb}\nguardrails: {limits: [{name: pennyweight, gpus: {H100-SXM5-80GB: 1}}]}\n")
queues = [(one["metadata"]["name"], one["spec"].get("parentQueue")) for one in yaml.safe_load_all(run("guard", "limits", "--export", "runai")) if one]
expect(queues == [("pennyweight-department", None), ("pennyweight", "pennyweight-department")], f"{queues}")

# Limits without rules are checked, in the currency that they are in.
(cwd / "pennyweight.yaml").write_text("store: {path: ledger.duckdb}\nguardrails: {limits: [{name: nlp, gpus: {H100-SXM5-80GB: 1}}]}\n")
(cwd / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {team: nlp}}\nspec: {containers: [{name: a, image: a}]}\n")
run("guard", "check", "pod.yaml")
(cwd / "pennyweight.yaml").write_text("store: {path: ledger.duckdb}\nguardrails: {limits: [{name: nlp, per_month: 10 USD}]}\n")
got, out, err = run_program(["guard", "check", "pod.yaml", "--currency", "EUR"], cwd)
expect(got == 2 and "--currency USD" in err, f"another currency: {got} {out} {err}")
report("guard_limits")
