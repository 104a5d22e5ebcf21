#!/usr/bin/env python3
"""docs/guide/live-prometheus-kubernetes.md, word by word: each block is tried, or said why not.

usage: guide_kube.py PENNYWEIGHT

The API is the stand-in of ../kube/kube_api.py, over TLS, which allows what the page's rbac.yaml
does and nothing else; Prometheus and vmagent are the real ones.
"""
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

import yaml

import guide

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "top"))
import top_common  # noqa: E402
import top_kube  # noqa: E402
import harness  # noqa: E402
from harness import Program, expect, folder, free_port, guarded, need, say, wait_until  # noqa: E402

SCRAPE = ("scrape_configs:\n  - {job_name: dcgm-exporter, honor_labels: true, "
          "scrape_interval: 5s, static_configs: [{targets: ['%s']}]}\n")


class Api:
    """The stand-in: two nodes and a namespace, a token, a certificate, and the page's rules."""

    def __init__(self, where, port, rules):
        objects = [top_kube.node("n1", 4), top_kube.thing("Namespace", "v1", "ml",
                                                          labels={"team-id": "vision"})]
        self.folder = tempfile.TemporaryDirectory(prefix="pennyweight-guide-")
        place = pathlib.Path(self.folder.name)
        (place / "all.json").write_text(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        (where / "rules").write_text(json.dumps(rules))
        script = pathlib.Path(top_kube.__file__).resolve().parent.parent / "kube" / "kube_api.py"
        self.process = subprocess.Popen(
            [sys.executable, script, self.folder.name, "--token", "secret", "--port", str(port),
             "--cert", where / "ca.crt", "--key", where / "ca.key", "--rules", where / "rules"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.url = f"https://127.0.0.1:{port}"
        self.trust = ssl.create_default_context(cafile=where / "ca.crt")

    def _ask(self, what, body=None):
        request = urllib.request.Request(f"{self.url}/control/{what}",
                                         data=body and json.dumps(body).encode())
        with urllib.request.urlopen(request, context=self.trust, timeout=20) as answer:
            return json.loads(answer.read())

    def put(self, one):
        self._ask("put", one)

    def stats(self):
        return self._ask("stats")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)
        self.folder.cleanup()


def certificate(where, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1,DNS:localhost",
                    "-keyout", where / f"{name}.key", "-out", where / f"{name}.crt"],
                   check=True, capture_output=True)


def sees_the_pod(reader, options=""):
    rows = json.loads(reader.types(f"pennyweight top --format json --limit 0 {options}"))[0]["rows"]
    return next((row for row in rows if row["workload"].endswith("train-7-x2x5q")), None)


def start_to_live(reader, where, api, cards, exporter):
    """Sections 5 to 7 with Prometheus."""
    unit = reader.file("pennyweight.service", "[Unit]")
    # It names a program and a folder that only the page's machine has.
    unit.write_text(unit.read_text().replace("/usr/local/bin/pennyweight", str(where / "bin" /
                                                                               "pennyweight")))
    if harness.shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
        expect(str(unit.name) not in done.stderr, f"the unit: {done.stderr}")
    reader.block("cd /var/lib/pennyweight && pennyweight serve")
    serve = Program("serve", [where / "bin" / "pennyweight", "serve"], where,
                    ready=f"http://127.0.0.1:{reader.port}/readyz").start()
    ready = reader.block("/readyz")
    expect(reader.types(ready.splitlines()[0].lstrip("$ ")).strip() == ready.splitlines()[1],
           "readyz says what the page says")
    page = where / "prometheus.yml"
    page.write_text(reader.block("remote_write:\n") + SCRAPE % exporter.target)
    prometheus = Program("prometheus", ["prometheus", f"--config.file={page}",
                                        f"--storage.tsdb.path={where / 'tsdb'}",
                                        f"--web.listen-address=127.0.0.1:{free_port()}"], where)
    prometheus.start(wait=False)
    url = f"http://127.0.0.1:{reader.port}/metrics"
    wait_until("samples come", lambda: harness.metric_sum(
        harness.metrics(url), "pennyweight_samples_total"), 60)
    begun = time.time()
    api.put(top_kube.pod("train-7-x2x5q", None, 2, "n1", "Running", {"user": "ana"}))
    for card in cards[:2]:
        card.pods = (("ml", "train-7-x2x5q"),)
    row, _ = top_common.seconds_until("the pod is in `top`", lambda: sees_the_pod(reader), begun)
    expect(row["cost_per_hour"] == "2.2" and row["gpus"] == "2", f"two cards at 1.10: {row}")
    expect(row["team"] == "vision", f"its namespace says whose it is: {row}")
    shown = reader.block("$ pennyweight top").splitlines()
    described = reader.types(shown[0].lstrip("$ "))
    for column in ("workload", "team", "user", "nodes", "device", "GPUs", "for", "an hour",
                   "of it idle", "today", "this month", "used"):
        expect(column in shown[2] and column in described, f"the column {column}: {described}")
    expect("unallocated" in described and "2.20" in described, described)
    for line in reader.block("top --watch").splitlines():
        command = line.split("  #")[0].strip()
        said = reader.watches(command) if "--watch" in command else reader.types(command)
        # The last two have other columns.
        expect("train-7" in said or ("--by" in command or "by=" in command) and "ana" in said
               or "vision" in said, f"{command} shows it: {said}")
    expect(api.stats().get("403", 0) == 0, f"rbac.yaml allows what is read: {api.stats()}")
    return serve, prometheus


def other_ways(reader, where, exporter, serve, prometheus):
    """Section 6 with vmagent, and with scrapes."""
    prometheus.stop()
    (where / "vmagent.yml").write_text("global:\n  external_labels: {cluster: prod}\n"
                                       + SCRAPE % exporter.target)
    command = reader.block("vmagent").strip()
    vmagent = Program("vmagent", ["bash", "-c", f"exec {command} -httpListenAddr=127.0.0.1:"
                                  f"{free_port()}"], where).start(wait=False)
    url = f"http://127.0.0.1:{reader.port}/metrics"
    before = harness.metric_sum(harness.metrics(url), "pennyweight_samples_total")
    wait_until("vmagent's samples come", lambda: harness.metric_sum(
        harness.metrics(url), "pennyweight_samples_total") > before, 60)
    vmagent.stop()
    expect(serve.stop() == 0, "it ends with 0")
    (where / "targets.yaml").write_text(f"- targets: ['{exporter.target}']\n")
    config = where / "pennyweight.yaml"
    config.write_text(config.read_text() + reader.block("targets_file"))
    serve.start()
    wait_until("scrapes come", lambda: harness.metric_sum(
        harness.metrics(url), "pennyweight_scrapes_total", 'outcome="up"'), 90)
    # A scrape that came is not yet one that a reckoning of the live costs has met.
    wait_until("the pod goes on", lambda: sees_the_pod(reader), 60)
    expect(serve.stop() == 0, "it ends with 0")


def for_others(reader, where, serve):
    """Section 8: tokens and TLS."""
    config = where / "pennyweight.yaml"
    document = yaml.safe_load(config.read_text())
    document["serve"].update(yaml.safe_load(reader.block("token_file"))["serve"])
    config.write_text(yaml.safe_dump(document))
    (where / "tokens").write_text("first-token-of-the-page-0123456789\n"
                                  "second-token-of-the-page-0123456789\n")
    (where / "token").write_text("second-token-of-the-page-0123456789\n")
    certificate(where, "tls")
    serve.start(wait=False)
    base = f"curl -s --cacert tls.crt https://localhost:{reader.port}"
    wait_until("it listens", lambda: subprocess.run(
        f"{base}/readyz", shell=True, cwd=where, capture_output=True).stdout == b"ready\n", 60)
    refused = reader.types(f"{base}/api/v1/top -o /dev/null -w '%{{http_code}}'")
    expect(refused == "401", f"without a token: {refused}")
    address = (f"--server https://localhost:{reader.port} --ca-file tls.crt "
               "--token-file token")
    wait_until("the pod with the second token", lambda: sees_the_pod(reader, address), 60)
    expect(serve.stop() == 0, "it ends with 0")


def main():
    binary = sys.argv[1]
    need(binary, "prometheus", "vmagent", "openssl")
    where = folder("guide-kube")
    port, api_port = free_port(), free_port()
    cards = [top_common.Card("n1", index, busy=0.5) for index in range(4)]
    exporter = top_common.exporter(cards)
    reader = guide.Reader("live-prometheus-kubernetes.md", where, binary, {
        "127.0.0.1:9595": f"127.0.0.1:{port}", "localhost:9595": f"localhost:{port}",
        "0.0.0.0:9595": f"0.0.0.0:{port}", "10.0.0.1:6443": f"127.0.0.1:{api_port}",
        '"10.0.0.11:9400", "10.0.0.12:9400"': f'"{exporter.target}"',
        "/var/lib/vmagent": str(where / "vmagent-data")})
    reader.port = port
    certificate(where, "ca")
    expect(reader.types(reader.block("install -m 755").splitlines()[-1]).startswith("pennyweight "),
           "--version")
    prices = reader.block("gpu_model,unit")
    (where / "prices.csv").write_text(prices)
    reader.file("pennyweight.yaml", "kubernetes:\n")
    rbac = list(yaml.safe_load_all(reader.block("kind: ClusterRole\n")))
    expect([one["kind"] for one in rbac]
           == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding"], "rbac.yaml")
    expect(rbac[2]["roleRef"]["name"] == rbac[1]["metadata"]["name"]
           and rbac[2]["subjects"][0]["name"] == rbac[0]["metadata"]["name"], "they fit together")
    reader.passed_over("kubectl apply", "the stand-in takes no objects; its token is `secret`")
    (where / "token").write_text("secret\n")
    api = Api(where, api_port, rbac[1]["rules"])
    reader.file("kubeconfig", "current-context")
    serve, prometheus = start_to_live(reader, where, api, cards, exporter)
    other_ways(reader, where, exporter, serve, prometheus)
    # The kubeconfig's token goes on being `secret`; the page's sender has one of its own.
    (where / "kubeconfig").write_text((where / "kubeconfig").read_text()
                                      .replace("tokenFile: token", "tokenFile: api-token"))
    (where / "api-token").write_text("secret\n")
    for_others(reader, where, serve)
    reader.passed_over("--metric-labels-allowlist", "of kube-state-metrics, see real/top_kube")
    for what in reader.finished():
        expect(False, what)
    api.close()
    say("the page was gone through")


if __name__ == "__main__":
    guarded(main, "guide_kube")
