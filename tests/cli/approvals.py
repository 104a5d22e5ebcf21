"""Approvals with the real program, from a refusal to a running job: the request of admission and of CI, the
decision of another person, the token in the annotation, and what is refused: tampered, expired, replayed,
self-approved, changed, denied."""
import copy
import http.client
import http.server
import json
import re
import signal
import subprocess
import threading
import time

from harness import BINARY, expect, expect_run, folder, report

PATIENCE_S = 60
cwd = folder()
PRICES = """provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,box,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
"""
CONFIG = """store: {path: ledger.duckdb}
prices: {override: prices.csv}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
budgets: [{name: nlp, filter: team=nlp, amount: 100 USD, owner: ana}, {name: cv, filter: team=cv, amount: 100 USD}]
guardrails:
  pricing: {provider: own, gpu_models: {default: H100-SXM5-80GB}}
  admission: {listen: 127.0.0.1:0}
  approvals: {valid_for: 48h APPROVALS}
  rules:
  - {name: big, effect: require_approval, when: {gpus_above: 8}, reason: half the cluster}
  - {name: never, when: {gpus_above: 64}, reason: more than there is}
"""


def configure(more="", rule=""):
    (cwd / "pennyweight.yaml").write_text(CONFIG.replace("APPROVALS", more) + rule)


class Serve:
    def __init__(self):
        self.log = cwd / f"serve-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([BINARY, "--config", "pennyweight.yaml", "serve"], cwd=cwd,
                                            stderr=out, stdout=out)
        self.port = None
        end = time.monotonic() + PATIENCE_S
        ready = False
        while not ready:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("serve does not start:\n" + self.log.read_text())
            for line in self.log.read_text().splitlines():
                event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
                if event.get("event") == "admission":
                    self.port = int(event["address"].rsplit(":", 1)[1])
                if event.get("event") == "serving":
                    self.http_port = int(event["address"].rsplit(":", 1)[1])
                    ready = True
            time.sleep(0.05)

    def browse(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=PATIENCE_S)
        connection.request(method, path, None if body is None else body.encode("latin-1"),
                           {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(PATIENCE_S) == 0, "serve ends with 0")

    def validate(self, made, **more):
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u-1", "kind": {"group": "", "version": "v1", "kind": made["kind"]},
            "operation": "CREATE", "namespace": "ml", "name": made["metadata"].get("name", ""),
            "userInfo": {"username": "ana"}, "object": made, "oldObject": None, "dryRun": False, **more}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("POST", "/validate", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        expect(answer.status == 200, f"{answer.status} {text[:200]}")
        return json.loads(text)["response"]


def job(gpus=16, name="train", token=None, **metadata):
    made = {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "ml", "labels": {"team": "nlp"}, **metadata},
            "spec": {"activeDeadlineSeconds": 3600, "parallelism": gpus // 8, "template": {"metadata": {"labels": {"team": "nlp"}}, "spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "resources": {
                    "limits": {"nvidia.com/gpu": "8", "cpu": "10", "memory": "100Gi"}}}]}}}}
    if token:
        made["metadata"]["annotations"] = {"pennyweight.io/approval": token}
    return made


def message(answer):
    return answer.get("status", {}).get("message", "")


def pennyweight(*arguments, code=0, has=()):
    return expect_run(["--config", "pennyweight.yaml", *arguments], cwd, code, has)


def asked_id(text):
    found = re.search(r"ap-[0-9a-f]{16}", text)
    expect(found is not None, f"no request in {text}")
    return found.group(0) if found else ""


def listed(state):
    out, _ = pennyweight("approvals", "list", "--state", state, "--format", "json")
    return {row["id"]: row for row in json.loads(out)[0]["rows"]}


