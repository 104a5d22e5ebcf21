"""How long it takes from a breach in telemetry to a notification, with the default settings: at most a minute.

usage: breach.py PENNYWEIGHT ROOT
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

LONGEST_S = 60
arrived = {}  # rule: when


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["status"] == "firing":
            arrived.setdefault(body["rule"], time.monotonic())
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def exposition(heat, xid):
    now = int(time.time() * 1000)
    labels = ('gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",'
              'modelName="NVIDIA A100-SXM4-80GB",Hostname="n1"')
    values = {"DCGM_FI_DEV_GPU_UTIL": 50, "DCGM_FI_DEV_GPU_TEMP": heat, "DCGM_FI_DEV_XID_ERRORS": xid}
    return "".join(f"# TYPE {name} gauge\n{name}{{{labels}}} {value} {now}\n" for name, value in values.items()).encode()


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-breach-"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: kubernetes}}]
alerts:
  allow_private: [127.0.0.1]
  receivers: [{{name: hook, url: "http://127.0.0.1:{server.server_address[1]}/"}}]
""")
    log = open(folder / "serve.log", "ab")
    process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=folder, stdout=log,
                               stderr=subprocess.STDOUT)
    said = wait_for(lambda: re.search(r"serving.*?(127\.0\.0\.1:\d+)", (folder / "serve.log").read_text()),
                    "serve begins")
    token = (folder / "pennyweight.duckdb.live" / "machine-token").read_text().strip()

    def send(heat, xid):
        request = urllib.request.Request(f"http://{said[1]}/api/v1/import/prometheus?cluster=lab",
                                         exposition(heat, xid),
                                         {"Content-Type": "text/plain", "Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()

    # A GPU that is well, then hot in the middle of a minute, and then off the bus.
    for _ in range(3):
        send(60, 0)
        time.sleep(4)
    expect(not arrived, f"a GPU that is well raises no alert: {arrived}")
    for rule, heat, xid in (("gpu_hot", 96, 0), ("gpu_xid", 96, 79)):
        begin = time.monotonic()
        send(heat, xid)
        wait_for(lambda rule=rule: rule in arrived, f"{rule} arrives")
        took = arrived.get(rule, time.monotonic()) - begin
        print(f"breach: {rule} after {took:.1f} s")
        expect(took <= LONGEST_S, f"{rule} took {took:.1f} s")
    process.terminate()
    expect(process.wait(timeout=60) == 0, "serve ends in order")
    server.shutdown()
    if failures:
        print((folder / "serve.log").read_text()[-3000:])
    else:
        shutil.rmtree(folder)
    print("breach:", "ok" if not failures else f"{len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
