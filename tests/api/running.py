"""Live data for tests: two pods of two teams on a node with two GPUs, as in kube-state-metrics, pushed
to the server by a client with the permission."""
import threading
import time

MODEL = "NVIDIA-A100-SXM4-80GB"
EVERY_S = 5
PODS = {"llm-0": ("nlp", "ana"), "detect-0": ("vision", "bo")}


def exposition(begun):
    lines = []

    def one(name, value=1, **labels):
        text = ",".join(f'{key}="{label}"' for key, label in
                        {"cluster": "now", "job": "kube-state-metrics", **labels}.items())
        lines.append(f"{name}{{{text}}} {value}")

    one("kube_node_info", node="k1")
    one("kube_node_created", f"{begun - 3600:.0f}", node="k1")
    one("kube_node_labels", node="k1", label_nvidia_com_gpu_product=MODEL,
        label_nvidia_com_gpu_count="2")
    one("kube_node_status_capacity", 2, node="k1", resource="nvidia_com_gpu", unit="integer")
    one("kube_node_status_condition", node="k1", condition="Ready", status="true")
    for name, (team, user) in PODS.items():
        of = {"namespace": "ml", "pod": name, "uid": "uid-" + name}
        one("kube_pod_info", node="k1", **of)
        one("kube_pod_status_scheduled_time", f"{begun:.0f}", **of)
        one("kube_pod_start_time", f"{begun:.0f}", **of)
        one("kube_pod_labels", label_team=team, label_user=user, **of)
        one("kube_pod_container_info", container="main", image_spec="vllm:1", **of)
        one("kube_pod_container_resource_requests", 1, container="main", node="k1",
            resource="nvidia_com_gpu", unit="integer", **of)
        for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown"):
            one("kube_pod_status_phase", int(phase == "Running"), phase=phase, **of)
    return ("\n".join(sorted(lines)) + "\n").encode()


class Running:
    """Pushes until it is stopped."""

    def __init__(self, server):
        self.asker = server.add_token(server.sign_in_admin(), only=["send_telemetry"])
        self.admin = server.sign_in_admin()
        self.refused = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.push, args=(time.time() - 60,), daemon=True)
        self.thread.start()

    def push(self, begun):
        while not self.ending.is_set():
            answer = self.asker.post("/api/v1/import/prometheus", exposition(begun),
                                     headers={"Content-Type": "text/plain"})
            if answer.status != 200 or answer.json()["bad"]:
                self.refused.append(str(answer))
            self.ending.wait(EVERY_S)

    def wait(self):
        """Until both pods are seen."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            answer = self.admin.get("/api/v1/live", {"by": "team"})
            text = answer.body.decode()
            if answer.status == 200 and all(f"ml/{pod}" in text for pod in PODS):
                return
            time.sleep(1)
        raise RuntimeError(f"the pods are not seen: {text[:2000]} {self.refused[:2]}")

    def end(self):
        self.ending.set()
        self.thread.join()
