#!/usr/bin/env python3
"""A pod shows what it costs within a minute of its start, in `top` and in the API.

usage: top_kube.py PENNYWEIGHT SQL_TOOL

The API stand-in of ../kube/kube_api.py, exporters with the labels of pods, and `serve` with its
defaults. Node n1 has 4 cards at 1.10 an hour, n2 one that two pods share by time-slicing. Beside it
a cluster whose kube-state-metrics comes by remote_write and whose API nobody asks. In the middle
`serve` is killed with SIGKILL, and a pod vanishes while it is away.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import top_common
import harness
import remote_write
from harness import expect, folder, guarded, need, say, wait_until
from top_common import Decimal, amount

PRICE = Decimal("1.1")
FLEET = 5 * PRICE
KSM_EVERY_S = 15
MODEL = "NVIDIA-A100-SXM4-80GB"


def now_text(at=None):
    moment = datetime.datetime.fromtimestamp(at or time.time(), datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# ------------------------------------------------------------------------------ objects

def thing(kind, version, name, space=None, labels=None, owner=None, **more):
    meta = {"name": name, "uid": f"uid-{kind}-{name}".lower(), "labels": labels or {},
            "creationTimestamp": now_text(time.time() - 3600)}
    if space:
        meta["namespace"] = space
    if owner:
        meta["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                                    "name": owner["metadata"]["name"],
                                    "uid": owner["metadata"]["uid"], "controller": True}]
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def node(name, cards, replicas=1):
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(cards),
              "nvidia.com/gpu.product": MODEL + ("-SHARED" if replicas > 1 else ""),
              "nvidia.com/gpu.replicas": str(replicas), "nvidia.com/gpu.memory": "81920"}
    if replicas > 1:
        labels["nvidia.com/gpu.sharing-strategy"] = "time-slicing"
    capacity = {"cpu": "96", "memory": "1056270540Ki", "nvidia.com/gpu": str(cards * replicas)}
    return thing("Node", "v1", name, labels=labels, spec={}, status={
        "capacity": capacity, "allocatable": capacity,
        "conditions": [{"type": "Ready", "status": "True",
                        "lastTransitionTime": now_text(time.time() - 3600)}]})


def pod(name, owner, gpus, on=None, phase="Pending", labels=None, space="ml"):
    one = thing("Pod", "v1", name, space, labels, owner)
    one["metadata"]["creationTimestamp"] = now_text()
    one["spec"] = {"containers": [{"name": "main", "image": "registry.example/ml/train:4.1",
                                   "resources": {"limits": {"nvidia.com/gpu": str(gpus)},
                                                 "requests": {"nvidia.com/gpu": str(gpus)}}}]}
    one["status"] = {"phase": phase}
    if on:
        one["spec"]["nodeName"] = on
        one["status"]["startTime"] = now_text()
        one["status"]["conditions"] = [{"type": "PodScheduled", "status": "True",
                                        "lastTransitionTime": now_text()}]
    return one


class Api:
    """The stand-in, as a process; it ends with its standard input."""

    def __init__(self, objects):
        self.folder = tempfile.TemporaryDirectory(prefix="pennyweight-kube-")
        (pathlib.Path(self.folder.name) / "all.json").write_text(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        script = pathlib.Path(__file__).resolve().parent.parent / "kube" / "kube_api.py"
        self.process = subprocess.Popen(
            [sys.executable, script, self.folder.name, "--token", "secret", "--bookmarks", "5"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().split()[1]}"

    def _control(self, what, body):
        status, text = harness.post(f"{self.url}/control/{what}", json.dumps(body).encode())
        if status != 200:
            raise RuntimeError(f"kube_api: {what}: {status} {text}")

    def put(self, one):
        self._control("put", one)

    def delete(self, name, space="ml"):
        self._control("delete", {"path": "/api/v1/pods", "namespace": space, "name": name})

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.folder.cleanup()


def kubeconfig(where, url):
    path = where / "kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "pennyweight"}}],
        "clusters": [{"name": "lab", "cluster": {"server": url}}],
        "users": [{"name": "pennyweight", "user": {"token": "secret"}}]}))
    return path


# ------------------------------------------------------------------------------ kube-state-metrics

class StateMetrics(threading.Thread):
    """What a Prometheus that scrapes kube-state-metrics of the cluster `state` writes."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.pods, self.refused = url, {}, []
        self.ending = threading.Event()

    def series(self):
        def one(name, value=1, **labels):
            return ({"__name__": name, "cluster": "state", "job": "kube-state-metrics",
                     **{key.rstrip("_"): str(text) for key, text in labels.items()}}, value)

        yield one("kube_node_info", node="k1")
        yield one("kube_node_created", time.time() - 3600, node="k1")
        yield one("kube_node_labels", node="k1", label_nvidia_com_gpu_product=MODEL,
                  label_nvidia_com_gpu_count="2")
        yield one("kube_node_status_capacity", 2, node="k1", resource="nvidia_com_gpu",
                  unit="integer")
        yield one("kube_node_status_condition", node="k1", condition="Ready", status="true")
        yield one("kube_namespace_labels", namespace="ml", label_team_id="vision")
        for name, begun in list(self.pods.items()):
            of = {"namespace": "ml", "pod": name, "uid": "uid-" + name}
            yield one("kube_pod_info", node="k1", **of)
            yield one("kube_pod_status_scheduled_time", begun, **of)
            yield one("kube_pod_start_time", begun, **of)
            yield one("kube_pod_owner", owner_kind="StatefulSet", owner_name="llm",
                      owner_is_controller="true", **of)
            yield one("kube_pod_labels", label_team="nlp", label_user="ana", **of)
            yield one("kube_pod_container_info", container="main", image_spec="vllm:1", **of)
            yield one("kube_pod_container_resource_requests", 1, container="main", node="k1",
                      resource="nvidia_com_gpu", unit="integer", **of)
            for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown"):
                yield one("kube_pod_status_phase", int(phase == "Running"), phase=phase, **of)

    def run(self):
        while not self.ending.wait(KSM_EVERY_S if self.pods is not None else 0):
            at_ms = int(time.time() * 1000)
            body = remote_write.encode([(labels, [(at_ms, value)])
                                        for labels, value in self.series()])
            status, text = harness.post(self.url + "/api/v1/write", body, remote_write.HEADERS)
            if status not in (0, 204):
                self.refused.append((status, text))


