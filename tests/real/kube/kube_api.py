#!/usr/bin/env python3
"""A stand-in for the Kubernetes API server: list and watch of objects, as clients see them.

usage: kube_api.py FOLDER [--token T] [--cert C --key K] [--bookmarks SECONDS] [--page N]
                          [--history N] [--port P] [--rules FILE]

FOLDER holds *.json, an object of the API or a List of them in each. Prints "port N" when it
listens on loopback, and ends when its standard input does.

What it keeps to (kubernetes.io/docs/reference/using-api/api-concepts):
  * resourceVersion is one counter of all changes; a list carries that of its snapshot.
  * limit and continue: every page is of the first page's snapshot; a token whose snapshot was
    compacted is answered 410 Expired.
  * watch: every change after resourceVersion, in order, one JSON document a line; allowWatchBookmarks;
    timeoutSeconds, with a bookmark before the end; 410 as an ERROR event where the version was
    compacted, 504 where it is from the future.
  * DELETED carries the object as it was last, with the version of the deletion.
  * answers above 128 KiB are gzipped for those who accept it.
  * 401 without the bearer token, 404 for an API that is not installed, errors as Status objects.
  * with --rules (the `rules` of a ClusterRole, JSON) 403 for what no rule allows, as with RBAC,
    which is asked before it is known whether the API is installed.

Control, without a token, under /control/: put, delete, status, compact, drop, expire, fault,
bookmark, install, uninstall, token, truth, stats; see class Control.
"""
import argparse
import base64
import copy
import gzip
import http.server
import json
import pathlib
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

GZIP_FROM = 128 * 1024


def plural(kind):
    lower = kind.lower()
    if lower.endswith("y"):
        return lower[:-1] + "ies"
    return lower + ("es" if lower.endswith("s") else "s")


def collection_of(thing):
    """'/api/v1/pods' of an object."""
    version = thing["apiVersion"]
    return ("/apis/" if "/" in version else "/api/") + version + "/" + plural(thing["kind"])


def key_of(thing):
    meta = thing["metadata"]
    return meta.get("namespace", ""), meta["name"]


class Refusal(Exception):
    def __init__(self, code, reason, message, retry_after=None):
        super().__init__(message)
        self.code, self.reason, self.message, self.retry_after = code, reason, message, retry_after

    def status(self):
        details = {"retryAfterSeconds": self.retry_after} if self.retry_after is not None else {}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": self.message, "reason": self.reason, "code": self.code,
                "details": details}


