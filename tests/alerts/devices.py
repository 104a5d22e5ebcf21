"""Telemetry that is sent to `serve` becomes alerts: a hot GPU, a fatal XID, and a cluster that fell silent.

usage: devices.py PENNYWEIGHT ROOT
"""
import json
import time
import urllib.request

from steps import Serve, expect, finish, new_folder, receive, wait_for

received = []


def exposition():
    """Four minutes of two GPUs, which ended a while ago: one is hot and falls off the bus, one is well."""
    begin = (int(time.time()) // 60 - 7) * 60
    lines = []
    for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_XID_ERRORS"):
        lines.append(f"# TYPE {name} gauge")
        for gpu in (0, 1):
            labels = (f'gpu="{gpu}",UUID="GPU-0000000{gpu}-0000-0000-0000-000000000000",device="nvidia{gpu}",'
                      'modelName="NVIDIA A100-SXM4-80GB",Hostname="n1"')
            for step in range(24):
                value = {"DCGM_FI_DEV_GPU_UTIL": 50, "DCGM_FI_DEV_GPU_TEMP": 96 if gpu == 0 else 60,
                         "DCGM_FI_DEV_XID_ERRORS": 79 if gpu == 0 and step >= 12 else 0}[name]
                lines.append(f"{name}{{{labels}}} {value} {(begin + 10 * step) * 1000}")
    return ("\n".join(lines) + "\n").encode()


def main():
    folder = new_folder("devices")
    server = receive(lambda _path, _headers, body: received.append(json.loads(body)))
    (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: kubernetes}}]
serve: {{flush_every: 1s}}
alerts:
  every: 1s
  off: [costs_missing, cost_anomaly]
  thresholds: {{silent_for: 1m}}
  allow_private: [127.0.0.1]
  receivers: [{{name: hook, url: "http://127.0.0.1:{server.server_address[1]}/"}}]
""")
    serve = Serve(folder).begin()
    request = urllib.request.Request(f"http://{serve.address}/api/v1/import/prometheus?cluster=lab", exposition(),
                                     {"Content-Type": "text/plain", "Authorization": f"Bearer {serve.machine_token()}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        taken = answer.read().decode()
    wanted = {"gpu_hot": "96 °C", "gpu_xid": "XID 79 on 1 GPU", "telemetry_missing": "No telemetry of cluster lab"}
    wait_for(lambda: {body["rule"] for body in received} >= set(wanted), f"every alert arrives; {taken}")
    for body in received:
        expect(body["rule"] in wanted, f"{body['rule']} is not wanted: {body['summary']}")
        expect(wanted.get(body["rule"], "") in body["summary"], body["summary"])
        expect(body["severity"] == "critical" and "00000001-0000" not in body["summary"], body["summary"])
    expect(len(received) == len(wanted), f"each comes once: {[body['id'] for body in received]}")
    serve.end()
    server.shutdown()
    finish("devices", folder)


if __name__ == "__main__":
    main()
