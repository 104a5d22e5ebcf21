"""The price before it is spent, with the real program: figures, formats, limits, rules."""
import json
import pathlib
import re
import subprocess
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
estimate(["more.yaml", "--base", "origin/main"], 2, ["no revision that git knows"])

# A revision of git: what the files were then, without a checkout.
repository = cwd / "repository"
(repository / "deploy" / ".hidden").mkdir(parents=True)
(repository / "deploy" / "chat.yaml").write_text(deployment("chat", 3, 2))
(repository / "deploy" / "gone.yaml").write_text(deployment("gone", 1, 8))
(repository / "deploy" / ".hidden" / "x.yaml").write_text(deployment("hidden", 9, 8))
(repository / "deploy" / "notes.txt").write_text("no manifest")
(repository / "deploy" / "link.yaml").symlink_to("chat.yaml")


def git(*words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(repository), *words],
                   check=True, capture_output=True)


git("init", "--quiet", "--initial-branch=main")
git("add", ".")
git("commit", "--quiet", "--message=first")
(repository / "deploy" / "chat.yaml").write_text(deployment("chat", 4, 2))
(repository / "deploy" / "gone.yaml").unlink()
for base in ("main", "HEAD"):
    got = tables(["repository/deploy", "--base", base])[0]
    expect({row["workload"]: (row["change"], Decimal(row["per_hour_difference"])) for row in got["rows"]}
           == {"Deployment ml/chat": ("changed", Decimal("8.8")), "Deployment ml/gone": ("removed", Decimal("-32.8"))}, f"{base}: {got}")
got = tables(["repository/deploy/chat.yaml", "--base", "main"])[0]
expect([(row["change"], Decimal(row["per_hour_before"])) for row in got["rows"]] == [("changed", Decimal("26.4"))], f"one file: {got}")
(repository / "new").mkdir()
(repository / "new" / "a.yaml").write_text(deployment("chat", 3, 2))
got = tables(["repository/new", "--base", "main"])[0]
expect([row["change"] for row in got["rows"]] == ["added"], f"a folder that was not there: {got}")
for base in ("nowhere", "--output=x", "main:deploy"):
    estimate(["repository/deploy", f"--base={base}"], 2, ["no revision that git knows"])
estimate(["-", "--base", "main"], 2, ["standard input"], stdin=b"")
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


def verdicts(rules, manifest, code, more=""):
    """What each workload of a manifest is decided, and the rules that apply to each."""
    (cwd / "own.yaml").write_text(f"prices: {{override: prices.csv}}\nguardrails:\n  {more}\n  rules: {rules}\n")
    (cwd / "own.manifest.yaml").write_text(manifest)
    out, _ = expect_run(["--config", "own.yaml", "guard", "check", "own.manifest.yaml", "--format", "json",
                         "--gpu-model", "H100-SXM5-80GB", "--instance-type", "box", *DAY], cwd, code)
    tables = json.loads(out)
    hits = {row["workload"]: set() for row in tables[0]["rows"]}
    for table in tables[1:]:
        for row in table["rows"]:
            hits.setdefault(row["workload"], set()).add(row["rule"])
    return tables[0]["rows"], hits


# A claim that several share: rules on who uses it see its GPUs, with the labels of who uses it.
CLAIM = """apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: all, namespace: ml}
spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 8}}]}}
---
"""


