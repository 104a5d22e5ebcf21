"""Rules in the words of Kubernetes, Kyverno and Gatekeeper say what the webhook says, on the same objects.

The expressions of each export are evaluated by another implementation of CEL (evaluate_cel.mjs); what the webhook
decides is asked of `serve`. What is exported is held to Kubernetes' schemas (validate_texts.mjs).

usage: test_native_policies.py ROOT PENNYWEIGHT
"""
import http.client
import itertools
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time

import yaml

ROOT, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
HERE = ROOT / "tests/deploy"
PATIENCE_S = 60
failures = []
cwd = pathlib.Path(tempfile.mkdtemp(prefix="native-"))
CONFIG = r"""store: {path: ledger.duckdb}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
guardrails:
  admission:
    listen: 127.0.0.1:0
    cert_file: tls.crt
    key_file: tls.key
    exempt_namespaces: ["kube-*"]
    controllers: ["system:serviceaccount:kube-system:*-controller"]
  rules:
  - {name: free, effect: allow, when: {namespace: "sand*", kind: [Pod, Job]}}
  - {name: owner, when: {label_missing: [team]}}
  - {name: two owners, when: {label_missing: [team, "cost/center"]}, reason: "who \"pays\" must be known"}
  - {name: teams, when: {label: {team: "n*p"}}}
  - {name: exact, when: {label: {team: "n.p"}, name: ["w*"]}}
  - {name: empty, when: {label: {team: "*"}}}
  - {name: kinds, when: {kind: ["*set", cronjob]}, mode: warn}
  - {name: places, when: {namespace: ["ML", "a[b]*", "x^y\\z"]}, mode: audit}
  - {name: named, when: {name: ["*-gen-*", "W", "a?c", "ü*"]}, effect: warn}
  - {name: several, when: {kind: "*", namespace: "*", label: {team: "*", "cost/center": "7*"}, name: "*"}}
  - {name: dear, when: {per_hour_above: 1 USD}}
"""


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def run(words, **more):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, **more)


def exported(policy):
    """The expression of each rule, by its name in the message, and all documents."""
    done = run([PROGRAM, "guard", "export", "--policy", policy])
    expect(done.returncode == 0, f"{policy}: {done.stderr}")
    expect("rule 'dear': it asks for a price" in done.stdout, f"{policy}: what is left to the webhook is named")
    documents = list(yaml.safe_load_all(done.stdout))

    def find(node):
        if isinstance(node, dict):
            if isinstance(node.get("expression"), str) and "message" in node:
                yield node["message"].split("'")[1], node["expression"]
            for value in node.values():
                yield from find(value)
        elif isinstance(node, list):
            for value in node:
                yield from find(value)

    return dict(find(documents)), documents


# What each system calls what the API server calls it.
RESOURCES = {("v1", "Pod"): "pods", ("v1", "ReplicationController"): "replicationcontrollers", ("v1", "Service"): "services",
             ("apps/v1", "Deployment"): "deployments", ("apps/v1", "StatefulSet"): "statefulsets",
             ("apps/v1", "DaemonSet"): "daemonsets", ("apps/v1", "ReplicaSet"): "replicasets", ("batch/v1", "Job"): "jobs",
             ("batch/v1", "CronJob"): "cronjobs", ("batch.volcano.sh/v1alpha1", "Job"): "jobs",
             ("ray.io/v1", "RayCluster"): "rayclusters"}


def of_cel(documents, name):
    """(action, whether an object is asked about) of a rule's policy and its binding."""
    policy = next(one for one in documents if one["kind"] == "ValidatingAdmissionPolicy"
                  and f"'{name}'" in one["spec"]["validations"][0]["message"].replace('\\"', '"'))
    binding = next(one for one in documents if one["kind"] == "ValidatingAdmissionPolicyBinding"
                   and one["spec"]["policyName"] == policy["metadata"]["name"])

    def matches(made, operation):
        group, _, version = made["apiVersion"].rpartition("/")
        return any(group in rule["apiGroups"] and version in rule["apiVersions"] and operation in rule["operations"]
                   and RESOURCES[made["apiVersion"], made["kind"]] in rule["resources"]
                   for rule in policy["spec"]["matchConstraints"]["resourceRules"])

    actions = binding["spec"]["validationActions"]
    expect(len(actions) == 1 and policy["spec"]["failurePolicy"] == "Fail", f"{name}: {actions}")
    return actions[0].lower(), matches


