"""The admission webhook over TLS: reviews, patches applied by another implementation, a certificate
that is replaced, kill -9, hostile bodies, and what an answer costs in processor time."""
import base64
import concurrent.futures
import copy
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import time

from harness import BINARY, expect, folder, report

cwd = folder()
PRICES = """provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,box,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
"""
CONFIG = """store: {path: ledger.duckdb}
prices: {override: prices.csv}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
guardrails:
  pricing: {provider: own, gpu_models: {default: H100-SXM5-80GB}}
  cluster_objects: cluster.json
  admission: {listen: 127.0.0.1:0, cert_file: tls.crt, key_file: tls.key}
  rules:
  - name: defaults
    effect: mutate
    when: {namespace: nlp}
    set: {label: {team: nlp, cost/center: "7"}, time_limit: 2h, priority_class: low, toleration: [spot, "a/b"]}
  - name: owner
    when: {kind: "*", label_missing: [team]}
    reason: who pays must be known
    way_out: add the label team
  - name: big
    effect: require_approval
    when: {gpus_above: 16}
  - {name: privileged, when: {risk: [privileged]}}
  - {name: apart, when: {label: {client: acme}, network_policy_missing: egress}}
  - {name: encrypted, when: {label: {client: acme}, storage_class_not: "encrypted-*"}}
  - {name: mounted, when: {risk: [host_path]}, exempt: [{when: {image: "ours/*"}, reason: our own, until: 2099-12-31}]}
"""
PATIENCE_S = 60


