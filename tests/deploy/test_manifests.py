"""Checks of the Kubernetes manifests and the systemd unit beyond schemas: names and labels match, RBAC
only reads, nothing runs as root, and pennyweight accepts the configuration.

usage: test_manifests.py ROOT [PENNYWEIGHT]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

root = pathlib.Path(sys.argv[1])
failures = []
READING = {"get", "list", "watch"}


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)
    return condition


def manifests():
    found = {}
    for path in sorted((root / "deploy/kubernetes").rglob("*.yaml")):
        if path.name == "kustomization.yaml" or path.parent.name == "admission":
            continue
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            kind = document["kind"]
            expect(kind not in found, f"{path.name}: a second {kind}")
            found[kind] = document
            if kind not in {"Namespace", "ClusterRole", "ClusterRoleBinding"}:
                expect(document["metadata"].get("namespace") == "pennyweight", f"{kind} lies in no namespace of ours")
    return found


def check_names(all_of_them):
    pod = all_of_them["StatefulSet"]["spec"]["template"]
    labels = pod["metadata"]["labels"].items()
    for kind, selector in (("StatefulSet", all_of_them["StatefulSet"]["spec"]["selector"]["matchLabels"]),
                           ("Service", all_of_them["Service"]["spec"]["selector"])):
        expect(selector and selector.items() <= labels, f"{kind} selects no pod of ours")
    monitor = all_of_them["ServiceMonitor"]["spec"]
    expect(monitor["selector"]["matchLabels"].items() <= all_of_them["Service"]["metadata"]["labels"].items(),
           "the ServiceMonitor selects no service of ours")
    account = all_of_them["ServiceAccount"]["metadata"]["name"]
    expect(pod["spec"]["serviceAccountName"] == account, "the pod has another service account")
    binding = all_of_them["ClusterRoleBinding"]
    expect(binding["roleRef"]["name"] == all_of_them["ClusterRole"]["metadata"]["name"], "the binding names no role of ours")
    expect(binding["subjects"] == [{"kind": "ServiceAccount", "name": account, "namespace": "pennyweight"}],
           "the binding binds others")
    service = all_of_them["Service"]
    expect(all_of_them["StatefulSet"]["spec"]["serviceName"] == service["metadata"]["name"], "no such service")
    ports = {port["name"] for port in service["spec"]["ports"]}
    backend = all_of_them["Ingress"]["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    expect(backend["name"] == service["metadata"]["name"] and backend["port"]["name"] in ports, "the ingress leads nowhere")
    expect({end["port"] for end in monitor["endpoints"]} <= ports, "the ServiceMonitor asks at no port")


def check_pod(all_of_them):
    spec = all_of_them["StatefulSet"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    config = yaml.safe_load(all_of_them["ConfigMap"]["data"]["pennyweight.yaml"])
    listens = int(config["serve"]["listen"].rsplit(":", 1)[1])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        expect(ports.get(container[probe]["httpGet"]["port"]) == listens, f"{probe} asks where nobody listens")
    for port in all_of_them["Service"]["spec"]["ports"]:
        expect(ports.get(port["targetPort"]) == listens, "the service leads where nobody listens")
    expect("tls" in config["serve"] or config["serve"]["listen"].startswith("127."), "listens to all without TLS")
    volumes = {volume["name"] for volume in spec["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    expect(volumes == set(mounts), f"volumes {volumes} and mounts {set(mounts)} differ")
    for path in (config["store"]["path"], *config["serve"]["tls"].values(), config["prices"]["rate_card"]):
        expect(any(path.startswith(mount + "/") for mount in mounts.values()), f"{path} lies on no volume")
    claims = {volume["persistentVolumeClaim"]["claimName"] for volume in spec["volumes"] if "persistentVolumeClaim" in volume}
    expect(claims == {all_of_them["PersistentVolumeClaim"]["metadata"]["name"]}, f"claims {claims}")
    expect(all_of_them["StatefulSet"]["spec"]["replicas"] == 1, "one ledger has one writer")
    safe = container["securityContext"]
    expect(spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] > 0, "runs as root")
    expect(safe["readOnlyRootFilesystem"] and not safe["allowPrivilegeEscalation"]
           and safe["capabilities"] == {"drop": ["ALL"]}, "may do more than it must")
    expect(spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", "no seccomp profile")


def check_role(role):
    for rule in role["rules"]:
        expect(set(rule["verbs"]) <= READING, f"{rule['resources']}: {rule['verbs']} is more than reading")
        for name in ("secrets", "configmaps", "*"):
            expect(name not in rule["resources"] and "*" not in rule["apiGroups"], f"may read {name}")
    asked = {resource for rule in role["rules"] for resource in rule["resources"]}
    expect({"pods", "nodes", "namespaces"} <= asked, "can't see pods, nodes and namespaces")


def check_unit(program):
    unit = (root / "deploy/systemd/pennyweight.service").read_text(encoding="utf-8")
    command = re.search(r"^ExecStart=(\S+) --config (\S+) serve$", unit, re.M)
    if not expect(command, "the unit starts no `pennyweight --config … serve`"):
        return
    package = (root / "cmake/package.cmake").read_text(encoding="utf-8")
    expect(command[1] == "/usr/bin/pennyweight" and "RUNTIME DESTINATION usr/bin" in package, "the unit's program is not the package's")
    expect(command[2] == "/etc/pennyweight/pennyweight.yaml", "the unit's configuration is not the package's")
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not installed; the unit was not verified")
        return
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place) / "pennyweight.service"
        copy.write_text(unit.replace(command[1], program or sys.executable), encoding="utf-8")
        result = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True)
        expect(result.returncode == 0 and "pennyweight.service" not in result.stderr, f"systemd: {result.stderr}")
        result = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                               "--threshold=15", copy], capture_output=True, text=True)
        expect(result.returncode == 0, f"systemd: exposed more than 1.5: {result.stdout[-200:]} {result.stderr}")
        print(result.stdout.strip().splitlines()[-1])


def check_configs(program, all_of_them):
    """The configurations that are shipped are ones that the program takes."""
    with tempfile.TemporaryDirectory() as place:
        shipped = (root / "deploy/debian/pennyweight.yaml").read_text(encoding="utf-8")
        texts = {"deb": shipped, "kubernetes": all_of_them["ConfigMap"]["data"]["pennyweight.yaml"],
                 "deb, all of it": re.sub(r"^# (?=\w+:|  - )", "", shipped.replace("# What to read", "## What"), flags=re.M)}
        for name, text in texts.items():
            file = pathlib.Path(place) / "pennyweight.yaml"
            file.write_text(text.replace("/var/lib/pennyweight", place), encoding="utf-8")
            (pathlib.Path(place) / "prices.csv").write_text(all_of_them["ConfigMap"]["data"]["prices.csv"], encoding="utf-8")
            result = subprocess.run([program, "--config", file, "policy", "explain"], capture_output=True, text=True, cwd=place)
            expect(result.returncode == 0, f"{name}: {result.stderr}")


def check_webhook(all_of_them):
    """The webhooks lead to our service, spare our own namespace, and the pod would answer there."""
    path = root / "deploy/kubernetes/admission/webhook.yaml"
    found = {document["kind"]: document for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))}
    service = found["Service"]
    labels = all_of_them["StatefulSet"]["spec"]["template"]["metadata"]["labels"].items()
    expect(service["spec"]["selector"].items() <= labels, "the webhook's service selects no pod of ours")
    ours = all_of_them["Namespace"]["metadata"]["name"]
    for kind, endpoint in (("ValidatingWebhookConfiguration", "/validate"), ("MutatingWebhookConfiguration", "/mutate")):
        for hook in found[kind]["webhooks"]:
            target = hook["clientConfig"]["service"]
            expect((target["name"], target["namespace"], target["path"]) ==
                   (service["metadata"]["name"], ours, endpoint), f"{kind} leads to {target}")
            expect(target["port"] in {port["port"] for port in service["spec"]["ports"]}, f"{kind}: no such port")
            spared = hook["namespaceSelector"]["matchExpressions"][0]
            expect(spared["operator"] == "NotIn" and {ours, "kube-system"} <= set(spared["values"]), f"{kind} spares none")
            effects = {"/validate": "NoneOnDryRun", "/mutate": "None"}[endpoint]
            expect(hook["sideEffects"] == effects and hook["timeoutSeconds"] <= 10, f"{kind}: effects, or a long wait")


def main():
    program = sys.argv[2] if len(sys.argv) > 2 else None
    all_of_them = manifests()
    check_names(all_of_them)
    check_pod(all_of_them)
    check_webhook(all_of_them)
    check_role(all_of_them["ClusterRole"])
    check_unit(program)
    if program:
        check_configs(program, all_of_them)
    for script in sorted((root / "deploy/debian").glob("p*r*")):
        if script.suffix == "":
            result = subprocess.run(["sh", "-n", script], capture_output=True, text=True)
            expect(result.returncode == 0, f"{script.name}: {result.stderr}")
    print("manifests:", "ok" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


main()
