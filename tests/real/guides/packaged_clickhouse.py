"""ClickHouse as Debian's package configures it, with the files of docs/guide/cluster.md."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clickhouse"))
import cluster  # noqa: E402
from harness import expect, folder, free_port, need, wait_until  # noqa: E402

PACKAGE = pathlib.Path("/etc/clickhouse-server")


class Packaged(cluster.Server):
    """One with ports and folders of its own, and else what the package says."""

    def __init__(self, name, place):
        need("clickhouse-server", str(PACKAGE / "config.xml"))
        self.tcp, self.between = free_port(), free_port()
        super().__init__(name, place, [free_port(), self.tcp, self.between])
        text = (PACKAGE / "config.xml").read_text()
        for old, new in (("/var/lib/clickhouse/", f"{self.home}/data/"),
                         ("/var/log/clickhouse-server/", f"{self.home}/"),
                         ("<http_port>8123<", f"<http_port>{self.port}<"),
                         ("<tcp_port>9000<", f"<tcp_port>{self.tcp}<"),
                         ("<interserver_http_port>9009<",
                          f"<interserver_http_port>{self.between}<")):
            if old not in text:
                raise RuntimeError(f"the package's configuration has no {old}")
            text = text.replace(old, new)
        (self.home / "config.xml").write_text(text)
        shutil.copy(PACKAGE / "users.xml", self.home / "users.xml")

    def add(self, path, text):
        """A file as a page names it: below /etc/clickhouse-server."""
        file = self.home / pathlib.Path(path).relative_to(PACKAGE)
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def restart(self):
        """As systemd does it."""
        self.stop()
        return self.start()


class Four:
    """The page's ch-1 to ch-4, and zk-1."""

    def __init__(self):
        self.place = folder("guide-clickhouse")
        self.keeper = cluster.ZooKeeper(self.place)
        self.servers = [Packaged(f"ch-{i}", self.place) for i in range(1, 5)]

    def substitutions(self):
        found = {"<host>zk-1</host><port>2181<": f"<host>127.0.0.1</host><port>{self.keeper.port}<",
                 "zk-1:2181": f"127.0.0.1:{self.keeper.port}",
                 "--host ch-1 --port 9000": f"--host 127.0.0.1 --port {self.servers[0].tcp}"}
        for number, server in enumerate(self.servers, 1):
            found[f"ch-{number}:8123"] = f"127.0.0.1:{server.port}"
            found[f"<host>ch-{number}</host><port>9000<"] = (
                f"<host>127.0.0.1</host><port>{server.tcp}<")
        return found

    def hosts(self):
        return ",".join(f"127.0.0.1:{server.port}" for server in self.servers)

    def start(self, reader, users):
        """With the page's files."""
        self.keeper.start()
        shared, own = reader.block("config.d/cluster.xml"), reader.block("this-server.xml")
        of_the_second = "<shard>1</shard><replica>2</replica>"
        expect(of_the_second in own, f"that of ch-2: {own}")
        for number, server in enumerate(self.servers):
            server.add("/etc/clickhouse-server/users.d/pennyweight.xml", users)
            server.add("/etc/clickhouse-server/config.d/cluster.xml", shared)
            macros = f"<shard>{number // 2 + 1}</shard><replica>{number % 2 + 1}</replica>"
            server.add("/etc/clickhouse-server/config.d/this-server.xml",
                       own.replace(of_the_second, macros))
            server.start(wait=False)
        for server in self.servers:
            server.wait_ready()
        wait_until("ZooKeeper answers", self._keeper_answers, 60)

    def _keeper_answers(self):
        try:
            return self.servers[0].ask("SELECT count() FROM system.zookeeper WHERE path = '/'")
        except RuntimeError:
            return None