def certificate(name):
    """A new key and certificate for localhost, put in place one after the other."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", "new.key", "-out", "new.crt", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], cwd=cwd, check=True, capture_output=True)
    os.replace(cwd / "new.key", cwd / "tls.key")
    shutil.copy(cwd / "new.crt", cwd / "ca.crt")
    os.replace(cwd / "new.crt", cwd / "tls.crt")


class Serve:
    def __init__(self):
        self.log = cwd / f"serve-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([BINARY, "--config", "pennyweight.yaml", "serve"], cwd=cwd, stderr=out,
                                            stdout=out)
        self.ports = {}
        end = time.monotonic() + PATIENCE_S
        while len(self.ports) < 2:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("serve does not start:\n" + self.log.read_text())
            for line in self.log.read_text().splitlines():
                event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
                if event.get("event") in ("admission", "serving"):
                    self.ports[event["event"]] = int(event["address"].rsplit(":", 1)[1])
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(PATIENCE_S) == 0, "serve ends with 0")

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["serving"], timeout=PATIENCE_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line.startswith("pennyweight_admission") or line.startswith("process_cpu")}


def connect(serve):
    trusted = ssl.create_default_context(cafile=str(cwd / "ca.crt"))
    return http.client.HTTPSConnection("localhost", serve.ports["admission"], context=trusted, timeout=PATIENCE_S)


def post(serve, path, body, connection=None):
    connection = connection or connect(serve)
    connection.request("POST", path, body if isinstance(body, (bytes, str)) else json.dumps(body),
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def pod_template(gpus, labels=None):
    template = {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus), "cpu": "4", "memory": "8Gi"}}}]}}
    if labels is not None:
        template["metadata"] = {"labels": labels}
    return template


def objects(gpus, labels):
    """One of each kind that states its pods."""
    t = lambda: pod_template(gpus, labels)  # noqa: E731
    meta = {"name": "w"}
    made = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "labels": labels or {}}, "spec": t()["spec"]},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"replicas": 1, "template": t()}},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": {"template": t()}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": t()}},
        {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta,
         "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": t()}}}},
        {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta,
         "spec": {"replicatedJobs": [{"name": n, "template": {"spec": {"template": t()}}} for n in "ab"]}},
        {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": meta,
         "spec": {"leaderWorkerTemplate": {"size": 2, "leaderTemplate": t(), "workerTemplate": t()}}},
        {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": meta,
         "spec": {"headGroupSpec": {"template": t()}, "workerGroupSpecs": [{"replicas": 1, "template": t()}]}},
        {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": meta,
         "spec": {"tasks": [{"name": "t", "replicas": 1, "template": t()}]}},
    ]
    for kind, key in (("PyTorchJob", "pytorchReplicaSpecs"), ("MPIJob", "mpiReplicaSpecs")):
        made.append({"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": meta,
                     "spec": {key: {"Worker": {"replicas": 1, "template": t()}}}})
    return made


def review(made, operation="CREATE", namespace="nlp", user="ana", uid="u-1", **more):
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": uid, "kind": {"group": "", "version": "v1", "kind": made["kind"]}, "operation": operation,
        "namespace": namespace, "name": made["metadata"]["name"], "userInfo": {"username": user},
        "object": made, "oldObject": None, "dryRun": False, **more}}


def apply_patch(document, patch):
    """By python-jsonpatch where it is installed; else the two rules of RFC 6902 that are needed."""
    try:
        import jsonpatch
        return jsonpatch.apply_patch(document, patch)
    except ImportError:
        document = copy.deepcopy(document)
        for step in patch:
            expect(step["op"] == "add", f"another operation than add: {step}")
            *way, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
            at = document
            for part in way:
                at = at[int(part)] if isinstance(at, list) else at[part]
            if isinstance(at, list):
                at.append(step["value"])
            else:
                at[last] = step["value"]
        return document


def decided(serve, path, body):
    status, text = post(serve, path, body)
    expect(status == 200, f"{path}: {status} {text[:200]}")
    answer = json.loads(text)
    expect(answer["kind"] == "AdmissionReview" and answer["response"]["uid"] == body["request"]["uid"],
           f"another review is answered: {text}")
    return answer["response"]


def check_patches(serve):
    for labels in (None, {}, {"team": ""}, {"team": "own"}):
        for made in objects(1, labels):
            what = f"{made['apiVersion']} {made['kind']} {labels}"
            before = decided(serve, "/validate", review(made))
            expect(before["allowed"] == (labels == {"team": "own"}), f"{what}: {before}")
            change = decided(serve, "/mutate", review(made))
            expect(change["allowed"] and change["patchType"] == "JSONPatch", f"{what}: not changed: {change}")
            after = apply_patch(made, json.loads(base64.b64decode(change["patch"])))
            again = decided(serve, "/mutate", review(after))
            expect("patch" not in again, f"{what}: a second patch: {base64.b64decode(again.get('patch', ''))}")
            expect(decided(serve, "/validate", review(after))["allowed"], f"{what}: refused after the patch")
            team = "own" if labels == {"team": "own"} else "nlp"
            text = json.dumps(after)
            places = text.count('"containers"')
            expect(text.count('"priorityClassName": "low"') == places and text.count('"key": "spot"') == places,
                   f"{what}: {text}")
            wanted = places + (made["kind"] != "Pod" and team == "nlp")
            expect(text.count(f'"team": "{team}"') >= wanted and text.count('"cost/center": "7"') >= places,
                   f"{what}: {text}")
            limited = made["kind"] in ("Pod", "CronJob") or made["apiVersion"] == "batch/v1"
            expect(('"activeDeadlineSeconds": 7200' in text) == limited, f"{what}: {text}")


def check_verdicts(serve):
    big = objects(8, {"team": "own"})[1]
    big["spec"]["replicas"] = 3
    refused = decided(serve, "/validate", review(big))
    expect(not refused["allowed"] and refused["status"]["code"] == 403
           and "24 GPUs are more than 16" in refused["status"]["message"], f"{refused}")
    expect(decided(serve, "/validate", review(big, namespace="kube-system"))["allowed"], "an exempt namespace")
    smaller = copy.deepcopy(big)
    smaller["spec"]["replicas"] = 2
    expect(decided(serve, "/validate", review(smaller, "UPDATE", oldObject=big))["allowed"], "it may shrink")
    expect(not decided(serve, "/validate", review(big, "UPDATE", oldObject=smaller))["allowed"], "nor grow")
    expect(decided(serve, "/validate", review(big, "DELETE"))["allowed"], "it may end")
    claim = objects(0, {"team": "own"})[0]
    claim["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "t"}]
    refused = decided(serve, "/validate", review(claim))
    expect(not refused["allowed"] and "how many GPUs it asks for is not known" in refused["status"]["message"],
           f"a claim of any number of GPUs: {refused}")
    fast = objects(0, {"team": "own"})[0]
    fast["spec"]["containers"][0]["resources"] = {"limits": {"example.com/fast": "1"}}
    refused = decided(serve, "/validate", review(fast))
    expect(not refused["allowed"] and "how many GPUs it asks for is not known" in refused["status"]["message"],
           f"a resource that a DeviceClass may stand behind: {refused}")
    wrapper = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": {"name": "w"},
               "spec": {"components": [{"template": objects(1, labels)[1]} for labels in ({"team": "own"}, {})]}}
    refused = decided(serve, "/validate", review(wrapper))
    expect(not refused["allowed"] and "the label 'team' is missing" in refused["status"]["message"], f"a component without: {refused}")
    wrapper["spec"]["components"].pop()
    expect(decided(serve, "/validate", review(wrapper))["allowed"], "all components have it")
    check_pods(serve)
    robot = {"apiVersion": "x.io/v1", "kind": "Robot", "metadata": {"name": "r"}}
    expect(not decided(serve, "/validate", review(robot))["allowed"], "an unknown kind in closed mode")


def check_pods(serve):
    """Risks of pods, in every kind of container and after admission."""
    def allowed(made, **more):
        return decided(serve, "/validate", review(made, **more))["allowed"]

    safe = objects(1, {"team": "own"})[0]
    risky = {"name": "r", "image": "x", "securityContext": {"privileged": True}}
    for where in ("containers", "initContainers", "ephemeralContainers"):
        made = copy.deepcopy(safe)
        made["spec"].setdefault(where, []).append(risky)
        expect(not allowed(made), f"privileged in {where}")
        expect(not allowed(made, operation="UPDATE", oldObject=safe, subResource="ephemeralcontainers"), f"later, in {where}")
        expect(allowed(made, operation="UPDATE", oldObject=made), f"what runs goes on with {where}")
    ours = copy.deepcopy(safe)
    ours["spec"]["containers"][0]["image"] = "ours/x"
    ours["spec"]["volumes"] = [{"name": "v", "hostPath": {"path": "/data"}}]
    expect(allowed(ours), "an exempted image")
    theirs = copy.deepcopy(ours)
    theirs["spec"]["containers"][0]["image"] = "x"
    expect(not allowed(theirs), "another image")
    expect(not allowed(theirs, operation="UPDATE", oldObject=ours), "an exempted image that is replaced later")


def cluster_objects(*items):
    """What the cluster has, put in place whole."""
    (cwd / "new.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    os.replace(cwd / "new.json", cwd / "cluster.json")


def check_isolation(serve):
    """Network policies and storage classes of a client, by the listing of the cluster, which is read again."""
    made = objects(1, {"team": "own", "client": "acme"})[0]
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "acme", "namespace": "nlp"},
              "spec": {"podSelector": {"matchLabels": {"client": "acme"}}, "policyTypes": ["Egress"]}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "nlp"},
             "spec": {"storageClassName": "encrypted-ssd"}}

    def refusal():
        return decided(serve, "/validate", review(made)).get("status", {}).get("message", "")

    def wait_for(wanted, what):
        end = time.monotonic() + PATIENCE_S
        while not wanted(refusal()):
            if time.monotonic() > end:
                return expect(False, f"{what}: {refusal()}")
            time.sleep(0.2)

    told = refusal()
    expect("no NetworkPolicy that is known limits the egress of its pods" in told
           and "the storage class of its claim 'data' is not known" in told, f"nothing is listed: {told}")
    cluster_objects(policy)
    wait_for(lambda told: "NetworkPolicy" not in told and "claim 'data'" in told, "a policy is listed")
    cluster_objects(policy, claim)
    wait_for(lambda told: told == "", "the claim, too")
    (cwd / "cluster.json").write_text("{")
    time.sleep(3)  # it is looked at every two seconds
    expect(refusal() == "", "what was listed stands while the file can't be read")
    cluster_objects(policy, claim | {"spec": {"storageClassName": "plain"}})
    wait_for(lambda told: "its volume 'v' is of the storage class 'plain'" in told, "another class")
    expect("cluster.json" in serve.log.read_text(), "the log says that it could not be read")
    expect(decided(serve, "/validate", review(claim))["allowed"], "a claim runs nothing")
    cluster_objects()


def check_hostile(serve):
    valid = json.dumps(review(objects(1, {"team": "own"})[0]))
    hostile = ["", "{", "null", "[]", "\x00", valid + valid, valid.replace('"request"', '"Request"'), "[" * 100_000,
               valid[:-3], '{"a":' * 5000, valid.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1")]
    for body in hostile:
        status, answer = post(serve, "/validate", body)
        expect(status == 400, f"{body[:60]!r}: {status} {answer[:100]}")
    status, _ = post(serve, "/validate", valid.replace('"image": "x"', '"image": "' + "x" * (3 << 20) + '"'))
    expect(status in (200, 413), f"3 MiB: {status}")
    try:
        status, _ = post(serve, "/validate", b" " * (9 << 20) + valid.encode())
        expect(status == 413, f"9 MiB: {status}")
    except (ConnectionError, ssl.SSLError):
        pass  # it is not read to its end
    for path, wanted in (("/api/v1/session", 404), ("/metrics", 404), ("/", 404), ("/healthz", 200)):
        connection = connect(serve)
        connection.request("GET", path)
        expect(connection.getresponse().status == wanted, f"{path} on the webhook's port")


def check_rotation(serve):
    """Every review is answered while the certificate is replaced, and new connections get the new one."""
    old = connect(serve)
    body = review(objects(1, {"team": "own"})[3])
    expect(post(serve, "/validate", body, old)[0] == 200, "before")
    certificate("second")
    end = time.monotonic() + PATIENCE_S
    while True:
        expect(post(serve, "/validate", body, old)[0] == 200, "a connection under the former certificate")
        try:
            expect(decided(serve, "/validate", body)["allowed"], "under the new certificate")
            return
        except ssl.SSLError:
            if time.monotonic() > end:
                expect(False, "the new certificate is not used")
                return
            time.sleep(0.2)


def client_certificate(name, ca, days=2, extensions="", signer=None):
    """A certificate that a CA, made where there is none, has signed: (the CA's file, the client's files)."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=cwd, check=True, capture_output=True)
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    if not (cwd / f"{ca}.crt").exists():
        openssl("req", "-x509", *new_key, "-keyout", f"{ca}.key", "-out", f"{ca}.crt", "-days", "2", "-subj", f"/CN={ca}")
    openssl("req", *new_key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN=kube-apiserver-{name}")
    (cwd / "extensions.cnf").write_text(extensions)
    signs = signer or ca
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{signs}.crt", "-CAkey", f"{signs}.key", "-CAcreateserial",
            "-out", f"{name}.crt", "-days", str(days), *(["-extfile", "extensions.cnf"] if extensions else []))
    return cwd / f"{ca}.crt", (cwd / f"{name}.crt", cwd / f"{name}.key")


