"""What the mutating webhook patches is valid: recorded and random reviews, their patches applied by another
implementation of RFC 6902, the objects before and after held to Kubernetes' schemas (apply_patches.mjs).

usage: test_patches.py ROOT PENNYWEIGHT [--seed N] [--objects N]
"""
import argparse
import base64
import copy
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("root")
parser.add_argument("program")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--objects", type=int, default=300)
arguments = parser.parse_args()
ROOT, PROGRAM = pathlib.Path(arguments.root).resolve(), os.path.abspath(arguments.program)
HERE = ROOT / "tests/deploy"
PATIENCE_S = 60
failures = []
cwd = pathlib.Path(tempfile.mkdtemp(prefix="patches-"))
CONFIG = """store: {path: ledger.duckdb}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
guardrails:
  admission: {listen: 127.0.0.1:0, unknown: allow}
  rules:
  - name: defaults
    effect: mutate
    when: {kind: "*"}
    set: {label: {team: nlp, "a~b/c": "1", cost/center: "7"}, time_limit: 2h, priority_class: low, toleration: [spot, "a/b"]}
  - name: more
    effect: mutate
    when: {label_missing: [tier]}
    set: {label: {team: other, tier: batch}, time_limit: 1h, toleration: [spot, late]}
  - {name: owner, when: {label_missing: [team, "a~b/c", tier]}}
"""


def expect(condition, what):
    if not condition:
        failures.append(what)
        if len(failures) <= 10:
            print("FAILED:", what)


def random_labels(rng):
    if rng.random() < 0.3:
        return None
    return {key: rng.choice(["", "x", "nlp"]) for key in ("team", "a~b/c", "cost/center", "tier", "app") if rng.random() < 0.4}


def random_pod(rng, restart):
    spec = {"restartPolicy": restart, "containers": [{"name": f"c{i}", "image": "x"} for i in range(rng.randint(1, 2))]}
    if rng.random() < 0.3:
        spec["tolerations"] = rng.choice([[], [{"key": "spot", "operator": "Exists"}], [{"operator": "Exists"}],
                                          [{"key": "a/b", "operator": "Equal", "value": "1", "effect": "NoSchedule"}]])
    if rng.random() < 0.2:
        spec["priorityClassName"] = "high"
    if rng.random() < 0.1:
        spec["priority"] = 7
    if rng.random() < 0.2:
        spec["activeDeadlineSeconds"] = 60
    made = {"spec": spec}
    if rng.random() < 0.7:
        made["metadata"] = with_labels({}, rng)
    return made


def with_labels(metadata, rng):
    labels = random_labels(rng)
    return metadata if labels is None else {**metadata, "labels": labels}


def random_object(rng):
    meta = with_labels({"name": "w", "namespace": "ml"}, rng)
    kind = rng.choice(["Pod", "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"])
    restart = "Never" if kind in ("Pod", "Job", "CronJob") and rng.random() < 0.8 else "Always"
    if kind in ("Job", "CronJob"):
        restart = "Never"
    pod = random_pod(rng, restart)
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": pod["spec"]}
    if kind == "ReplicationController":
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": {"template": pod}}
    if kind == "Job":
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": meta, "spec": {"template": pod}}
    if kind == "CronJob":
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": meta,
                "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": pod}}}}
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": pod}
    if kind == "StatefulSet":
        spec["serviceName"] = "w"
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}


def requests():
    """Recorded requests, as they are and as an update, and random ones."""
    made = []
    for file in sorted((ROOT / "tests/data/admission").glob("*.json")):
        recorded = json.loads(file.read_text())
        made.append(recorded)
        changed = copy.deepcopy(recorded)
        changed["operation"] = "UPDATE"
        changed["oldObject"] = copy.deepcopy(recorded["object"])
        changed["object"]["metadata"]["annotations"]["again"] = "1"
        made.append(changed)
    rng = random.Random(arguments.seed)
    for i in range(arguments.objects):
        one = random_object(rng)
        made.append({"uid": f"u-{i}", "kind": {"group": "", "version": "v1", "kind": one["kind"]}, "operation": "CREATE",
                     "namespace": "ml", "name": "w", "userInfo": {"username": "ana"}, "object": one, "oldObject": None,
                     "dryRun": False})
    return made


def serve():
    (cwd / "pennyweight.yaml").write_text(CONFIG)
    log = cwd / "serve.log"
    with open(log, "wb") as out:
        process = subprocess.Popen([PROGRAM, "serve"], cwd=cwd, stdout=out, stderr=out)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        for line in log.read_text().splitlines():
            event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
            if event.get("event") == "admission":
                return process, int(event["address"].rsplit(":", 1)[1])
        time.sleep(0.05)
    process.kill()
    raise RuntimeError("serve does not start:\n" + log.read_text())


connections = {}


def ask(port, endpoint, request):
    """Over one connection, which `serve` may have closed while the patches were applied."""
    body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
    for is_last in (False, True):
        connection = connections.setdefault("it", http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S))
        try:
            connection.request("POST", endpoint, body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())["response"]
            break
        except (ConnectionError, http.client.RemoteDisconnected):
            connections.clear()
            if is_last:
                raise
    expect(answer["uid"] == request["uid"], f"another review is answered: {answer}")
    return answer


def patch_of(answer):
    return json.loads(base64.b64decode(answer["patch"])) if "patch" in answer else []


def check(port):
    asked = requests()
    patches = [patch_of(ask(port, "/mutate", one)) for one in asked]
    for one, patch in zip(asked, patches):
        expect(bool(patch) or one["operation"] == "UPDATE", f"not changed: {one['object']['kind']}")
    cases = [{"object": one["object"], "patch": patch} for one, patch in zip(asked, patches)]
    done = subprocess.run(["node", str(HERE / "apply_patches.mjs")], input=json.dumps(cases), capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        print(done.stderr)
        return 77
    expect(done.returncode == 0, done.stderr[:2000])
    if done.returncode != 0:
        return 1
    for one, patch, answer in zip(asked, patches, json.loads(done.stdout)):
        what = f"{one['object']['kind']} {one['operation']} {json.dumps(patch)}"
        expect("after" in answer, f"{what}: {answer.get('error')}")
        if "after" not in answer or one["operation"] == "UPDATE":
            continue
        after = {**one, "object": answer["after"]}
        again = patch_of(ask(port, "/mutate", after))
        expect(again == [], f"{what}: a second patch {again}")
        expect(ask(port, "/validate", after)["allowed"], f"{what}: refused after its patch")
        # Nothing that was stated is changed or taken away.
        expect(is_within(one["object"], answer["after"]), f"{what}: something stated is changed")
    changed = sum(1 for patch in patches if patch)
    print(f"{len(asked)} reviews, {changed} patches, {sum(map(len, patches))} steps")
    return 0


def is_within(before, after):
    if isinstance(before, dict):
        return isinstance(after, dict) and all(
            key in after and is_within(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return isinstance(after, list) and len(after) >= len(before) and all(map(is_within, before, after))
    # An empty label is a label that is missing.
    return before == after or before == ""


process, port = serve()
try:
    code = check(port)
finally:
    process.terminate()
    process.wait(PATIENCE_S)
print("test_patches:", "ok" if not failures else f"{len(failures)} failed, seed {arguments.seed}")
sys.exit(code or (1 if failures else 0))
