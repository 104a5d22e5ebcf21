"""Telemetry that is sent to `serve` becomes alerts: a hot GPU, a fatal XID, and a cluster that fell silent.

usage: devices.py PENNYWEIGHT ROOT
"""
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from steps import BINARY, expect, failures, wait_for

received = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


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
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-devices-"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
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
    log = open(folder / "serve.log", "ab")
    process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log,
                               stderr=subprocess.STDOUT)
    said = wait_for(lambda: re.search(r"serving.*?(127\.0\.0\.1:\d+)", (folder / "serve.log").read_text()),
                    "serve begins")
    token = (folder / "pennyweight.duckdb.live" / "machine-token").read_text().strip()
    request = urllib.request.Request(f"http://{said[1]}/api/v1/import/prometheus?cluster=lab", exposition(),
                                     {"Content-Type": "text/plain", "Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        taken = answer.read().decode()
    wanted = {"gpu_hot": "96 °C", "gpu_xid": "XID 79 on 1 GPU", "telemetry_missing": "No telemetry of cluster lab"}
    wait_for(lambda: {body["rule"] for body in received} >= set(wanted), f"every alert arrives; {taken}")
    for body in received:
        expect(body["rule"] in wanted, f"{body['rule']} is not wanted: {body['summary']}")
        expect(wanted.get(body["rule"], "") in body["summary"], body["summary"])
        expect(body["severity"] == "critical" and "00000001-0000" not in body["summary"], body["summary"])
    expect(len(received) == len(wanted), f"each comes once: {[body['id'] for body in received]}")
    process.terminate()
    expect(process.wait(timeout=60) == 0, "serve ends in order")
    server.shutdown()
    if failures:
        print((folder / "serve.log").read_text()[-3000:])
    else:
        shutil.rmtree(folder)
    print("devices:", "ok" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