def check_clients():
    """With client_ca_file only the API server's certificate opens the port, and another CA can take its place."""
    ours, api_server = client_certificate("ours", "our-ca")
    _, ended = client_certificate("ended", "our-ca", days=-1)
    others_ca, other = client_certificate("other", "other-ca")
    shutil.copy(ours, cwd / "clients.crt")
    (cwd / "pennyweight.yaml").write_text(CONFIG.replace("key_file: tls.key", "key_file: tls.key, client_ca_file: clients.crt"))
    serve = Serve()
    body = json.dumps(review(objects(1, {"team": "own"})[0]))

    def asks(shown, version=None):
        trusted = ssl.create_default_context(cafile=str(cwd / "ca.crt"))
        if version:
            trusted.minimum_version = trusted.maximum_version = version
        if shown:
            trusted.load_cert_chain(*shown)
        connection = http.client.HTTPSConnection("localhost", serve.ports["admission"], context=trusted, timeout=PATIENCE_S)
        try:
            return post(serve, "/validate", body, connection)[0]
        except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
            return "refused"

    # Of the wrong purpose; by an intermediate CA, whose certificate the client shows too, or doesn't; by a
    # certificate that is no CA.
    _, server = client_certificate("server", "our-ca", extensions="extendedKeyUsage=serverAuth\n")
    _, client = client_certificate("client", "our-ca", extensions="extendedKeyUsage=clientAuth\n")
    client_certificate("middle", "our-ca", extensions="basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n")
    _, below = client_certificate("below", "our-ca", signer="middle")
    alone = (below[0], below[1])
    (cwd / "chain.crt").write_text(below[0].read_text() + (cwd / "middle.crt").read_text())
    chained = (cwd / "chain.crt", below[1])
    _, forged = client_certificate("forged", "our-ca", signer="ours")
    (cwd / "forged-chain.crt").write_text(forged[0].read_text() + (cwd / "ours.crt").read_text())
    told = [asks(shown) for shown in (server, client, alone, chained, (cwd / "forged-chain.crt", forged[1]))]
    expect(told == ["refused", 200, "refused", 200, "refused"], f"purposes, intermediates, no CA: {told}")
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        told = [asks(shown, version) for shown in (api_server, None, other, server)]
        expect(told == [200, "refused", "refused", "refused"], f"{version}: {told}")
    told = [asks(shown) for shown in (api_server, None, other, ended)]
    expect(told == [200, "refused", "refused", "refused"], f"ours, none, another's, expired: {told}")
    shutil.copy(others_ca, cwd / "new.crt")
    os.replace(cwd / "new.crt", cwd / "clients.crt")
    end = time.monotonic() + PATIENCE_S
    while asks(other) != 200 and time.monotonic() < end:
        time.sleep(0.2)
    expect([asks(other), asks(api_server)] == [200, "refused"], "another CA takes its place without a restart")
    serve.stop()
    (cwd / "clients.crt").write_text("nothing")
    failed = subprocess.run([BINARY, "--config", "pennyweight.yaml", "serve"], cwd=cwd, capture_output=True, text=True,
                            timeout=PATIENCE_S, check=False)
    expect(failed.returncode != 0 and "clients.crt" in failed.stdout + failed.stderr, f"no CA in it: {failed}")
    (cwd / "pennyweight.yaml").write_text(CONFIG)


