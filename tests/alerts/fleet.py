"""A small fleet that sends its telemetry to `serve` every second, whether `serve` is there or not."""
import json
import threading
import time
import urllib.request

from steps import expect

# What is true of the GPU of each node while all is well, and while something is wrong.
WELL = {"util": 50, "temp": 60, "xid": 0, "ecc": 0, "used": 1000, "free": 79000, "throttle": 0}
WRONG = {
    "hot": ({"temp": 96}, "gpu_hot"),
    "slow": ({"throttle": 8}, "gpu_throttled"),
    "ecc": ({"ecc": 2}, "gpu_ecc"),
    "oom": ({"xid": 31, "used": 79500, "free": 500}, "gpu_out_of_memory"),
    "lost": ({"xid": 79}, "gpu_xid"),
}
# How much of its GPU the pod of each workload uses while something is wrong.
USES = {"idle-0": (0, "gpu_idle"), "low-0": (5, "low_utilisation"), "high-0": (99, "high_utilisation"),
        "serving-0": (0, "inference_idle")}
# So long requests are answered in time: more than a window of ten seconds, and what is usual before it.
USUAL_S = 25
# Nobody knows what node k1 costs; k2 has a list price.
NODES = {"k1": list(USES), "k2": ["calm-0"]}


def gpu_id(number):
    return f"GPU-{number:08}-0000-0000-0000-000000000000"


class Fleet:
    def __init__(self, serve, begun):
        self.serve, self.begun = serve, begun
        self.wrong, self.silent_nodes, self.is_silent = False, set(), True
        self.has_pods = False  # those of k1: what a pod uses is the mean of five minutes
        self.ended = None  # when the pods of k1 ended
        self.checkpoints = 0
        self.answered = self.slow = 0  # requests
        self.killed_at = None  # when a container was killed for lack of memory, the last time
        self.is_far_silent = True  # another cluster, of one GPU
        self.is_new = False  # `serve` takes pods for known when kube-state-metrics has told of them for half a minute
        threading.Thread(target=self.send, daemon=True).start()

    def exposition(self):
        lines = []

        def one(name, value, **labels):
            text = ",".join(f'{key}="{label}"' for key, label in {"cluster": "lab", **labels}.items())
            lines.append(f"{name}{{{text}}} {value}")

        def state(name, value=1, **labels):
            one(name, value, job="kube-state-metrics", **labels)

        def gpu(number, node, index, values, **labels):
            of = {"gpu": str(index), "UUID": gpu_id(number),
                  "device": f"nvidia{index}", "modelName": "NVIDIA A100-SXM4-80GB", "Hostname": node, **labels}
            for name, key in (("GPU_UTIL", "util"), ("GPU_TEMP", "temp"), ("XID_ERRORS", "xid"),
                              ("ECC_DBE_VOL_TOTAL", "ecc"), ("FB_USED", "used"), ("FB_FREE", "free"),
                              ("CLOCK_THROTTLE_REASONS", "throttle")):
                one(f"DCGM_FI_DEV_{name}", values[key], **of)
            one("DCGM_FI_DEV_FB_RESERVED", 0, **of)

        for number, (node, (wrong, _)) in enumerate(WRONG.items()):
            gpu(number, node, 0, {**WELL, **(wrong if self.wrong else {})})
        for number, (node, pods) in enumerate(NODES.items()):
            state("kube_node_info", node=node)
            state("kube_node_created", f"{self.begun:.0f}", node=node)
            more = {"label_node_kubernetes_io_instance_type": "p4d.24xlarge",
                    "label_topology_kubernetes_io_region": "us-east-1"} if node == "k2" else {}
            state("kube_node_labels", node=node, label_nvidia_com_gpu_product="NVIDIA-A100-SXM4-80GB",
                  label_nvidia_com_gpu_count="8", **more)
            state("kube_node_status_capacity", 8, node=node, resource="nvidia_com_gpu", unit="integer")
            state("kube_node_status_condition", node=node, condition="Ready", status="true")
            for index, pod in enumerate(pods if node == "k2" or self.has_pods else []):
                of = {"namespace": "serving" if pod == "serving-0" else "ml", "pod": pod, "uid": "uid-" + pod}
                state("kube_pod_info", node=node, **of)
                state("kube_pod_status_scheduled_time", f"{self.begun:.0f}", **of)
                state("kube_pod_start_time", f"{self.begun:.0f}", **of)
                state("kube_pod_labels", label_team="nlp", **of)
                state("kube_pod_container_info", container="main", image_spec="x:1", **of)
                state("kube_pod_container_resource_requests", 1, container="main", node=node,
                      resource="nvidia_com_gpu", unit="integer", **of)
                is_over = self.ended is not None and node == "k1"
                state("kube_pod_status_phase", phase="Succeeded" if is_over else "Running", **of)
                if is_over:
                    state("kube_pod_completion_time", f"{self.ended:.0f}", **of)
                if node not in self.silent_nodes:
                    use = USES[pod][0] if self.wrong and pod in USES else 50
                    held = {} if is_over else {"namespace": of["namespace"], "pod": pod, "container": "main"}
                    gpu(100 + 10 * number + index, node, index, {**WELL, "util": use}, **held)
        # A server of forty requests a second, which answers within a second while all is well. Before it becomes slow it
        # has answered so many that what is usual is known.
        self.answered += 40
        if self.wrong and self.answered > 40 * USUAL_S:
            self.slow += 40
        for bound, count in (("0.5", 0), ("1", self.answered - self.slow), ("5", self.answered - self.slow),
                             ("60", self.answered), ("+Inf", self.answered)):
            one("vllm:e2e_request_latency_seconds_bucket", count, namespace="ml", pod="calm-0", container="main",
                model_name="llama", le=bound)
        # One pod runs out of memory again and again, and is started again.
        if self.wrong:
            self.killed_at = time.time()
        if self.killed_at is not None:
            of = {"namespace": "ml", "pod": "calm-0", "uid": "uid-calm-0", "container": "main"}
            state("kube_pod_container_status_last_terminated_reason", reason="OOMKilled", **of)
            state("kube_pod_container_status_last_terminated_timestamp", f"{self.killed_at:.0f}", **of)
        one("checkpoints_total", self.checkpoints, namespace="ml", pod="calm-0", container="main")
        return ("\n".join(sorted(lines)) + "\n").encode()

    def send(self):
        while True:
            time.sleep(1)
            if self.is_silent:
                continue
            body = self.exposition()
            if self.is_new:
                at = int((time.time() - 60) * 1000)
                told = [line + f" {at}\n" for line in body.decode().splitlines() if line.startswith("kube_")]
                self.is_new = not self.post("lab", "".join(told).encode())
            self.post("lab", body)
            if not self.is_far_silent:
                self.post("far", (f'DCGM_FI_DEV_GPU_UTIL{{cluster="far",gpu="0",UUID="{gpu_id(900)}",device="nvidia0",'
                                  'modelName="NVIDIA A100-SXM4-80GB",Hostname="f1"} 50\n').encode())

    def post(self, cluster, body):
        try:
            request = urllib.request.Request(
                f"http://{self.serve.address}/api/v1/import/prometheus?cluster={cluster}", body,
                {"Content-Type": "text/plain", "Authorization": f"Bearer {self.serve.machine_token()}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                taken = json.loads(answer.read())
            if taken.get("bad"):
                expect(False, f"lines are bad: {taken}")
            return True
        except OSError:
            return False