def check_at_admission():
    serve = Serve()
    dry = serve.validate(job(), dryRun=True)
    expect(not dry["allowed"] and not listed("all"), f"a dry run files nothing: {dry} {listed('all')}")
    refused = serve.validate(job())
    expect(not refused["allowed"] and "16 GPUs are more than 8" in message(refused), f"{refused}")
    approval = asked_id(message(refused))
    expect(asked_id(message(serve.validate(job()))) == approval, "the same request is filed once")
    row = listed("pending")[approval]
    # By hand: two boxes' GPUs of 32 an hour, and 20 CPUs of 100 and 200 GiB of 1000, of 4 an hour each.
    expect(row["by"] == "kubernetes:ana" and row["cost"] == "65.6 USD a run", f"{row}")
    out, _ = pennyweight("approvals", "approve", approval, "--note", "in the plan")
    token = out.strip()
    expect(re.fullmatch(approval + r"\.[0-9a-f]{64}", token) is not None, f"no token: {out}")
    # Whoever has the token gets what was asked for, and nothing else.
    cases = [("tampered", job(token=token[:-1] + ("0" if token[-1] != "0" else "1")), "not the right one"),
             ("of nothing", job(token="ap-0000000000000000." + "0" * 64), "no approval that is known"),
             ("more GPUs", job(24, token=token), "was changed"),
             ("fewer GPUs", job(16, token=token, labels={"team": "cv"}), "was changed"),
             ("another name", job(name="other", token=token), "was changed"),
             ("denied", job(72, token=token), "more than there is")]
    for what, made, says in cases:
        answer = serve.validate(made)
        expect(not answer["allowed"] and says in message(answer), f"{what}: {answer}")
    expect(serve.validate(job(token=token), dryRun=True)["allowed"], "a dry run")
    generated = job(token=token)
    generated["spec"]["template"]["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] = "8f14"
    admitted = serve.validate(generated)
    expect(admitted["allowed"] and admitted["auditAnnotations"]["approval"] == approval, f"{admitted}")
    replayed = serve.validate(job(token=token))
    expect(not replayed["allowed"] and "was used at" in message(replayed), f"{replayed}")
    expect(approval in listed("used"), f"{listed('all')}")
    # A generated name is another one each time; the approval is for what was written.
    made = job()
    made["metadata"].update(name="train-x7k2p", generateName="train-")
    first = asked_id(message(serve.validate(made)))
    token = pennyweight("approvals", "approve", first, "--until-end")[0].strip()
    for name in ("train-a", "train-b"):
        again = copy.deepcopy(made)
        again["metadata"].update(name=name, annotations={"pennyweight.io/approval": token})
        expect(serve.validate(again)["allowed"], f"{name} until the end")
    pennyweight("approvals", "refuse", first, "--note", "no longer")
    expect(not serve.validate(again)["allowed"], "after it was taken back")
    serve.stop()


def check_denied_later():
    """A rule that denies, and one that wants an approval of its own, added after an approval was given."""
    serve = Serve()
    approval = asked_id(message(serve.validate(job(name="later"))))
    token = pennyweight("approvals", "approve", approval)[0].strip()
    (cwd / "later.json").write_text(json.dumps(job(name="later", token=token)))
    serve.stop()
    for rule, says in [("  - {name: frozen, when: {gpus_above: 15}, reason: the cluster is full}\n", "the cluster is full"),
                       ("  - {name: jobs, effect: require_approval, when: {kind: Job}, reason: each by name}\n",
                        f"{approval} does not cover rule 'jobs'")]:
        configure(rule=rule)
        serve = Serve()
        for dry in (True, False):
            answer = serve.validate(job(name="later", token=token), dryRun=dry)
            expect(not answer["allowed"] and says in message(answer), f"a rule that came later: {answer}")
        serve.stop()
        for more in ([], ["--use-approvals"]):
            pennyweight("guard", "check", "later.json", *more, code=1, has=[says])
        expect(listed("approved")[approval], f"it is not used up: {listed('all')}")
    configure()
    serve = Serve()
    answer = serve.validate(job(name="later", token=token))
    expect(answer["allowed"] and answer["auditAnnotations"]["approval"] == approval, f"as it was approved: {answer}")
    serve.stop()


def check_in_ci():
    (cwd / "train.json").write_text(json.dumps(job()))
    pennyweight("guard", "check", "train.json", code=1, has=["needs_approval"])
    out, _ = pennyweight("guard", "check", "train.json", "--request", "the yearly run", code=1,
                         has=["asks for it and is pending"])
    approval = asked_id(out)
    pennyweight("approvals", "approve", approval, code=1, has=["nobody approves their own request"])
    pennyweight("approvals", "refuse", approval, code=1, has=["needs a note"])
    pennyweight("approvals", "show", "ap-0", code=1, has=["there is no approval 'ap-0'"])
    pennyweight("approvals", "refuse", approval, "--note", "too dear", has=["is refused"])
    pennyweight("approvals", "approve", approval, code=1, has=["there is nothing to decide"])
    # Asked for by somebody else, in the same book.
    lines = (cwd / "ledger.duckdb.live" / "approvals.jsonl").read_text()
    out, _ = pennyweight("guard", "check", "train.json", "--request", "again", code=1)
    again = asked_id(out)
    expect(again != approval, "a refused one is asked for anew")
    book = cwd / "ledger.duckdb.live" / "approvals.jsonl"
    text = book.read_text()
    mine = re.search(r'"by": "(cli:[^"]+)"', text[len(lines):]).group(1)
    book.write_text(lines + text[len(lines):].replace(mine, "cli:somebody-else"))
    token = pennyweight("approvals", "approve", again)[0].strip()
    pennyweight("guard", "check", "train.json", "--approval", token, has=["approved", "lifts it"])
    pennyweight("guard", "check", "train.json", "--approval", token + "0", code=1, has=["not the right one"])
    (cwd / "carried.json").write_text(json.dumps(job(token=token)))
    pennyweight("guard", "check", "carried.json", has=["lifts it"])
    pennyweight("guard", "check", "carried.json", "--use-approvals", has=["lifts it"])
    pennyweight("guard", "check", "carried.json", "--use-approvals", code=1, has=["was used at"])
    # A book that was edited after the decision gives nobody more.
    text = book.read_text()
    token = pennyweight("approvals", "show", again, "--format", "json")[0]
    expect('"token"' not in token, f"a used one has no token: {token}")
    shown = (cwd / "ledger.duckdb.audit").read_text()
    for action in ("approval.request", "approval.approve", "approval.refuse", "approval.use"):
        expect(action in shown, f"{action} is not in the audit log")


class Hooks:
    """A receiver of webhooks, which keeps their bodies."""

    def __init__(self):
        self.bodies = bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, wanted, what):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = [body for body in list(self.bodies) if wanted(body)]
            if found:
                return found[0]
            time.sleep(0.1)
        raise RuntimeError(f"{what}: {self.bodies}")