def job(name, labels, extra="", claims="resourceClaims: [{name: g, resourceClaimName: all}], "):
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: ml, labels: {labels}}}
spec: {{activeDeadlineSeconds: 3600, template: {{spec: {{{claims}restartPolicy: Never, containers: [{{name: c, image: x{extra}}}]}}}}}}
"""


own, hits = verdicts("[{name: cv, when: {kind: Job, label: {team: cv}, gpus_above: 4}}, {name: dear, when: {kind: Job, per_run_above: 32 USD}},"
                     " {name: owner, when: {label_missing: [team]}}]",
                     CLAIM + job("a", "{team: cv}") + "---\n" + job("b", "{team: nlp}"), 1)
# By hand: 8 of 8 GPUs of 32 USD an hour, and nothing of CPU and memory, for an hour.
expect(hits == {"Job ml/a": {"cv"}, "Job ml/b": set()}, f"a shared claim: {own} {hits}")
expect([Decimal(row["cost_per_hour"]) for row in own] == [32, 32], f"{own}")
own, hits = verdicts("[{name: dear, when: {kind: Job, per_run_above: 31.99 USD}}]", CLAIM + job("a", "{}"), 1)
expect(hits == {"Job ml/a": {"dear"}}, f"{own} {hits}")


# The components of an AppWrapper: none hides behind another's labels, kind, or lifetime.
def wrapper(*components, labels="{}"):
    made = [json.loads(json.dumps(component)) for component in components]
    return json.dumps({"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper",
                       "metadata": {"name": "w", "namespace": "ml", **({"labels": labels} if labels != "{}" else {})},
                       "spec": {"components": [{"template": one} for one in made]}})


def inner(kind, name, gpus, labels, **spec):
    return {"apiVersion": "batch/v1" if kind == "Job" else "apps/v1", "kind": kind, "metadata": {"name": name, "labels": labels},
            "spec": {**spec, "template": {"spec": {"containers": [
                {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}}}


SET = ("[{name: owner, when: {label_missing: [team]}}, {name: cv, when: {label: {team: cv}, gpus_above: 0}},"
       " {name: jobs, when: {kind: Job, gpus_above: 4}}, {name: run, when: {kind: Job, per_run_above: 1 USD}}]")
for what, manifest, wanted in [
        ("another has the label", wrapper(inner("Deployment", "a", 1, {"team": "nlp"}), inner("Deployment", "b", 1, {})), {"owner"}),
        ("all have it", wrapper(inner("Deployment", "a", 1, {"team": "nlp"}), inner("Deployment", "b", 1, {"team": "nlp"})), set()),
        ("the whole has it", wrapper(inner("Deployment", "a", 1, {}), labels={"team": "nlp"}), set()),
        ("the whole has another", wrapper(inner("Deployment", "a", 1, {"team": "cv"}), labels={"team": "nlp"}), {"cv"}),
        ("the first has another", wrapper(inner("Deployment", "a", 1, {"team": "nlp"}), inner("Deployment", "b", 1, {"team": "cv"})), {"cv"}),
        ("its kind", wrapper(inner("Job", "a", 8, {"team": "nlp"}, activeDeadlineSeconds=1)), {"jobs"}),
        ("a run among services", wrapper(inner("Job", "a", 1, {"team": "nlp"}, activeDeadlineSeconds=3600),
                                         inner("Deployment", "b", 1, {"team": "nlp"})), {"run"}),
        ("a short one", wrapper(inner("Job", "a", 1, {"team": "nlp"}, activeDeadlineSeconds=600),
                                inner("Deployment", "b", 1, {"team": "nlp"})), set()),
        ("an endless one", wrapper(inner("Job", "a", 1, {"team": "nlp"}), inner("Deployment", "b", 1, {"team": "nlp"})), {"run"}),
]:
    own, hits = verdicts(SET, manifest, 1 if wanted else 0)
    expect(hits == {"AppWrapper ml/w": wanted}, f"{what}: {hits}")

# A resource that a DeviceClass may stand behind is no nothing.
FAST = job("a", "{}", ", resources: {limits: {example.com/fast: 1}}", "")
for what, manifest, more, wanted in [
        ("not known", FAST, "", {"Job ml/a": {"big"}}), ("named", FAST, "pricing: {other_resources: 'example.com/*'}", {"Job ml/a": set()}),
        ("network", FAST.replace("example.com/fast", "rdma/hca_shared"), "", {"Job ml/a": set()}),
        ("of the class", """apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {extendedResourceName: example.com/fast, selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
""" + FAST, "", {"Job ml/a": set()})]:
    own, hits = verdicts("[{name: big, when: {gpus_above: 1}}]", manifest, 1 if wanted["Job ml/a"] else 0, more)
    expect(hits == wanted, f"a resource {what}: {own} {hits}")

# The security of pods.
SAFE = {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
DIGEST = "registry.acme.eu/train@sha256:" + "0" * 64


def pod(container=(), spec=(), where="containers"):
    made = {"name": "c", "image": DIGEST, "securityContext": SAFE, **dict(container)}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}, "spec": {
        "automountServiceAccountToken": False, "containers": [{"name": "s", "image": DIGEST, "securityContext": SAFE}], **dict(spec),
        where: [made]}})


def context(**more):
    return {"securityContext": {**SAFE, **more}}


RISKS = [("nothing", pod(), set()),
         ("privileged", pod(context(privileged=True)), {"privileged"}),
         ("in an init container", pod(context(privileged=True), where="initContainers"), {"privileged"}),
         ("in an ephemeral one", pod(context(privileged=True), where="ephemeralContainers"), {"privileged"}),
         ("user 0", pod(context(runAsUser=0)), {"root"}),
         ("user 0 of the pod", pod(spec={"securityContext": {"runAsUser": 0}}), {"root"}),
         ("its own user", pod(context(runAsUser=7), {"securityContext": {"runAsUser": 0}}), set()),
         ("not stated", pod(context(runAsNonRoot=None)), {"root"}),
         ("of the pod", pod(context(runAsNonRoot=None), {"securityContext": {"runAsNonRoot": True}}), set()),
         ("its own no", pod(context(runAsNonRoot=False), {"securityContext": {"runAsNonRoot": True}}), {"root"}),
         ("escalation", pod(context(allowPrivilegeEscalation=None)), {"escalation"}),
         ("adds", pod(context(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]})), {"capability"}),
         ("adds a harmless one", pod(context(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]})), set()),
         ("drops some", pod(context(capabilities={"drop": ["KILL"]})), {"capability"}),
         ("network of the host", pod(spec={"hostNetwork": True}), {"host_namespace"}),
         ("a folder of the host", pod(spec={"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}), {"host_path"}),
         ("a port of the host", pod({"ports": [{"containerPort": 1, "hostPort": 80}]}), {"host_port"}),
         ("seccomp", pod(context(seccompProfile={"type": "Unconfined"})), {"seccomp"}),
         ("a tag", pod({"image": "registry.acme.eu/train:1"}), {"no_digest"}),
         ("a secret", pod({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}), {"secret_in_env"}),
         ("a key under another name", pod({"env": [{"name": "X", "value": "hf_" + "a" * 34}]}), {"secret_in_env"}),
         ("a secret's file", pod({"env": [{"name": "DB_PASSWORD_FILE", "value": "/run/secrets/db"}]}), set()),
         ("from a Secret", pod({"env": [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}), set()),
         ("API", pod(spec={"automountServiceAccountToken": True}), set())]
for what, manifest, wanted in RISKS:
    own, hits = verdicts("[]", manifest, 1 if wanted else 0, "pod_security: enforce")
    expect(hits["Pod ml/p"] == {f"pod-security: {risk}" for risk in wanted}, f"{what}: {hits}")
verdicts("[]", RISKS[1][1], 0, "pod_security: warn")
secret, _ = expect_run(["--config", "own.yaml", "guard", "check", "-", *DAY], cwd, 0, [], pod({"env": [{"name": "DB_TOKEN", "value": "hunter2"}]}).encode())
expect("DB_TOKEN" in secret and "hunter2" not in secret, f"a secret is told of and not shown: {secret}")
for rule, manifest, wanted in [
        ("image_not: ['registry.acme.eu/*']", pod(), False), ("image_not: ['registry.acme.eu/*']", pod({"image": "nginx"}), True),
        ("image_not: ['docker.io/library/*']", pod({"image": "nginx"}), False), ("image: 'docker.io/*'", pod({"image": "nginx"}), True),
        ("image: nginx", pod({"image": "nginx"}), True), ("image_not: ['registry.acme.eu/*']", pod({"image": "registry.acme.eu.evil.io/x"}), True),
        ("annotation_missing: [scan]", pod(), True), ("risk: [api_token]", pod(spec={"automountServiceAccountToken": None}), True)]:
    own, hits = verdicts("[{name: r, when: {" + rule + "}}]", manifest, 1 if wanted else 0)
    expect(hits["Pod ml/p"] == ({"r"} if wanted else set()), f"{rule}: {hits}")
# The runtime of a TrainJob holds the pod; what the job states of it counts, and what it does not is not known.
TRAIN = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t", "namespace": "ml"},
         "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 1, "resourcesPerNode": {"limits": {"nvidia.com/gpu": "1"}}}}}
for image, wanted in [(DIGEST, set()), ("nginx", {"r"}), (None, {"r"})]:
    if image:
        TRAIN["spec"]["trainer"]["image"] = image
    own, hits = verdicts("[{name: r, when: {image_not: ['registry.acme.eu/*']}}]", json.dumps(TRAIN), 1 if wanted else 0)
    expect(hits["TrainJob ml/t"] == wanted, f"a TrainJob of {image}: {hits}")
    TRAIN["spec"]["trainer"].pop("image", None)
(cwd / "own.yaml").write_text("guardrails: {rules: [{name: r, when: {risk: [rooot]}}]}\n")
expect_run(["--config", "own.yaml", "guard", "check", "chat.yaml"], cwd, 2, ["'rooot' is no risk; there are privileged, root"])

# What keeps the pods of a client apart: network policies, storage classes and runtime classes of the files, and of the
# cluster.
ISOLATION = ("[{name: net, when: {label: {client: acme}, network_policy_missing: [ingress, egress]}},"
             " {name: disk, when: {label: {client: acme}, storage_class_not: 'encrypted-*'}},"
             " {name: runtime, when: {label: {client: acme}, runtime_class_not: [kata, gvisor]}}]")


def client_pod(spec, **labels):
    return "---\n" + json.dumps({"apiVersion": "v1", "kind": "Pod",
                                 "metadata": {"name": "p", "namespace": "ml", "labels": {"client": "acme", **labels}},
                                 "spec": {"runtimeClassName": "kata", "containers": [{"name": "c", "image": "x"}], **spec}})


POLICY = """
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: acme, namespace: NAMESPACE}
spec: {podSelector: {matchLabels: {client: acme}}, policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: {}}]}]}
"""
VOLUME_CLAIM = """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ml}
spec: {storageClassName: CLASS}
"""
HERE, THERE = POLICY.replace("NAMESPACE", "ml"), POLICY.replace("NAMESPACE", "cv")
MOUNTED = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
for what, manifest, wanted in [
        ("with its policy", client_pod({}) + HERE, set()), ("without", client_pod({}), {"net"}),
        ("of another namespace", client_pod({}) + THERE, {"net"}), ("on the host's network", client_pod({"hostNetwork": True}) + HERE, {"net"}),
        ("of another client", client_pod({}, client="umbrella"), set()), ("another runtime", client_pod({"runtimeClassName": "nvidia"}) + HERE, {"runtime"}),
        ("no runtime", client_pod({"runtimeClassName": None}) + HERE, {"runtime"}), ("a claim of nobody", client_pod(MOUNTED) + HERE, {"disk"}),
        ("its claim", client_pod(MOUNTED) + HERE + VOLUME_CLAIM.replace("CLASS", "encrypted-ssd"), set()),
        ("another class", client_pod(MOUNTED) + HERE + VOLUME_CLAIM.replace("CLASS", "gp2"), {"disk"}),
        ("scratch", client_pod({"volumes": [{"name": "v", "emptyDir": {}}]}) + HERE, set())]:
    own, hits = verdicts(ISOLATION, manifest, 1 if wanted else 0)
    expect(hits == {"Pod ml/p": wanted}, f"{what}: {hits}")
(cwd / "listed.yaml").write_text(HERE + VOLUME_CLAIM.replace("CLASS", "encrypted-ssd"))
own, hits = verdicts(ISOLATION, client_pod(MOUNTED), 0, "cluster_objects: listed.yaml")
expect(hits == {"Pod ml/p": set()}, f"what the cluster has: {hits}")
for wrong, says in [("when: {network_policy_missing: [both]}", "is ingress, egress or both, not 'both'"),
                    ("when: {storage_class_not: {a: b}}", "storage_class_not")]:
    (cwd / "own.yaml").write_text("guardrails: {rules: [{name: r, " + wrong + "}]}\n")
    expect_run(["--config", "own.yaml", "guard", "check", "chat.yaml"], cwd, 2, [says])
(cwd / "own.yaml").write_text("guardrails: {cluster_objects: none.yaml, rules: [{name: r, when: {network_policy_missing: egress}}]}\n")
expect_run(["--config", "own.yaml", "guard", "check", "chat.yaml", *DAY], cwd, 1, ["none.yaml"])

# Hours of the week, budgets, and labels that are required; cases state what is so then.
(cwd / "context.yaml").write_text("""prices: {override: prices.csv}
time_zone: Europe/Berlin
budgets: [{name: nlp, filter: team=nlp, amount: 1000 USD}, {name: all, amount: 5000 USD}]
guardrails:
  rules:
  - {name: owner, effect: require_label, labels: [team, "cost-center"]}
  - {name: nights, effect: warn, when: {hours_not: ["mon-fri 08:00-18:00", "sat 10:00-12:00"]}}
  - {name: used, effect: require_approval, when: {budget_used_above: 90%}}
  - {name: beyond, effect: deny, when: {exceeds_budget: true}, exempt: [{when: {hours: sun 00:00-24:00}, reason: sundays, until: 2099-12-31}]}