def check_context():
    """What reviews are judged by beside the rules: limits, budgets and whose they are, the time, the month, prices."""
    (cwd / "pennyweight.yaml").write_text("""store: {path: context.duckdb}
prices: {override: prices.csv}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
budgets: [{name: nlp, filter: team=nlp, amount: 100 USD}]
guardrails:
  pricing: {provider: own, gpu_models: {default: H100-SXM5-80GB}}
  admission: {listen: 127.0.0.1:0, cert_file: tls.crt, key_file: tls.key}
  limits: [{name: vision, value: cv, per_month: 300 USD}, {name: speech, gpu_hours: 1}]
  rules:
  - {name: beyond, when: {exceeds_budget: true}}
  - {name: no time, when: {hours_not: "mon-sun 00:00-24:00"}}
  - {name: dear, when: {per_hour_above: 1000 USD}}
""")
    serve = Serve()

    def refusal(team, hours, kind="Job", replicas=1):
        labels = {"team": team}
        made = next(one for one in objects(8, labels) if one["kind"] == kind)
        if kind == "Job":
            made["spec"]["activeDeadlineSeconds"] = hours * 3600
        made["spec"]["replicas" if kind == "Deployment" else "parallelism"] = replicas
        return decided(serve, "/validate", review(made)).get("status", {}).get("message", "")

    # By hand: a box's GPUs are 32 an hour, and 4 CPUs and 8 GiB of it 0.16 and 0.032.
    end = time.monotonic() + PATIENCE_S
    while refusal("nlp", 3) and time.monotonic() < end:
        time.sleep(0.2)  # until budgets and limits are measured
    for what, told, wanted in [
            ("within the budget", refusal("nlp", 3), ""),
            ("beyond it", refusal("nlp", 4), "it may cost 128.77 USD a run, more than the budget nlp has left"),
            ("no budget of this team", refusal("cv", 4), ""), ("within the limit", refusal("cv", 9), ""),
            ("beyond the limit", refusal("cv", 10), "limit vision"), ("no limit of this team", refusal("web", 24), ""),
            ("until the month ends", refusal("speech", 0, "Deployment", 30), "limit speech"),
            ("dear", refusal("web", 1, replicas=40), "1,287.68 USD an hour is more than 1,000.00 USD")]:
        expect(wanted in told if wanted else told == "", f"{what}: {told}")
    serve.stop()