def of_kyverno(documents, name):
    rule, spec = next((one["spec"]["rules"][0], one["spec"]) for one in documents
                      if f"'{name}'" in one["spec"]["rules"][0]["validate"]["cel"]["expressions"][0]["message"])

    def matches(made, operation):
        resources = rule["match"]["any"][0]["resources"]
        # "Job" is the Job of every group to Kyverno; "batch/v1/Job" is Kubernetes' own.
        names = (made["kind"], f"{made['apiVersion']}/{made['kind']}")
        return any(kind in names for kind in resources["kinds"]) and operation in resources["operations"]

    action = rule["validate"]["failureAction"]
    warns = spec.get("emitWarning", False)
    return {("Enforce", False): "deny", ("Audit", True): "warn", ("Audit", False): "audit"}[action, warns], matches


def of_gatekeeper(documents, name):
    template = next(one for one in documents if one["kind"] == "ConstraintTemplate" and f"'{name}'" in
                    one["spec"]["targets"][0]["code"][0]["source"]["validations"][0]["message"])
    constraint = next(one for one in documents if one["kind"] == template["spec"]["crd"]["spec"]["names"]["kind"])

    def matches(made, operation):  # Gatekeeper asks at every operation; the expression looks at it
        group = made["apiVersion"].rpartition("/")[0]
        return any(group in kinds["apiGroups"] and made["kind"] in kinds["kinds"]
                   for kinds in constraint["spec"]["match"]["kinds"])

    return {"deny": "deny", "warn": "warn", "dryrun": "audit"}[constraint["spec"]["enforcementAction"]], matches


OF = {"cel": of_cel, "kyverno": of_kyverno, "gatekeeper": of_gatekeeper}


def template(labels):
    made = {"spec": {"containers": [{"name": "c", "image": "x"}]}}
    if labels is not None:
        made["metadata"] = {"labels": labels}
    return made


def objects():
    label_sets = (None, {}, {"team": ""}, {"team": "nlp"}, {"team": "NXP\n"}, {"team": "n.p", "cost/center": "7"},
                  {"cost/center": "70"}, {"team": "n\np", "cost/center": ""})
    names = ({"name": "w"}, {"generateName": "x-gen-"}, {"name": "x-gen-1", "generateName": "y"}, {"name": "abc"},
             {"name": "übung"})
    for (own, pods), meta in itertools.product(
            [*itertools.product(label_sets[:5], label_sets[:5]), *((one, None) for one in label_sets[5:]),
             *((None, one) for one in label_sets[5:])], names):
        full = {**meta, **({} if own is None else {"labels": own})}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": full, "spec": template(None)["spec"]}
        yield {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": full, "spec": {"template": template(pods)}}
        yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": full, "spec": {"template": template(pods)}}
        yield {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": full,
               "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template(pods)}}}}


def reviews():
    """(object, namespace, user, operation): all objects in one place, one in each of several, updates, other kinds."""
    for made in objects():
        yield made, "nlp", "ana", "CREATE"
    some = [made for made in objects() if made["metadata"] == {"name": "w"}]
    controller = "system:serviceaccount:kube-system:job-controller"
    for made, place in itertools.product(some, ("ml", "a[b]c", "x^y\\z", "sandbox", "SAND", "kube-system", "mlx", "abc")):
        yield made, place, "ana", "CREATE"
    for made in some:
        yield made, "nlp", "ana", "UPDATE"
    pod = template({})
    for version, kind in RESOURCES:
        yield {"apiVersion": version, "kind": kind, "metadata": {"name": "w"},
               "spec": {"selector": {"matchLabels": {}}, "template": pod}}, "nlp", "ana", "CREATE"
    owned = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w", "ownerReferences": [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": True}]},
        "spec": template(None)["spec"]}
    for user in (controller, "ana", controller.upper()):
        yield owned, "nlp", user, "CREATE"
    other = json.loads(json.dumps(owned))
    other["metadata"]["ownerReferences"][0]["controller"] = False
    yield other, "nlp", controller, "CREATE"
    other = json.loads(json.dumps(owned))
    other["metadata"]["ownerReferences"][0]["kind"] = "Robot"
    yield other, "nlp", controller, "CREATE"


def serve():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    "tls.key", "-out", "tls.crt", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], cwd=cwd, check=True, capture_output=True)
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