def check_links():
    """Approvers are notified, one after the other, each with a link that decides once in their name."""
    hooks = {name: Hooks() for name in ("bo", "cleo", "all")}
    receivers = "".join(f"  - {{name: {name}, kind: webhook, url: 'http://127.0.0.1:{one.port}'" +
                        ("}\n" if name == "all" else f", owners: [{name}], approval_links: true}}\n")
                        for name, one in hooks.items())
    alerts = "alerts:\n  every: 1s\n  allow_private: [127.0.0.1]\n  off: [costs_missing]\n  receivers:\n" + receivers
    terms = (", link_address: 'http://127.0.0.1:1/', escalate_after: 60s, approvers: [{who: ana, up_to: 90 USD}, {who: bo,"
             " up_to: 90 USD}, {who: cleo}]")
    configure(terms, alerts)
    (cwd / "password").write_text("correct horse battery staple 7\n")
    for name in ("bo", "cleo"):
        pennyweight("user", "add", name, "--role", "finance", "--password-file", "password")
    serve = Serve()
    approval = asked_id(message(serve.validate(job(name="linked"))))
    told = hooks["bo"].wait_for(lambda body: body["subject"] == approval, "bo is asked")
    expect(told["rule"] == "approval_pending" and told["owner"] == "bo" and "65.60 USD a run" in told["summary"], f"{told}")
    link = re.search(r"to decide, open http://127.0.0.1:1(/approve/\S+)$", told["summary"]).group(1)
    open_to_all = hooks["all"].wait_for(lambda body: body["subject"] == approval, "all hear of it")
    expect("/approve/" not in open_to_all["summary"], f"others get no link: {open_to_all}")
    for place in (serve.log, cwd / "ledger.duckdb.audit", *(cwd / "ledger.duckdb.live").iterdir()):
        expect(not place.is_file() or link.encode() not in place.read_bytes(), f"the link lies in {place}")
    # A program that scans mail opens it as often as it likes.
    for method in ("GET", "HEAD", "GET"):
        status, page, headers = serve.browse(method, link)
        expect(status == 200 and (method == "HEAD" or "Job ml/linked" in page and "<form" in page), f"{method}: {status} {page}")
        expect(headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
               and "default-src 'none'" in headers["Content-Security-Policy"], f"{headers}")
    for what, path, body, wanted in [
            ("tampered", link[:-1] + ("0" if link[-1] != "0" else "1"), "decision=approve", 404),
            ("of nothing", "/approve/ap-0000000000000000.Ym8.1." + "0" * 64, "decision=approve", 404),
            ("no decision", link, "note=x", 422), ("two decisions", link, "decision=approve&decision=refuse", 422),
            ("a refusal without a note", link, "decision=refuse", 422), ("no form", link, "\xff%", 422),
            ("a long note", link, "decision=approve&note=" + "x" * 1001, 422), ("a page", link, "x" * 20_000, 413)]:
        status, page, _ = serve.browse("POST", path, body)
        expect(status == wanted and approval in listed("pending"), f"{what}: {status} {page}")
    status, page, _ = serve.browse("POST", link, "decision=refuse")
    expect("A refusal needs a note" in page and "<form" in page, f"the form again: {page}")
    status, page, _ = serve.browse("POST", link, "decision=approve&note=in+the%0D%0Aplan")
    expect(status == 200 and "is approved" in page, f"{status} {page}")
    expect(approval in listed("approved"), f"{listed('all')}")
    pennyweight("approvals", "show", approval, has=["link:bo"])
    for decision in ("decision=approve", "decision=refuse&note=no"):
        status, page, _ = serve.browse("POST", link, decision)
        expect(status == 409 and approval in listed("approved"), f"a link decides once: {status} {page}")
    status, page, _ = serve.browse("GET", link)
    expect(status == 200 and "nothing to decide" in page and "<form" not in page, f"{page}")
    token = json.loads(pennyweight("approvals", "show", approval, "--format", "json")[0])
    token = re.search(approval + r"\.[0-9a-f]{64}", json.dumps(token)).group(0)
    expect(serve.validate(job(name="linked", token=token))["allowed"], "what bo approved by the link runs")
    entries = (cwd / "ledger.duckdb.audit").read_text()
    expect('"link:bo"' in entries, "the audit log says that it was by the link")
    # Neither ana nor bo may approve so much: cleo is asked at once.
    dear = asked_id(message(serve.validate(job(24, name="dear"))))
    told = hooks["cleo"].wait_for(lambda body: body["subject"] == dear, "cleo is asked")
    expect(not any(body["subject"] == dear for body in hooks["bo"].bodies), f"bo is not: {hooks['bo'].bodies}")
    link = re.search(r"http://127.0.0.1:1(/approve/\S+)$", told["summary"]).group(1)
    # Who can't decide is not asked: the next one is, at once.
    pennyweight("user", "change", "bo", "--disable")
    without_bo = asked_id(message(serve.validate(job(name="without-bo"))))
    hooks["cleo"].wait_for(lambda body: body["subject"] == without_bo, "cleo is asked in bo's place")
    pennyweight("user", "change", "bo", "--enable")
    # A link is worth what its approver's account is.
    for change, says in [(["--disable"], "no account here that may approve"), (["--enable", "--role", "viewer"], "may approve"),
                         (["--role", "finance", "--scope", "team=cv"], "not in the scope")]:
        pennyweight("user", "change", "cleo", *change)
        for method in ("GET", "POST"):
            status, page, _ = serve.browse(method, link, "decision=approve" if method == "POST" else None)
            expect(status == 422 and says in page and "<form" not in page, f"{change} {method}: {status} {page}")
        expect(dear in listed("pending"), f"{change}")
    expect("approval.link_refused" in (cwd / "ledger.duckdb.audit").read_text(), "attempts are in the audit log")
    pennyweight("user", "change", "cleo", "--scope", "team=nlp")
    status, page, _ = serve.browse("GET", link)
    expect(status == 200 and "<form" in page, f"in the scope: {status} {page}")
    serve.stop()
    # Who is no approver any more decides nothing by the links of before.
    configure(terms.replace(", {who: cleo}", ""), alerts.replace("owners: [cleo], approval_links: true", "owners: [cleo]"))
    serve = Serve()
    status, page, _ = serve.browse("POST", link, "decision=approve")
    expect(status == 422 and "decide nothing any more" in page and dear in listed("pending"), f"{status} {page}")
    serve.stop()
    for bad, says in [(alerts.replace("owners: [bo]", "owners: [bo, cleo]"), "decide in the name of one approver"),
                      (alerts.replace("owners: [bo]", "owners: [eve]"), "list 'eve' among guardrails.approvals.approvers")]:
        configure(terms, bad)
        pennyweight("approvals", "list", code=2, has=[says])


def check_terms():
    """Two persons, and limits of approvers, from the configuration."""
    configure(", two_persons_above: 65 USD")
    serve = Serve()
    approval = asked_id(message(serve.validate(job(name="two"))))
    out, _ = pennyweight("approvals", "approve", approval, has=["waits for a second person"])
    expect(out == "", f"half an approval gives no token: {out}")
    pennyweight("approvals", "approve", approval, code=1, has=["takes two persons"])
    serve.stop()
    configure(', approvers: [{who: "cli:*", up_to: 65.59 USD}]')
    pennyweight("approvals", "list", "--state", "approved", has=["ml/two"])
    serve = Serve()
    approval = asked_id(message(serve.validate(job(name="dear"))))
    pennyweight("approvals", "approve", approval, code=1, has=["may approve up to 65.59 USD"])
    serve.stop()
    configure(", two_persons_above: 65 EUR")
    pennyweight("approvals", "list", code=2, has=["priced in USD"])


(cwd / "prices.csv").write_text(PRICES)
configure()
check_at_admission()
check_denied_later()
check_in_ci()
check_links()
check_terms()
report("approvals")
