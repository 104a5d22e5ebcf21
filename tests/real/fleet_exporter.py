#!/usr/bin/env python3
"""A stand-in for dcgm-exporter: one listener a node, each with that node's /metrics.

    fleet_exporter.py --port 9400 --modes plain,mig,shared [--gpus 2]
    fleet_exporter.py --port 9400 --capture tests/data/dcgm/t4_two_gpu_one_pod.prom

The first serves a synthetic fleet (fleet_truth.py), node k on port + k; the second replays a file.
A test makes an Exporters object instead; scrapes are counted, and a node can be made to fail.
"""
import argparse
import http.server
import pathlib
import threading
import time

import fleet_truth


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        if server.closed:  # on a connection that outlived its listener
            self.close_connection = True
            return
        if self.path.split("?")[0] != "/metrics":
            self._answer(404, b"only /metrics\n", "text/plain")
            return
        if server.broken:
            self._answer(503, b"the GPU fell off the bus\n", "text/plain")
            return
        now = server.clock()
        body = server.page(now).encode()
        with server.lock:
            server.scrapes += 1
            server.moments.append(now)
        self._answer(200, body, "text/plain; version=0.0.4; charset=utf-8")

    def _answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the client is gone

    def log_message(self, *_):
        pass


class NodeExporter(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address, page, clock=time.time):
        super().__init__(address, _Handler)
        self.page, self.clock = page, clock
        self.broken = self.closed = False
        self.scrapes = 0
        self.moments = []  # when it was asked
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05},
                         daemon=True).start()

    @property
    def target(self):
        return "{}:{}".format(*self.server_address)

    def close(self):
        """Closes the listener; clients that are still connected get no answer."""
        self.closed = True
        self.shutdown()
        self.server_close()


def fleet_now(modes, gpus_per_node=2):
    """A fleet whose drivers were loaded within the last hour."""
    return fleet_truth.nodes_of(modes, int(time.time()) // 3600 * 3600, gpus_per_node)


class Exporters:
    """The exporters of a fleet, {node: [Gpu]}."""

    def __init__(self, fleet, address="127.0.0.1", port=0, clock=time.time):
        self.fleet = fleet
        self.nodes = {}
        for k, (name, gpus) in enumerate(fleet.items()):
            page = (lambda time_s, gpus=gpus: fleet_truth.exposition(gpus, time_s))
            self.nodes[name] = NodeExporter((address, port + k if port else 0), page, clock)

    @property
    def targets(self):
        return [node.target for node in self.nodes.values()]

    @property
    def scrapes(self):
        return sum(node.scrapes for node in self.nodes.values())

    def wait_scraped(self, patience=60):
        """Waits until each was scraped twice from now on; Prometheus takes seconds to find its targets."""
        wanted = {name: node.scrapes + 2 for name, node in self.nodes.items()}
        until = time.monotonic() + patience
        while any(self.nodes[name].scrapes < least for name, least in wanted.items()):
            if time.monotonic() > until:
                raise TimeoutError(f"nobody scrapes the exporters within {patience} s")
            time.sleep(0.05)

    def close(self):
        for node in self.nodes.values():
            node.close()


def replay(path, address="127.0.0.1", port=0):
    """An exporter that always gives the same page."""
    text = pathlib.Path(path).read_text()
    return NodeExporter((address, port), lambda _: text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9400)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--modes", default="plain")
    parser.add_argument("--gpus", type=int, default=2, help="of each node")
    parser.add_argument("--capture", help="a file to replay")
    options = parser.parse_args()
    if options.capture:
        print(replay(options.capture, options.address, options.port).target, flush=True)
    else:
        modes = options.modes.split(",")
        unknown = set(modes) - set(fleet_truth.MODES)
        if unknown:
            parser.error(f"unknown mode {', '.join(sorted(unknown))}; there are "
                         f"{', '.join(fleet_truth.MODES)}")
        fleet = fleet_now(modes, options.gpus)
        exporters = Exporters(fleet, options.address, options.port)
        print("\n".join(exporters.targets), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
