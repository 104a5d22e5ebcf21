#!/usr/bin/env python3
"""What `pennyweight serve` takes over HTTP, and what it refuses, with which status and why.

    test_api.py PENNYWEIGHT SQL_TOOL

No other program is needed: bodies are made here (remote_write.py).
"""
import gzip
import http.client
import json
import resource
import socket
import struct
import subprocess
import sys
import time

import harness
import ledger
import remote_write
from harness import expect, metric_sum, say

BODY_MAX = 64 << 10
RETRIED = (429, 503)


def serve(pennyweight, sql_tool, name, folder, **more):
    server = harness.Pennyweight(pennyweight, folder, sql_tool, name=name, own_clock=False, **more)
    return server.start(patience=60)


def ask(server, method, path, body=None, headers=None):
    """Status, headers in small letters, text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text
    finally:
        connection.close()


def refused(server, what, status, method, path, body=None, headers=None, says=""):
    """The request is refused with that status and a reason, as in RFC 9457."""
    got, head, text = ask(server, method, path, body, headers)
    expect(got == status, f"{what}: {got} instead of {status}: {text[:200]}")
    expect(head.get("content-type") == "application/problem+json", f"{what}: {head}")
    try:
        stated = json.loads(text)
        expect(stated["status"] == status and stated["title"] and says in stated["detail"],
               f"{what}: '{says}' is not in {stated}")
    except (ValueError, KeyError) as error:
        expect(False, f"{what}: {error!r} in {text[:200]}")
    if status in RETRIED:
        expect(int(head.get("retry-after", 0)) > 0, f"{what}: no Retry-After in {head}")
    return head


def gpu_labels(k, **more):
    return {"__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu": "0", "Hostname": f"node-{k}",
            "UUID": f"GPU-00000000-0000-0000-0000-{k:012d}", "modelName": "NVIDIA H100 80GB HBM3",
            "cluster": "api", **more}


def series_of(gpus, begin_ms, seconds=60, value=0.5):
    """A sample every ten seconds."""
    return [(gpu_labels(k), [(begin_ms + 10_000 * step, value) for step in range(seconds // 10)])
            for k in gpus]


def minutes_ago(minutes):
    return (int(time.time()) // 60 - minutes) * 60_000


def written(what, answer, samples):
    status, head, text = answer
    expect(status == 204, f"{what}: {status} {text[:200]}")
    stated = head.get("x-prometheus-remote-write-samples-written")
    expect(stated == str(samples), f"{what}: it says that {stated} samples were written, not {samples}")


def bodies(server, begin_ms):
    """Every protocol and encoding sends GPUs of its own; each then has the same in the ledger."""
    headers = remote_write.HEADERS
    plain = {name: value for name, value in headers.items() if name != "Content-Encoding"}
    ways = {
        "1.0, snappy": (remote_write.request, remote_write.snappy, headers),
        "1.0, zstd": (remote_write.request, remote_write.zstd,
                      {**headers, "Content-Encoding": "zstd"}),
        "1.0, gzip": (remote_write.request, gzip.compress,
                      {**headers, "Content-Encoding": "gzip"}),
        "1.0, plain": (remote_write.request, bytes, plain),
        "2.0, snappy": (remote_write.request_v2, remote_write.snappy, remote_write.HEADERS_V2),
        "2.0, zstd": (remote_write.request_v2, remote_write.zstd,
                      {**remote_write.HEADERS_V2, "Content-Encoding": "zstd"}),
    }
    for k, (name, (request, encode, its_headers)) in enumerate(ways.items()):
        body = encode(request(series_of([2 * k, 2 * k + 1], begin_ms)))
        written(name, ask(server, "POST", "/api/v1/write", body, its_headers), 12)
    # Chunked, without a length.
    body = remote_write.encode(series_of([20], begin_ms))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", "/api/v1/write", iter([body[:7], body[7:]]), headers,
                       encode_chunked=True)
    expect(connection.getresponse().status == 204, "a chunked body")
    connection.close()
    # An empty request is valid, and adds nothing.
    written("nothing", ask(server, "POST", "/api/v1/write", remote_write.encode([]), headers), 0)
    taken = server.of_samples("samples")
    expect(taken == 12 * len(ways) + 6, f"{taken} samples taken")
    # 1.0 again as 2.0: the same samples of the same series.
    body = remote_write.snappy(remote_write.request_v2(series_of([0, 1], begin_ms)))
    written("again", ask(server, "POST", "/api/v1/write", body, remote_write.HEADERS_V2), 12)
    expect(server.of_samples("duplicates") == 12, "what came again counts once")
    return [*range(2 * len(ways)), 20]


def pushed(server, begin_ms):
    """Pushed expositions, as text, OpenMetrics, and compressed."""
    path = "/api/v1/import/prometheus?cluster=pushed"

    def text(k, seconds=1):
        labels = ",".join(f'{name}="{value}"' for name, value in gpu_labels(k).items()
                          if name not in ("__name__", "cluster"))
        lines = [f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} 50 {(begin_ms + 10_000 * step) // seconds}"
                 for step in range(6)]
        return "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n" + "\n".join(lines) + "\n"

    kind = {"Content-Type": "text/plain; version=0.0.4"}
    open_metrics = {"Content-Type": "application/openmetrics-text; version=1.0.0"}
    ways = ((30, "text", text(30).encode(), kind),
            (31, "OpenMetrics", (text(31, 1000) + "# EOF\n").encode(), open_metrics),
            (32, "gzip", gzip.compress(text(32).encode()), {**kind, "Content-Encoding": "gzip"}),
            (33, "zstd", remote_write.zstd(text(33).encode()),
             {**kind, "Content-Encoding": "zstd"}))
    for _, name, body, headers in ways:
        status, _, answer = ask(server, "POST", path, body, headers)
        stated = json.loads(answer) if status == 200 else {}
        expect(stated == {"samples": 6, "bad": 0, "first_bad": []}, f"{name}: {status} {answer}")
    # A bad line is reported with its number, and the others are taken.
    body = (text(34) + 'DCGM_FI_DEV_GPU_UTIL{gpu="0" 5\n').encode()
    status, _, answer = ask(server, "POST", path, body, kind)
    stated = json.loads(answer) if status == 200 else {}
    expect(stated.get("samples") == 6 and stated.get("bad") == 1
           and stated["first_bad"][0].startswith("line 8:"), f"a bad line: {status} {answer}")
    refused(server, "an exposition of no kind", 415, "POST", path, b"{}",
            {"Content-Type": "application/json"})
    return [k for k, *_ in ways] + [34]


def refusals(server, begin_ms):
    headers = remote_write.HEADERS
    write = "/api/v1/write"
    body = remote_write.encode(series_of([90], begin_ms))
    before = server.samples_taken()
    refused(server, "no snappy", 400, "POST", write, b"no snappy at all", headers, "snappy")
    refused(server, "no body", 400, "POST", write, b"", headers)
    refused(server, "cut off", 400, "POST", write, body[:-5], headers, "snappy")
    refused(server, "no protobuf", 400, "POST", write, remote_write.snappy(b"\x0a\xff\xff"),
            headers, "byte")
    refused(server, "no gzip", 400, "POST", write, b"no gzip at all",
            {**headers, "Content-Encoding": "gzip"})
    refused(server, "no zstd", 400, "POST", write, b"no zstd at all",
            {**headers, "Content-Encoding": "zstd"}, "zstd")
    refused(server, "2.0 that refers to no symbol", 400, "POST", write,
            remote_write.snappy(b"\x22\x00\x2a\x04\x0a\x02\x05\x06"), remote_write.HEADERS_V2)
    refused(server, "JSON", 415, "POST", write, body, {**headers, "Content-Type":
                                                       "application/json"})
    refused(server, "another message", 415, "POST", write, body,
            {**headers, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v9"})
    refused(server, "another encoding", 415, "POST", write, body,
            {**headers, "Content-Encoding": "lz4"})
    # Larger than the limit as it comes, or once it is decompressed.
    zeros = b"\0" * (4 * BODY_MAX)
    refused(server, "a large body", 413, "POST", write, zeros, headers)
    refused(server, "a snappy bomb", 413, "POST", write, b"\x80\x80\x80\x80\x04" + b"\0" * 64,
            headers)
    refused(server, "a gzip bomb", 413, "POST", write, gzip.compress(zeros),
            {**headers, "Content-Encoding": "gzip"})
    refused(server, "a zstd bomb", 413, "POST", write,
            struct.pack("<IBI", 0xFD2FB528, 0xA0, 1 << 30) + b"\x03\0\0\0",
            {**headers, "Content-Encoding": "zstd"})
    expect(server.samples_taken() == before, "nothing of what was refused was taken")

    refused(server, "no such path", 404, "GET", "/api/v2/write")
    refused(server, "a GET of what is written to", 405, "GET", write, says="POST")
    for query, says in (("sort=beauty", "cost"), ("limit=-1", "10000"), ("limit=many", "10000"),
                        ("format=xml", "csv"), ("mood=red", "mood"), ("filter=nlp", "team")):
        refused(server, query, 422, "GET", "/api/v1/top?" + query, says=says)
    for kind, starts in (("json", "application/json"), ("csv", "text/csv"), ("text", "text/plain")):
        status, head, text = ask(server, "GET", f"/api/v1/top?format={kind}&limit=5")
        expect(status == 200 and head["content-type"].startswith(starts) and text,
               f"top as {kind}: {status} {head}")

    # A client that leaves in the middle of a body, or sends nothing, is disconnected.
    for piece in (b"POST /api/v1/write HTTP/1.1\r\nContent-Length: 100\r\n\r\nten bytes.",
                  b"GET /healthz HT", b"\x16\x03\x01\x02\x00"):
        with socket.create_connection(("127.0.0.1", server.port)) as half:
            half.sendall(piece)
    status, _, text = ask(server, "GET", "/healthz")
    expect(status == 200, f"it lives: {status} {text}")
    own = server.own()
    expect(metric_sum(own, "pennyweight_http_requests_total", 'path="/api/v1/write",status="415"')
           == 3, "refusals are counted by path and status")
    expect(server.samples_taken() == before, "nothing of what was refused was taken")


def labels(server, begin_ms):
    """A series whose labels break a limit is dropped and counted; its neighbours are taken."""
    count = {f"label_{k}": "x" for k in range(60)}
    broken = [gpu_labels(40, **count), gpu_labels(41, pod="x" * 4097),
              gpu_labels(42, **{"n" * 1025: "x"}), {"__name__": "", "UUID": "GPU-1"}]
    unusable = server.of_samples("unusable")
    samples = server.of_samples("samples")
    at = [(begin_ms, 0.5)]
    body = remote_write.encode([(broken[0], at), (gpu_labels(43), at), (broken[1], at),
                                (broken[2], at), (gpu_labels(44), at)])
    written("labels over their limits", ask(server, "POST", "/api/v1/write", body,
                                            remote_write.HEADERS), 5)
    own = server.own()
    expect(server.of_samples("unusable") == unusable + 3, "three series can't be used")
    expect(server.of_samples("samples") == samples + 2, "their neighbours are taken")
    expect(metric_sum(own, "pennyweight_unusable_samples_total", "limit or the encoding") == 3,
           "it is said why")


def series_limit(pennyweight, sql_tool, folder):
    server = serve(pennyweight, sql_tool, "few-series", folder, serve={"limits": "{series: 10}"})
    begin_ms = minutes_ago(30)
    for round_ in range(3):
        body = remote_write.encode(series_of(range(25), begin_ms + 60_000 * round_))
        written("25 series", ask(server, "POST", "/api/v1/write", body, remote_write.HEADERS), 150)
        expect(server.of_samples("samples") == 60 * (round_ + 1), "ten series go on")
        expect(server.of_samples("series_over_limit") == 90 * (round_ + 1),
               "what is over the limit is counted")
    expect(metric_sum(server.own(), "pennyweight_series") == 10, "ten are known")
    expect(server.stop() == 0, "it ended well")
    say("the limit of series holds")


def token(pennyweight, sql_tool, folder):
    secrets = folder / "tokens"
    secrets.write_text("first-secret\n\nsecond-secret\n")
    secrets.chmod(0o600)
    server = serve(pennyweight, sql_tool, "token", folder, serve={"token_file": secrets})
    body = remote_write.encode(series_of([0], minutes_ago(30)))
    for bearer in (None, "Bearer ", "Bearer first-secre", "Bearer first-secret2", "Basic Zmlyc3Q=",
                   "first-secret"):
        headers = {**remote_write.HEADERS, **({"Authorization": bearer} if bearer else {})}
        head = refused(server, f"Authorization: {bearer}", 401, "POST", "/api/v1/write", body,
                       headers, "token_file")
        expect(head.get("www-authenticate") == "Bearer", f"what to send is said: {head}")
    for path in ("/metrics", "/api/v1/top"):
        refused(server, path, 401, "GET", path)
    for path in ("/healthz", "/readyz"):
        expect(ask(server, "GET", path)[0] == 200, f"{path} is open")
    for secret in ("first-secret", "second-secret"):
        headers = {**remote_write.HEADERS, "Authorization": f"Bearer {secret}"}
        written(secret, ask(server, "POST", "/api/v1/write", body, headers), 6)
    status, _, text = ask(server, "GET", "/metrics", headers={"Authorization":
                                                              "Bearer second-secret"})
    expect(status == 200 and "first-secret" not in text, f"metrics with a token: {status}")
    expect(server.stop() == 0, "it ended well")
    expect("secret" not in server.log.read_text(), "no secret is in the log")
    say("tokens are asked for")


def back_pressure(pennyweight, sql_tool, folder):
    """A journal that is full, and one that can't be written; afterwards everything goes on."""
    server = serve(pennyweight, sql_tool, "small-journal", folder, flush_ms=600_000,
                   serve={"limits": "{journal: 64KiB}"})
    begin_ms, sent, answer = minutes_ago(30), 0, None
    while sent < 1000:
        body = remote_write.encode(series_of(range(10), begin_ms + 1000 * sent, 10))
        answer = ask(server, "POST", "/api/v1/write", body, remote_write.HEADERS)
        if answer[0] != 204:
            break
        sent += 1
    expect(sent > 5, f"{sent} bodies had room")
    refused(server, "a full journal", 503, "POST", "/api/v1/write", body, remote_write.HEADERS,
            "bytes")
    expect(server.of_samples("samples") == 10 * sent, "what was refused is not counted")
    expect(server.stop() == 0, "it ended well")

    server = serve(pennyweight, sql_tool, "no-room", folder)
    write = (server, "POST", "/api/v1/write")
    written("before", ask(*write, remote_write.encode(series_of([0], begin_ms)),
                          remote_write.HEADERS), 6)
    unlimited = resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    later = remote_write.encode(series_of([0], begin_ms + 60_000))
    refused(server, "a disk that is full", 503, "POST", "/api/v1/write", later,
            remote_write.HEADERS)
    harness.wait_until("/readyz says so", lambda: ask(server, "GET", "/readyz")[0] == 503)
    expect(ask(server, "GET", "/healthz")[0] == 200, "it lives")
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, unlimited)
    harness.wait_until("there is room again", lambda: ask(server, "GET", "/readyz")[0] == 200)
    written("after", ask(*write, later, remote_write.HEADERS), 6)
    # A request without success may have been counted all the same; it counts once.
    expect(server.of_samples("samples") == 12, "each sample counts once")
    server.kill()
    server.start()
    again = remote_write.encode(series_of([0], begin_ms, 120))
    written("again", ask(*write, again, remote_write.HEADERS), 12)
    expect(server.of_samples("duplicates") >= 12, "after a kill all of it is known")
    expect(server.stop() == 0, "it ended well")
    say("a full journal and a full disk are reported, and pass")


