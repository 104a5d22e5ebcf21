"""What is done to servers: each fault strikes and ends, and can be healed at any time.

    kill        one server, kill -9; a shard, all its servers; zookeeper
    freeze      SIGSTOP: a server that takes connections and says nothing, as one without memory
    cut         its cable: packets vanish (a server, ZooKeeper, or who asks)
    deafen      what a server asks of ZooKeeper arrives, and the answers vanish
    slow        each touch of a file by a server takes many milliseconds more (slow_disk.cc)

A server that ends by itself (18.16 does, where it can't reach ZooKeeper as it starts) is started
again, as systemd does, and counted.
"""
import os
import signal
import struct
import time

from harness import get


class Faults:
    """`servers`: a Cluster or OneServer. `delays`: by server's name the file of slow_disk.cc, where
    it was preloaded."""

    def __init__(self, servers, delays=None):
        self._servers = servers
        self._delays = delays or {}
        self._wires = getattr(servers, "wires", None)
        self._keeper = getattr(servers, "keeper", None)
        self._down = set()       # names of those that are to be dead
        self.ended_alone = 0

    def shards(self, replicas=2):
        all_of_them = self._servers.servers
        return [all_of_them[i:i + replicas] for i in range(0, len(all_of_them), replicas)]

    def kinds(self):
        """Those that can be had here."""
        kinds = ["kill server", "freeze server"]
        if self._keeper:
            kinds += ["kill shard", "kill zookeeper", "freeze zookeeper"]
        if self._wires:
            kinds += ["cut server", "cut zookeeper", "deafen server"]
        if self._delays:
            kinds += ["slow server"]
        return kinds

    def plan(self, kind, chance):
        """(what it is called, begin, end) of a fault of a kind at somebody."""
        what, whom = kind.split()
        server = chance.choice(self._servers.servers)
        if whom == "shard":
            shard = chance.choice(self.shards())
            return (f"kill {shard[0].name[:6]}", lambda: self._kill(*shard),
                    lambda: self._start(*shard))
        target = self._keeper if whom == "zookeeper" else server
        if what == "kill":
            return (f"kill {target.name}", lambda: self._kill(target),
                    lambda: self._start(target))
        if what == "freeze":
            return (f"freeze {target.name}", lambda: self._signal(target, signal.SIGSTOP),
                    lambda: self._signal(target, signal.SIGCONT))
        if what == "cut":
            return (f"cut {target.name}", lambda: self._wires.cut(target.name),
                    lambda: self._wires.mend(target.name))
        if what == "deafen":
            return (f"deafen {server.name}", lambda: self._wires.deafen(server.name, "zookeeper"),
                    lambda: self._wires.hear(server.name, "zookeeper"))
        delay = chance.randint(10, 120)
        return (f"slow {server.name} by {delay} ms", lambda: self.slow(server, delay),
                lambda: self.slow(server, 0))

    def _kill(self, *programs):
        for program in programs:
            self._down.add(program.name)
            program.kill()

    def _start(self, *programs):
        for program in programs:
            if not program.alive():
                program.start(wait=False)
            self._down.discard(program.name)

    @staticmethod
    def _signal(program, number):
        if program.alive():
            os.kill(program.pid, number)

    def slow(self, server, milliseconds):
        with open(self._delays[server.name], "r+b") as file:
            file.write(struct.pack("<I", milliseconds * 1000))

    def watch_over(self):
        """Starts again who ended by itself. To be called now and then."""
        for program in [*self._servers.servers, *([self._keeper] if self._keeper else [])]:
            if program.name not in self._down and not program.alive():
                self.ended_alone += 1
                program.start(wait=False)

    def wait_for_all(self, patience=60):
        """Until every server says that it is there; seconds, or None."""
        begun = time.monotonic()
        while time.monotonic() < begun + patience:
            self.watch_over()
            if all(get(server.ready, patience=2)[0] == 200 for server in self._servers.servers):
                return time.monotonic() - begun
            time.sleep(0.1)
        return None