class Cluster:
    """The objects, their changes, and the versions of both. `changed` is notified at each change."""

    def __init__(self, history_max):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.version = 1000
        self.oldest = 1000       # a watch from a version before this one gets 410
        self.history = []        # (version, collection, type, object), all: for watches under way
        self.history_max = history_max
        self.objects = {}        # collection -> {key -> object}
        self.kinds = {}          # collection -> (kind, apiVersion)
        self.snapshots = {}      # version, collection -> [object], for pages that follow
        self.ended = {}          # uid -> name: pods that ended or were deleted
        for kind in ("Pod", "Node", "Namespace"):
            self.install(kind, "v1")

    def install(self, kind, api_version):
        with self.lock:
            path = collection_of({"kind": kind, "apiVersion": api_version})
            self.kinds[path] = (kind, api_version)
            self.objects.setdefault(path, {})

    def _record(self, path, what, thing):
        self.history.append((self.version, path, what, copy.deepcopy(thing)))
        if len(self.history) > self.history_max:
            self.oldest = self.history[-self.history_max][0] - 1
        self.changed.notify_all()

    def _note_end(self, thing):
        if thing["kind"] == "Pod":
            self.ended[thing["metadata"]["uid"]] = thing["metadata"]["name"]

    def put(self, thing):
        with self.lock:
            thing = copy.deepcopy(thing)
            path = collection_of(thing)
            self.install(thing["kind"], thing["apiVersion"])
            known = self.objects[path].get(key_of(thing))
            self.version += 1
            meta = thing["metadata"]
            meta.setdefault("uid", known["metadata"]["uid"] if known else str(uuid.uuid4()))
            meta.setdefault("creationTimestamp",
                            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
            meta["resourceVersion"] = str(self.version)
            self.objects[path][key_of(thing)] = thing
            if thing.get("status", {}).get("phase") in ("Succeeded", "Failed"):
                self._note_end(thing)
            self._record(path, "MODIFIED" if known else "ADDED", thing)
            return thing

    def delete(self, path, key):
        with self.lock:
            thing = self.objects[path].pop(key)
            self.version += 1
            thing["metadata"]["resourceVersion"] = str(self.version)
            self._note_end(thing)
            self._record(path, "DELETED", thing)
            return thing

    def compact(self):
        with self.lock:
            self.version += 1  # something else of the cluster changed
            self.oldest = self.version
            self.snapshots.clear()

    def page(self, path, limit, token):
        with self.lock:
            start = 0
            if token:
                try:
                    said = json.loads(base64.urlsafe_b64decode(token))
                    version, start = int(said["rv"]), int(said["start"])
                except (ValueError, KeyError, TypeError):
                    raise Refusal(400, "BadRequest", "continue key is not valid") from None
                if (version, path) not in self.snapshots:
                    raise Refusal(410, "Expired", "The provided continue parameter is too old to "
                                  "display a consistent list result.")
                things = self.snapshots[version, path]
            else:
                version = self.version
                things = [copy.deepcopy(self.objects[path][key])
                          for key in sorted(self.objects[path])]
            end = len(things) if not limit else min(len(things), start + limit)
            meta = {"resourceVersion": str(version)}
            if end < len(things):
                self.snapshots[version, path] = things
                meta["continue"] = base64.urlsafe_b64encode(
                    json.dumps({"rv": version, "start": end}).encode()).decode()
                meta["remainingItemCount"] = len(things) - end
            kind, api_version = self.kinds[path]
            # Items of a list don't say what they are.
            items = [{k: v for k, v in thing.items() if k not in ("kind", "apiVersion")}
                     for thing in things[start:end]]
            return {"kind": kind + "List", "apiVersion": api_version, "metadata": meta,
                    "items": items or None}


class Faults:
    """What goes wrong next, in the order in which it was asked for."""

    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = []

    def add(self, fault):
        with self.lock:
            self.waiting.append(dict(fault, times=int(fault.get("times", 1))))

    def take(self, verb, path, kinds):
        with self.lock:
            for fault in self.waiting:
                if fault["what"] in kinds and fault.get("verb", verb) == verb and \
                        fault.get("path", path) == path:
                    fault["times"] -= 1
                    if fault["times"] <= 0:
                        self.waiting.remove(fault)
                    return fault
        return None

    def left(self):
        with self.lock:
            return sum(fault["times"] for fault in self.waiting)


class Api:
    def __init__(self, options):
        self.cluster = Cluster(options.history)
        self.faults = Faults()
        self.token = options.token
        self.bookmark_seconds = options.bookmarks
        self.page_max = options.page
        self.rules = (json.loads(pathlib.Path(options.rules).read_text(encoding="utf-8"))
                      if options.rules else None)
        self.lock = threading.Lock()
        self.sockets = set()   # of watches
        self.counts = {}
        self.bookmark_now = 0  # counts up: every watch sends one

    def count(self, what, by=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + by

    def allows(self, verb, path):
        if self.rules is None:
            return True
        words = path.strip("/").split("/")  # api/v1/pods, apis/batch/v1/jobs
        group, resource = ("" if words[0] == "api" else words[1]), words[-1]
        return any(group in rule["apiGroups"] and resource in rule["resources"]
                   and verb in rule["verbs"] for rule in self.rules)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api = None
    wbufsize = 0
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path.startswith("/control/"):
            Control(self).get(url.path[len("/control/"):], query)
            return
        try:
            self.serve(url.path, query)
        except Refusal as refusal:
            self.answer(refusal.code, refusal.status(), refusal.retry_after)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        Control(self).post(url.path[len("/control/"):], body)

    def answer(self, code, value, retry_after=None):
        body = json.dumps(value).encode() + b"\n"
        zipped = len(body) > GZIP_FROM and "gzip" in self.headers.get("Accept-Encoding", "")
        if zipped:
            body = gzip.compress(body, 1)
            self.api.count("gzipped")
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        """As a broken network: a reset and no word."""
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve(self, path, query):
        api = self.api
        watches = query.get("watch") in ("true", "1")
        verb = "watch" if watches else "list"
        api.count(verb + " requests")
        if api.token and self.headers.get("Authorization") != "Bearer " + api.token:
            api.count("401")
            raise Refusal(401, "Unauthorized", "Unauthorized")
        if fault := api.faults.take(verb, path, ("slow",)):
            api.count("fault slow")
            time.sleep(fault["seconds"])
        if fault := api.faults.take(verb, path, ("status", "drop")):
            api.count("fault " + fault["what"])
            if fault["what"] == "drop":
                self.hang_up()
                return
            raise Refusal(fault["code"], fault.get("reason", "Fault"), "a fault of the test",
                          fault.get("retry_after"))
        if not api.allows(verb, path):
            api.count("403")
            api.count("403 " + path)
            raise Refusal(403, "Forbidden", f"may not {verb} {path}")
        if path not in api.cluster.kinds:
            api.count("404")
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        if watches:
            self.watch(path, query)
            return
        limit = int(query.get("limit", 0))
        if api.page_max and limit:
            limit = min(limit, api.page_max)
        page = api.cluster.page(path, limit, query.get("continue"))
        api.count("listed objects", len(page["items"] or []))
        if fault := api.faults.take(verb, path, ("half",)):
            api.count("fault half")
            body = json.dumps(page).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.hang_up()
            return
        self.answer(200, page)

    def watch(self, path, query):
        api, cluster = self.api, self.api.cluster
        since = int(query.get("resourceVersion", cluster.version))
        if since > cluster.version:
            raise Refusal(504, "Timeout", f"Too large resource version: {since}, current: "
                          f"{cluster.version}", 1)
        with cluster.lock:  # a watch that begins sees an expiry, or is cut by it
            is_gone = since < cluster.oldest
            if not is_gone:
                with api.lock:
                    api.sockets.add(self)
        if is_gone and api.faults.take("watch", path, ("gone_as_status",)):
            api.count("410")
            raise Refusal(410, "Expired", f"too old resource version: {since}")
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if is_gone:
                api.count("410")
                gone = Refusal(410, "Expired",
                               f"too old resource version: {since} ({cluster.version})")
                self.line({"type": "ERROR", "object": gone.status()})
                self.wfile.write(b"0\r\n\r\n")
                return
            self.follow(path, query, since)
        finally:
            with api.lock:
                api.sockets.discard(self)

    def follow(self, path, query, since):
        api, cluster = self.api, self.api.cluster
        bookmarks = query.get("allowWatchBookmarks") in ("true", "1")
        end = time.monotonic() + float(query.get("timeoutSeconds", 1800))
        next_bookmark = time.monotonic() + api.bookmark_seconds
        asked = api.bookmark_now
        while True:
            with cluster.changed:
                events = [e for e in cluster.history if e[0] > since and e[1] == path]
                latest = cluster.version
                if not events:
                    cluster.changed.wait(0.05)
            for version, _, what, thing in events:
                if api.faults.take("watch", path, ("cut",)):
                    api.count("fault cut")
                    text = json.dumps({"type": what, "object": thing}).encode()
                    self.chunk(text[:len(text) // 2])
                    self.hang_up()
                    return
                if fault := api.faults.take("watch", path, ("error_event",)):
                    api.count("fault error_event")
                    error = Refusal(fault["code"], "Fault", "a fault of the test", 0)
                    self.line({"type": "ERROR", "object": error.status()})
                    self.wfile.write(b"0\r\n\r\n")
                    return
                if api.faults.take("watch", path, ("garbage",)):
                    api.count("fault garbage")
                    self.chunk(b"<html>502 Bad Gateway</html>\n")
                    self.wfile.write(b"0\r\n\r\n")
                    return
                self.line({"type": what, "object": thing})
                api.count("events")
                since = version
            if not events:
                since = max(since, latest)
            now = time.monotonic()
            if bookmarks and (now >= next_bookmark or now >= end or asked != api.bookmark_now):
                asked = api.bookmark_now
                next_bookmark = now + api.bookmark_seconds
                kind, api_version = cluster.kinds.get(path, ("Pod", "v1"))
                self.line({"type": "BOOKMARK", "object": {
                    "kind": kind, "apiVersion": api_version,
                    "metadata": {"resourceVersion": str(since), "creationTimestamp": None}}})
                api.count("bookmarks")
            if now >= end or api.faults.take("watch", path, ("end",)):
                self.wfile.write(b"0\r\n\r\n")
                return

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def line(self, value):
        self.chunk(json.dumps(value).encode() + b"\n")


class Control:
    """What a test does to the cluster and to the network."""

    def __init__(self, handler):
        self.handler, self.api = handler, handler.api

    def drop(self):
        with self.api.lock:
            handlers = list(self.api.sockets)
            self.api.sockets.clear()  # "watching" counts none that was cut
        for handler in handlers:
            handler.hang_up()
        self.api.count("dropped", len(handlers))

    def get(self, what, _):
        cluster = self.api.cluster
        if what == "truth":
            with cluster.lock:
                self.handler.answer(200, {
                    "version": cluster.version,
                    "objects": {path: {thing["metadata"]["uid"]:
                                       thing["metadata"]["resourceVersion"]
                                       for thing in things.values()}
                                for path, things in cluster.objects.items()},
                    "ended": cluster.ended})
        elif what == "stats":
            with self.api.lock:
                counts = dict(self.api.counts, watching=len(self.api.sockets))
            self.handler.answer(200, dict(counts, faults_left=self.api.faults.left()))
        else:
            self.handler.answer(404, {"error": "no such control"})

    def post(self, what, body):
        api, cluster = self.api, self.api.cluster
        if what == "put":        # an object, created or replaced
            cluster.put(body)
        elif what == "status":   # {path, namespace, name, status}: its status replaced
            with cluster.lock:
                thing = copy.deepcopy(
                    cluster.objects[body["path"]][body.get("namespace", ""), body["name"]])
                thing["status"] = {**thing.get("status", {}), **body["status"]}
                cluster.put(thing)
        elif what == "delete":   # {path, namespace, name}
            cluster.delete(body["path"], (body.get("namespace", ""), body["name"]))
        elif what == "compact":  # forget every change up to now
            cluster.compact()
        elif what == "drop":     # cut every watch
            self.drop()
        elif what == "expire":   # both at once: no bookmark between them brings a watch past it
            with cluster.lock:
                cluster.compact()
                self.drop()
        elif what == "fault":    # {what, verb, path, times, …}, see Faults
            api.faults.add(body)
        elif what == "bookmark":
            api.bookmark_now += 1
        elif what == "install":  # {kind, apiVersion}
            cluster.install(body["kind"], body["apiVersion"])
        elif what == "uninstall":
            with cluster.lock:
                path = collection_of(body)
                cluster.kinds.pop(path, None)
                cluster.objects.pop(path, None)
        elif what == "token":
            api.token = body["token"]
        elif what == "restore":  # {by}: an older etcd, whose counter is behind; all watches end
            with cluster.lock:
                cluster.version -= int(body["by"])
                cluster.history.clear()
                cluster.oldest = cluster.version
            self.drop()
        else:
            self.handler.answer(404, {"error": "no such control"})
            return
        self.handler.answer(200, {"version": cluster.version})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        kind = sys.exc_info()[0]
        if kind not in (BrokenPipeError, ConnectionResetError, ConnectionAbortedError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--token", default="")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--bookmarks", type=float, default=60)
    parser.add_argument("--page", type=int, default=0, help="never more than so many in a page")
    parser.add_argument("--history", type=int, default=100_000)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rules", help="what may be listed and watched; else everything")
    options = parser.parse_args()
    Handler.api = Api(options)
    for file in sorted(pathlib.Path(options.folder).glob("*.json")):
        value = json.loads(file.read_text(encoding="utf-8"))
        for thing in value["items"] if value["kind"] == "List" else [value]:
            Handler.api.cluster.put(thing)
    server = Server(("127.0.0.1", options.port), Handler)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("port", server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