def asked(connection, made, place, user, operation):
    """What the webhook says: the rules that apply, whether it admits, and what it warns of."""
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "", "version": "v1", "kind": made["kind"]}, "operation": operation,
        "oldObject": made if operation == "UPDATE" else None,
        "namespace": place, "name": made["metadata"].get("name", ""), "userInfo": {"username": user}, "object": made,
        "dryRun": True}}
    connection.request("POST", "/validate", json.dumps(body), {"Content-Type": "application/json"})
    response = json.loads(connection.getresponse().read())["response"]
    rules = response.get("auditAnnotations", {}).get("rules", "")
    return set(filter(None, rules.split(", "))), response["allowed"], response.get("warnings", [])


def check_verdicts():
    everything = list(reviews())
    process, port = serve()
    try:
        trusted = ssl.create_default_context(cafile=str(cwd / "tls.crt"))
        connection = http.client.HTTPSConnection("localhost", port, context=trusted, timeout=PATIENCE_S)
        by_webhook = [asked(connection, *one) for one in everything]
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
    told = sum(1 for rules, _, _ in by_webhook if rules)
    expect(told > len(everything) // 2 and any(not rules for rules, _, _ in by_webhook), f"{told} of {len(everything)} stopped")
    for policy in ("cel", "kyverno", "gatekeeper"):
        check_system(policy, everything, by_webhook)
    if not failures:
        print(f"{len(everything)} reviews, 9 rules, 3 systems: the same verdicts, actions and kinds")


def check_system(policy, everything, by_webhook):
    expressions, documents = exported(policy)
    expect(len(expressions) == 9, f"{policy}: {sorted(expressions)}")
    ways = {name: OF[policy](documents, name) for name in expressions}
    wanted = {"kinds": "warn", "places": "audit", "named": "warn"}
    for name, (action, _) in ways.items():
        expect(action == wanted.get(name, "deny"), f"{policy}: {name} is to {action}")
    cases = [{"expression": expression, "object": made,
              "request": {"namespace": place, "userInfo": {"username": user}, "operation": operation}}
             for made, place, user, operation in everything for expression in expressions.values()]
    done = run(["node", str(HERE / "evaluate_cel.mjs")], input=json.dumps(cases))
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    expect(done.returncode == 0, f"{policy}: {done.stderr[:2000]}")
    if done.returncode != 0:
        return
    verdicts = iter(json.loads(done.stdout))
    differing = 0
    for (made, place, user, operation), (rules, allowed, warnings) in zip(everything, by_webhook):
        values = {name: next(verdicts) for name in expressions}
        asked_about = {name for name, (_, matches) in ways.items() if matches(made, operation)}
        broken = {name for name in asked_about if values[name] is not True}
        native = (broken, not any(ways[name][0] == "deny" for name in broken),
                  {name for name in broken if ways[name][0] == "warn"})
        warned = {name for name in expressions if any(f"rule '{name}'" in warning for warning in warnings)}
        if RESOURCES[made["apiVersion"], made["kind"]] in ("services", "daemonsets", "rayclusters") or "volcano" in made["apiVersion"]:
            good = not asked_about  # kinds that are left to the webhook
        elif operation == "UPDATE":
            good = not broken and allowed  # what runs may carry on, by both
        else:
            good = native == (rules & set(expressions), allowed, warned) and len(asked_about) == len(expressions)
        if good:
            continue
        differing += 1
        if differing <= 3:
            expect(False, f"{policy}: {operation} {made['kind']} {made['metadata']} {made['spec']} in {place} by {user}: "
                          f"{native} of {len(asked_about)}, and the webhook says {sorted(rules)}, {allowed}, {sorted(warned)}")
    expect(differing == 0, f"{policy}: {differing} of {len(everything)} reviews differ")


def check_schemas():
    _, documents = exported("cel")
    names = []
    for index, document in enumerate(documents):
        names.append(str(cwd / f"policy-{index}.yaml"))
        pathlib.Path(names[-1]).write_text(yaml.safe_dump(document))
    (cwd / "pennyweight.yaml").write_text(
        "store: {path: ledger.duckdb}\nguardrails: {limits: [{name: solo, gpus: {H100-SXM5-80GB: 2}, namespaces: [solo]}]}\n")
    done = run([PROGRAM, "guard", "limits", "--export", "resourcequota"])
    names.append(str(cwd / "quota.yaml"))
    pathlib.Path(names[-1]).write_text(done.stdout)
    done = run(["node", str(HERE / "validate_texts.mjs"), str(ROOT), *names])
    print(done.stdout.strip())
    expect(done.returncode == 0, f"{done.stdout} {done.stderr[:2000]}")


(cwd / "pennyweight.yaml").write_text(CONFIG)
check_verdicts()
check_schemas()
print("test_native_policies:", "ok" if not failures else f"{len(failures)} failed")
sys.exit(1 if failures else 0)