""")


def context_case(expect_, rules, labels="{team: nlp, cost-center: a}", now="mon 09:00", budgets=None):
    return {"name": f"{expect_} {rules} {labels} {now} {budgets}", "expect": expect_, "rules": rules, "now": now,
            "budgets": budgets or {"nlp": "10%", "all": "0%"},
            # By hand: 8 of 8 GPUs are 32 USD for an hour.
            # Budgets are those of the labels of the pods.
            "manifest": job("a", labels, ", resources: {limits: {nvidia.com/gpu: 8}}", "").replace(
                "template: {", "template: {metadata: {labels: " + labels + "}, ", 1)}


CONTEXT = [context_case("allowed", []), context_case("denied", ["owner"], "{team: nlp}"),
           context_case("denied", ["owner"], "{}"),
           context_case("warned", ["nights"], now="fri 18:00"), context_case("warned", ["nights"], now="sat 09:59"),
           context_case("allowed", [], now="sat 10:00"),
           context_case("needs_approval", ["used"], budgets={"nlp": "91%", "all": "0%"}),
           context_case("allowed", [], budgets={"nlp": "90%", "all": "0%"}),
           context_case("denied", ["used", "beyond"], budgets={"nlp": "97%", "all": "0%"}),
           context_case("needs_approval", ["nights", "used", "beyond"], now="sun 12:00", budgets={"nlp": "97%", "all": "0%"}),
           context_case("denied", ["used", "beyond"], budgets={"nlp": "0%", "all": "100%"}),
           context_case("denied", ["used", "beyond"], budgets={"nlp": "0%"}),
           context_case("allowed", [], "{team: cv, cost-center: a}", budgets={"nlp": "100%", "all": "0%"})]
(cwd / "context.cases.yaml").write_text(json.dumps({"cases": CONTEXT}))
POOL = ["--gpu-model", "H100-SXM5-80GB", "--instance-type", "box", *DAY]
expect_run(["--config", "context.yaml", "guard", "test", "context.cases.yaml", *POOL], cwd, 0, [f"{len(CONTEXT)} passed, 0 failed"])
for wrong, says, code in [({"now": "mon-tue 09:00"}, "a day and a time such as sat 22:15", 2),
                          ({"budgets": {"nlp": "91"}}, "is a percentage from 0% to 1000%", 2), ({"budgets": {"nope": "1%"}}, "has no budget 'nope'", 1)]:
    (cwd / "wrong.cases.yaml").write_text(json.dumps({"cases": [CONTEXT[0] | wrong]}))
    expect_run(["--config", "context.yaml", "guard", "test", "wrong.cases.yaml", *POOL], cwd, code, [says])
for wrong, says in [("{name: a, effect: require_label}", "requires no label; state labels: [team]"), ("{name: a, labels: [x], when: {kind: a}}", "which only the effect require_label does"),
                    ("{name: a, when: {hours: 8-18}}", "names no hours; write mon-fri 08:00-18:00"), ("{name: a, when: {budget_used_above: 0.9}}", "is a percentage")]:
    (cwd / "wrong.yaml").write_text("guardrails: {rules: [" + wrong + "]}\n")
    expect_run(["--config", "wrong.yaml", "guard", "check", "chat.yaml"], cwd, 2, [says])

# The options that the templates for CI use exist.
usage, _ = expect_run(["estimate", "--help"], cwd)
for template in sorted((pathlib.Path(ROOT) / "deploy" / "ci").iterdir()):
    lines = [line for line in template.read_text().splitlines()
             if "pennyweight estimate" in line or "LIMITS:" in line]
    expect(lines, f"{template.name} estimates")
    for option in re.findall(r"(--[a-z-]+)", " ".join(lines)):
        expect(option + " " in usage, f"{template.name}: {option}")

report("guardrails")