# ------------------------------------------------------------------------------ the test

def start_train(serve, api, cards, job):
    """The pod of a Job on two GPUs of n1."""
    api.put(pod("train-7-x2x5q", job, 2, labels={"user": "ana"}))
    begun = time.time()
    api.put(pod("train-7-x2x5q", job, 2, "n1", "Running", {"user": "ana"}))
    for card in cards[:2]:
        card.pods = (("ml", "train-7-x2x5q"),)
    row, took = top_common.seconds_until("the pod is in `top`",
                                         lambda: serve.row("ml/train-7-x2x5q"), begun)
    expect(amount(row["cost_per_hour"]) == 2 * PRICE, f"2 GPUs at 1.10: {row}")
    expect((row["nodes"], row["device"], row["gpus"]) == ("n1", "gpu", "2"), f"where: {row}")
    expect(serve.api(filter="workload=ml/train-7-x2x5q", by="team,user")["rows"]
           == serve.top("--filter", "workload=ml/train-7-x2x5q", "--by", "team,user")["rows"],
           "the API says what the verb says")
    more = serve.row("ml/train-7-x2x5q", "--by", "team,user,project,owner_kind,owner_name,job,"
                     "namespace,image,namespace.label/cost-center")
    expect((more["team"], more["user"], more["project"]) == ("vision", "ana", "detector"),
           f"whose: {more}")
    expect((more["owner_kind"], more["owner_name"], more["job"]) == ("Job", "train-7", "train-7"),
           f"its owner: {more}")
    expect(more["namespace.label/cost-center"] == "42", f"a label of its namespace: {more}")
    expect(top_common.adds_up(serve.top("--filter", "cluster=lab"), FLEET),
           "all rows together are the nodes' price")
    # The part of its GPUs' time: a card that is computing for half of a minute is busy for half of it,
    # whatever its memory holds and whatever it costs.
    expected = Decimal(50)

    def used():
        found = serve.row("ml/train-7-x2x5q")["busy"]
        return found is not None and abs(Decimal(found) - expected) < 1 and found

    top_common.seconds_until("how much of it is used", used, begun, 90)
    return took