def check_load(serve):
    """Some thousand reviews over connections that are kept; their cost is taken from the processor's clock."""
    bodies = [json.dumps(review(made)) for made in objects(4, {"team": "own"})]
    wanted = 2000
    before = serve.metrics()

    def ask(worker):
        connection = connect(serve)
        good = 0
        for i in range(wanted // 8):
            status, text = post(serve, "/validate" if i % 2 else "/mutate", bodies[(i + worker) % len(bodies)], connection)
            good += status == 200 and json.loads(text)["response"]["allowed"]
        return good

    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        good = sum(pool.map(ask, range(8)))
    spent = time.monotonic() - begun
    after = serve.metrics()
    expect(good == wanted, f"{good} of {wanted} answered")
    counted = sum(after[key] - before[key] for key in after if key.startswith("pennyweight_admission_reviews_total"))
    expect(counted == wanted, f"{counted} of {wanted} counted")
    cpu = (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / wanted
    judged = (after["pennyweight_admission_seconds_total"] - before["pennyweight_admission_seconds_total"]) / wanted
    print(f"{wanted / spent:.0f} reviews a second; of each {cpu * 1000:.2f} ms of processor time, "
          f"{judged * 1000:.2f} ms judging")


def main():
    (cwd / "prices.csv").write_text(PRICES)
    (cwd / "pennyweight.yaml").write_text(CONFIG)
    cluster_objects()
    certificate("first")
    serve = Serve()
    check_patches(serve)
    check_verdicts(serve)
    check_isolation(serve)
    check_hostile(serve)
    check_rotation(serve)
    check_load(serve)
    serve.process.kill()
    serve.process.wait()
    try:
        post(serve, "/validate", review(objects(1, {"team": "own"})[0]))
        expect(False, "a killed serve answers")
    except OSError:
        pass  # the API server then does what failurePolicy says
    serve = Serve()
    check_verdicts(serve)
    serve.stop()
    check_clients()
    check_context()


main()
report("admission")
