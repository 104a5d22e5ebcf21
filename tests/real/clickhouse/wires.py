"""A switch with cables to hosts, each a network namespace, so that a cable can really be cut.

    wires = Wires(["keeper", "client"])      needs root; Wires.can_be() says whether it can be had
    wires.address("keeper")                  10.214.N.2
    wires.inside("keeper", argv)             argv, to be run on that host
    wires.cut("keeper"), wires.mend(…)       its cable: packets vanish, nobody is told
    wires.deafen("a", "b"), wires.hear(…)    what a sends arrives at b; what b answers vanishes
"""
import os
import random
import subprocess

import harness


def _run(*command):
    subprocess.run(command, check=True, capture_output=True)


class Wires:
    def __init__(self, hosts):
        tag = f"pw{os.getpid() % 100_000}"
        self.net = f"10.214.{random.SystemRandom().randrange(16, 250)}"
        self._switch = tag + "s"
        self._hosts = {name: (f"{tag}h{i}", f"{tag}c{i}", f"{self.net}.{i + 2}")
                       for i, name in enumerate(hosts)}
        harness._spaces.append(self)
        _run("ip", "link", "add", self._switch, "type", "bridge")
        _run("ip", "addr", "add", self.net + ".1/24", "dev", self._switch)
        _run("ip", "link", "set", self._switch, "up")
        for space, cable, address in self._hosts.values():
            _run("ip", "netns", "add", space)
            _run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0",
                 "netns", space)
            _run("ip", "link", "set", cable, "master", self._switch)
            _run("ip", "link", "set", cable, "up")
            for command in (["addr", "add", address + "/24", "dev", "eth0"],
                            ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
                _run("ip", "-n", space, *command)

    @staticmethod
    def can_be():
        if os.geteuid() != 0:
            return False
        try:
            Wires(["probe"]).remove()
            harness._spaces.pop()
            return True
        except (subprocess.CalledProcessError, FileNotFoundError):
            return False

    def address(self, host):
        return self._hosts[host][2]

    def inside(self, host, argv):
        return ["ip", "netns", "exec", self._hosts[host][0], *argv]

    def cut(self, host):
        _run("ip", "link", "set", self._hosts[host][1], "down")

    def mend(self, host):
        _run("ip", "link", "set", self._hosts[host][1], "up")

    def deafen(self, asker, answerer):
        _run("ip", "-n", self._hosts[answerer][0], "route", "replace", "blackhole",
             self.address(asker) + "/32")

    def hear(self, asker, answerer):
        subprocess.run(["ip", "-n", self._hosts[answerer][0], "route", "del", "blackhole",
                        self.address(asker) + "/32"], capture_output=True)

    def remove(self):
        for space, cable, _ in self._hosts.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
            subprocess.run(["ip", "link", "del", cable], capture_output=True)
        subprocess.run(["ip", "link", "del", self._switch], capture_output=True)