def start_shared(serve, api, card, owner):
    """Two pods of a Deployment on one GPU."""
    names = ("web-5d9c-aaaaa", "web-5d9c-bbbbb")
    begun = time.time()
    for name in names:
        api.put(pod(name, owner, 1, "n2", "Running", {"pod-template-hash": "5d9c"}))
    card.pods = tuple(("ml", name) for name in names)
    both, _ = top_common.seconds_until(
        "both pods of a shared card are in `top`",
        lambda: [row for row in map(lambda name: serve.row("ml/" + name, "--by", "owner_kind,"
                                                            "owner_name"), names) if row][1:]
        and [serve.row("ml/" + name, "--by", "owner_kind,owner_name") for name in names], begun)
    costs = [amount(row["cost_per_hour"]) for row in both]
    expect(sum(costs) == PRICE, f"together they cost the card's price: {costs}")
    expect(costs[0] == costs[1], f"and each the half: {costs}")
    expect(all((row["owner_kind"], row["owner_name"]) == ("Deployment", "web") for row in both),
           f"their Deployment: {both}")
    expect(top_common.adds_up(serve.top("--filter", "cluster=lab"), FLEET), "the sum stays")
    return names


def kill_and_restart(serve, api, shared, state):
    before = serve.own()
    expect(not harness.metric_sum(before, "pennyweight_ledger_total", 'what="rejected"'),
           "nothing was rejected")
    serve.kill()
    api.delete(shared[1])
    killed = time.time()
    time.sleep(2)
    serve.start()
    say("killed, and up again")
    top_common.seconds_until("the pod that vanished meanwhile is gone",
                             lambda: serve.row("ml/" + shared[1]) is None, killed)
    for name in ("ml/train-7-x2x5q", "ml/" + shared[0]):
        wait_until(f"{name} goes on", lambda name=name: serve.row(name), 60)
    wait_until("kube-state-metrics goes on", lambda: serve.row("ml/llm-0"), 60)
    expect(not state.refused, f"remote_write: {state.refused[:1]}")
    return killed


def finish_train(serve, api, cards, job):
    one = pod("train-7-x2x5q", job, 2, "n1", "Succeeded", {"user": "ana"})
    known = datetime.datetime.fromisoformat(
        serve.row("ml/train-7-x2x5q")["since"].replace("Z", "+00:00")).timestamp()
    one["status"]["startTime"] = now_text(known)
    one["status"]["conditions"][0]["lastTransitionTime"] = now_text(known)
    ended = time.time()
    one["status"]["containerStatuses"] = [{"name": "main", "state": {"terminated": {
        "exitCode": 0, "startedAt": now_text(known), "finishedAt": now_text(ended)}}}]
    api.put(one)
    for card in cards[:2]:
        card.pods = ()
    top_common.seconds_until("the pod that succeeded is gone",
                             lambda: serve.row("ml/train-7-x2x5q") is None, ended)
    return ended


def check_ledger(serve, sql_tool, shared, killed, ended):
    rows = top_common.holdings(serve, sql_tool, "ml/train-7-x2x5q")
    expect(len({row["attempt"] for row in rows}) == 1, f"one attempt: {rows}")
    last = rows[-1]
    expect(last["ended"] == "true" and "Succeeded" in json.dumps(last), f"how it ended: {last}")
    expect(abs(top_common.seconds_of(last["held_to"]) - ended) < 2, f"and when: {last}")
    rows = top_common.holdings(serve, sql_tool, "ml/" + shared[1])
    end = max(top_common.seconds_of(row["held_to"]) for row in rows)
    expect(end < killed + 30, f"the vanished pod's time does not go on: {rows}")
    expect(len({row["attempt"] for row in rows}) == 1, f"one attempt: {rows}")


