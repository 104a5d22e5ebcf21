"""Runs `pennyweight serve` on an empty ledger, and reads its /metrics."""
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def families(program, place):
    """The names of its metric families, read with the token of its token file."""
    (place / "tokens").write_text("a-token-for-the-test-of-metrics\n", encoding="utf-8")
    (place / "pennyweight.yaml").write_text(
        "store: {path: ledger.duckdb}\n"
        f"serve: {{listen: '127.0.0.1:{free_port()}', token_file: tokens}}\n", encoding="utf-8")
    log = place / "log"
    with open(log, "wb") as out:
        running = subprocess.Popen([program, "serve"], cwd=place, stdout=out, stderr=out)
    try:
        port = None
        deadline = time.monotonic() + 60
        while port is None and time.monotonic() < deadline and running.poll() is None:
            match = re.search(r"127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8", errors="replace"))
            port = int(match[1]) if match and match[1] != "0" else None
            time.sleep(0.1)
        if port is None:
            raise RuntimeError("serve did not start: " + log.read_text(encoding="utf-8", errors="replace"))
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/metrics",
            headers={"Authorization": "Bearer a-token-for-the-test-of-metrics"})
        while True:
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    text = answer.read().decode()
                if "pennyweight_view_age_seconds" in text or time.monotonic() > deadline:
                    return set(re.findall(r"^# TYPE (\S+) ", text, re.M))
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.2)
    finally:
        running.terminate()
        running.wait(timeout=60)
