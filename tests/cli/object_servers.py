"""Servers that bills are pulled from: an S3 server (s3rver) and Azure's emulator (azurite), from npm (tests/pull)."""
import base64
import datetime
import hashlib
import hmac
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
from urllib.parse import quote

from harness import ROOT, expect

MODULES = pathlib.Path(ROOT) / "tests" / "pull" / "node_modules"
ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # azurite's own, public


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on {port}")


def put_s3(port, key, body):
    """A PUT with AWS's signature 4, written from its documentation and not from the program's source."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    path = "/bills/" + quote(key)
    host = f"127.0.0.1:{port}"
    signed = f"host:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{now}\n"
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = f"PUT\n{path}\n\n{signed}\n{names}\n{digest}"
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    secret = b"AWS4S3RVER"
    for part in scope.split("/"):
        secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(secret, to_sign.encode(), hashlib.sha256).hexdigest()
    connection = http.client.HTTPConnection(host)
    connection.request("PUT", path, body, {
        "x-amz-content-sha256": digest, "x-amz-date": now,
        "Authorization": f"AWS4-HMAC-SHA256 Credential=S3RVER/{scope}, SignedHeaders={names}, Signature={signature}"})
    answer = connection.getresponse()
    expect(answer.status == 200, f"PUT {key}: {answer.status} {answer.read()[:300]}")


def put_azure(port, key, body, query=""):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    path = f"/{ACCOUNT}/exports" + (f"/{quote(key)}" if key else "")
    headers = {"x-ms-date": now, "x-ms-version": "2021-08-06"}
    if key:
        headers["x-ms-blob-type"] = "BlockBlob"
    own = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    resource = f"/{ACCOUNT}{path}" + "".join(f"\n{name}:{value}" for name, value in
                                              sorted(pair.split("=") for pair in query.split("&") if pair))
    length = str(len(body)) if body else ""
    kind = "application/octet-stream"
    text = f"PUT\n\n\n{length}\n\n{kind}\n\n\n\n\n\n\n{own}{resource}"
    signature = base64.b64encode(hmac.new(base64.b64decode(AZURE_KEY), text.encode(), hashlib.sha256).digest())
    connection = http.client.HTTPConnection(f"127.0.0.1:{port}")
    connection.request("PUT", path + ("?" + query if query else ""), body,
                       {**headers, "Content-Type": kind, "Authorization": f"SharedKey {ACCOUNT}:{signature.decode()}"})
    answer = connection.getresponse()
    expect(answer.status == 201, f"PUT {key}: {answer.status} {answer.read()[:300]}")


class Server:
    """A server of objects; put() stores one."""

    def __init__(self, kind, home):
        self.kind, self.port = kind, free_port()
        if kind == "s3":
            command = ["node", MODULES / "s3rver" / "bin" / "s3rver.js", "-d", home / "s3", "-a", "127.0.0.1", "-p",
                       str(self.port), "--configure-bucket", "bills", "--silent"]
            (home / "s3").mkdir()
        else:
            command = ["node", MODULES / "azurite" / "dist" / "src" / "blob" / "main.js", "--blobHost", "127.0.0.1",
                       "--blobPort", str(self.port), "--location", home / "azurite", "--silent", "--skipApiVersionCheck"]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        wait_for(self.port)
        if kind == "azure":
            put_azure(self.port, "", b"", "restype=container")

    def put(self, key, body):
        (put_s3 if self.kind == "s3" else put_azure)(self.port, key, body)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def configuration(self, secrets, more=""):
        """What the ledger's configuration says; `more`: further keys of the source."""
        if self.kind == "s3":
            (secrets / "id").write_text("S3RVER\n")
            (secrets / "key").write_text("S3RVER\n")
            return (f"pull: [{{name: bills, from: 's3://bills/exports', endpoint: 'http://127.0.0.1:{self.port}', "
                    f"access_key_file: id, secret_key_file: key{more}}}]\n")
        (secrets / "account.key").write_text(AZURE_KEY + "\n")
        return (f"pull: [{{name: bills, from: 'azure://{ACCOUNT}/exports/exports', "
                f"endpoint: 'http://127.0.0.1:{self.port}/{ACCOUNT}', account_key_file: account.key{more}}}]\n")


def servers():
    """The kinds of servers that can be started here."""
    kinds = []
    for kind, program in (("s3", "s3rver"), ("azure", "azurite")):
        if (MODULES / program).exists() and shutil.which("node"):
            kinds.append(kind)
        else:
            print(f"{kind}: skipped, without {MODULES / program}")
    return kinds