def main():
    binary, sql_tool = sys.argv[1:3]
    need(binary, "faketime")
    where = folder("top-kube")
    (where / "card.csv").write_text(f"gpu_model,unit,price,currency\n{MODEL},GPU-Hours,1.1,EUR\n")
    job = thing("Job", "batch/v1", "train-7", "ml", {"team": "vision"})
    deployment = thing("Deployment", "apps/v1", "web", "ml")
    replicas = thing("ReplicaSet", "apps/v1", "web-5d9c", "ml", owner=deployment)
    api = Api([node("n1", 4), node("n2", 1, replicas=2),
               thing("Namespace", "v1", "ml", labels={
                   "team-id": "vision", "project-id": "detector", "cost-center": "42"}),
               job, deployment, replicas])
    cards = [top_common.Card("n1", index, busy=0.5) for index in range(4)]
    shared_card = top_common.Card("n2", 0, busy=0.4)
    exporters = [top_common.exporter(cards), top_common.exporter([shared_card])]
    targets = ", ".join(f"'{exporter.target}'" for exporter in exporters)
    serve = top_common.Serve(binary, where, "lab", (
        "prices: {rate_card: card.csv}\n"
        "dimensions:\n"
        "  team: {from: [team, team-id, namespace.label/team-id, namespace]}\n"
        "  project: {from: [project-id, namespace.label/project-id]}\n"
        f"kubernetes: [{{cluster: lab, kubeconfig: {kubeconfig(where, api.url)}}}]\n"
        f"scrape: [{{job: dcgm, honor_labels: true, targets: [{targets}]}}]\n"))
    serve.start()
    say("serve is ready")
    state = StateMetrics(serve.url)
    state.start()
    wait_until("the nodes are known", lambda: serve.top()["rows"], 60)
    start_train(serve, api, cards, job)
    wait_until("kube-state-metrics' node is known",
               lambda: any(name.endswith("k1") for row in serve.top()["rows"]
                           for name in [row["nodes"]]), 90)
    begun = time.time()
    state.pods["llm-0"] = begun
    shared = start_shared(serve, api, shared_card, replicas)
    row, _ = top_common.seconds_until(
        "a pod of kube-state-metrics is in `top`",
        lambda: serve.row("ml/llm-0", "--by", "team,user,owner_kind,owner_name"), begun)
    expect(amount(row["cost_per_hour"]) == PRICE, f"1 GPU at 1.10: {row}")
    expect((row["team"], row["user"], row["owner_kind"], row["owner_name"])
           == ("nlp", "ana", "StatefulSet", "llm"), f"whose: {row}")
    top_common.expect_sorted(serve)
    killed = kill_and_restart(serve, api, shared, state)
    ended = finish_train(serve, api, cards, job)
    # A pod that kube-state-metrics no longer reports ends minutes later, at its last sample.
    state.ending.set()
    expect(top_common.adds_up(serve.top("--filter", "cluster=lab"), FLEET), "the sum at the end")
    rejected = harness.metric_sum(serve.own(), "pennyweight_ledger_total", 'what="rejected"')
    expect(rejected == 0, f"{rejected:.0f} facts were rejected")
    expect(serve.stop() == 0, "it ends with 0")
    api.close()
    check_ledger(serve, sql_tool, shared, killed, ended)
    # The accounts of today, as they will be tomorrow.
    month = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m")
    serve.later("price", "--month", month)
    serve.later("allocate", "--month", month)
    jobs = top_common.csv_rows(serve.later("units", "--jobs", "--month", month, "--format", "csv"))
    train = [row for row in jobs if "train-7" in str(row)]
    say(f"units --jobs: {train}")
    expect(bool(train), f"units --jobs has the Job: {jobs}")


if __name__ == "__main__":
    guarded(main, "top_kube")
