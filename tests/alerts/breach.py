"""How long it takes from a breach in telemetry to a notification, with the default settings: at most a minute.

usage: breach.py PENNYWEIGHT ROOT
"""
import json
import time
import urllib.request

from steps import Serve, expect, finish, new_folder, receive, wait_for

LONGEST_S = 60
arrived = {}  # rule: when


def take(_path, _headers, body):
    body = json.loads(body)
    if body["status"] == "firing":
        arrived.setdefault(body["rule"], time.monotonic())


def exposition(heat, xid):
    now = int(time.time() * 1000)
    labels = ('gpu="0",UUID="GPU-00000000-0000-0000-0000-000000000000",device="nvidia0",'
              'modelName="NVIDIA A100-SXM4-80GB",Hostname="n1"')
    values = {"DCGM_FI_DEV_GPU_UTIL": 50, "DCGM_FI_DEV_GPU_TEMP": heat, "DCGM_FI_DEV_XID_ERRORS": xid}
    return "".join(f"# TYPE {name} gauge\n{name}{{{labels}}} {value} {now}\n" for name, value in values.items()).encode()


def main():
    folder = new_folder("breach")
    server = receive(take)
    (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: kubernetes}}]
alerts:
  allow_private: [127.0.0.1]
  receivers: [{{name: hook, url: "http://127.0.0.1:{server.server_address[1]}/"}}]
""")
    serve = Serve(folder).begin()
    token = serve.machine_token()

    def send(heat, xid):
        request = urllib.request.Request(f"http://{serve.address}/api/v1/import/prometheus?cluster=lab",
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
    serve.end()
    server.shutdown()
    finish("breach", folder)


if __name__ == "__main__":
    main()