def one_of_each(server, folder):
    """Neither its address nor its folder nor its ledger is shared with another process."""
    def other(name, port, data, path=None):
        config = folder / f"{name}.yaml"
        config.write_text(f"store: {{path: {path or folder / name}.duckdb}}\n"
                          f"serve: {{listen: 127.0.0.1:{port}, data: {data}}}\n")
        return subprocess.run([server.binary, "--config", config, "serve"], capture_output=True,
                              text=True, timeout=60)

    done = other("same-port", server.port, folder / "same-port-data")
    expect(done.returncode != 0 and "cannot listen on" in done.stderr,
           f"a port that is taken: {done.returncode} {done.stderr}")
    done = other("same-folder", harness.free_port(), server.data)
    expect(done.returncode != 0 and str(server.data) in done.stderr,
           f"a folder that is taken: {done.returncode} {done.stderr}")
    # What both receive would count twice.
    done = other("same-ledger", harness.free_port(), folder / "same-ledger-data",
                 server.ledger.with_suffix(""))
    expect(done.returncode == 1 and f"another serve writes into the ledger {server.ledger}"
           in done.stderr, f"a ledger that is taken: {done.returncode} {done.stderr}")


def main():
    pennyweight, sql_tool = sys.argv[1:3]
    harness.need(pennyweight)
    folder = harness.folder("api")
    server = serve(pennyweight, sql_tool, "plain", folder, serve={"limits": f"{{body: {BODY_MAX}}}"})
    begin_ms = minutes_ago(30)
    sent = bodies(server, begin_ms)
    sent_text = pushed(server, begin_ms)
    say("bodies of every kind were taken")
    refusals(server, begin_ms)
    labels(server, begin_ms)
    one_of_each(server, folder)
    say("what is no body was refused")
    # A later sample finishes what came before it.
    body = remote_write.encode(series_of(sent, begin_ms + 600_000, 10))
    expect(ask(server, "POST", "/api/v1/write", body, remote_write.HEADERS)[0] == 204, "the end")
    expect(server.stop() == 0, "it ended well")
    rows = ledger.usages(sql_tool, server.ledger)
    means = ledger.sums(rows, "engine_active_ppm", 3_600_000)
    for k in sent:
        gpu = gpu_labels(k)["UUID"]
        buckets = means.get((gpu, "", ""), {})
        total, known = (sum(part) for part in zip(*buckets.values())) if buckets else (0, 0)
        expect(known >= 60_000 and total == known * 500_000,
               f"GPU {k}: half of {known} ms was used, {total}")
    stated = {(row["cluster"], row["gpu"]) for row in rows if row["gpu_util_ppm"] is not None}
    expect(stated <= {("pushed", gpu_labels(k)["UUID"]) for k in sent_text},
           f"what was pushed is of the cluster that was named: {stated}")
    series_limit(pennyweight, sql_tool, folder)
    token(pennyweight, sql_tool, folder)
    back_pressure(pennyweight, sql_tool, folder)


if __name__ == "__main__":
    harness.guarded(main, "cli/serve_api")
