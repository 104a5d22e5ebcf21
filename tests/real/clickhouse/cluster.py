"""ClickHouse from Debian's packages on loopback: one server, or shards and replicas with ZooKeeper.

Every server has a folder, ports and a configuration of its own, as the packages of different years
understand it (root element `yandex`, no setting that a release might not know). With wires (wires.py)
each is a host of its own.
"""
import pathlib
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import Program, folder, free_port, get, need, post, wait_until  # noqa: E402

CLUSTER = "pennyweight"  # its name in remote_servers

CONFIG = """<yandex>
<logger><level>warning</level><log>{data}/server.log</log><errorlog>{data}/errors.log</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{between}</interserver_http_port>
<interserver_http_host>{host}</interserver_http_host><listen_host>{host}</listen_host>
<max_connections>200</max_connections><mark_cache_size>67108864</mark_cache_size>
<path>{data}/data/</path><tmp_path>{data}/tmp/</tmp_path><user_files_path>{data}/files/</user_files_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database>
{shared}
</yandex>
"""
SHARED = """<macros><shard>{shard}</shard><replica>{replica}</replica></macros>
<remote_servers><{cluster}>{shards}</{cluster}></remote_servers>
<zookeeper><node><host>{keeper}</host><port>{keeper_port}</port></node>
<session_timeout_ms>4000</session_timeout_ms></zookeeper>
<distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>"""
USERS = """<yandex><profiles><default/></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip><ip>{neighbours}</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default/></quotas></yandex>
"""


class Server(Program):
    """`host`: its address; `inside`: what its command line is put into; `env`: added to its own."""

    def __init__(self, name, place, ports, shared="", host="127.0.0.1", inside=lambda argv: argv,
                 env=None):
        home = pathlib.Path(place) / name
        home.mkdir()
        self.home, self.host = home, host
        self.port, tcp, between = ports
        self.url = f"http://{host}:{self.port}/"
        (home / "config.xml").write_text(CONFIG.format(
            data=home, host=host, http=self.port, tcp=tcp, between=between, shared=shared))
        neighbours = host.rsplit(".", 1)[0] + ".0/24"
        (home / "users.xml").write_text(USERS.format(neighbours=neighbours))
        super().__init__(name, inside(["clickhouse-server", f"--config-file={home}/config.xml"]),
                         home, ready=self.url + "ping", env=env)

    def ask(self, sql, **settings):
        """Rows of texts; an Exception with the server's words."""
        status, text = post(self.url + "?" + urllib.parse.urlencode(settings), sql.encode())
        if status != 200:
            raise RuntimeError(f"{self.name}: {status} {text[:300]}")
        return [line.split("\t") for line in text.splitlines()]


class ZooKeeper(Program):
    def __init__(self, place, host="127.0.0.1", inside=lambda argv: argv):
        self.host, self.port = host, free_port()
        home = pathlib.Path(place) / "zookeeper"
        (home / "data").mkdir(parents=True)
        (home / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={home}/data\nclientPort={self.port}\n"
            f"clientPortAddress={host}\nadmin.enableServer=false\nmaxClientCnxns=200\n")
        super().__init__("zookeeper", inside([
            "java", "-Xmx256m", "-cp", "/usr/share/java/*",
            "org.apache.zookeeper.server.quorum.QuorumPeerMain", home / "zoo.cfg"]), home)


def _nothing(_):
    return None


class OneServer:
    """`env`: from a server's name to what is added to its environment."""

    def __init__(self, env=_nothing):
        need("clickhouse-server")
        self.place = folder("clickhouse")
        self.servers = [Server("one", self.place, [free_port() for _ in range(3)],
                               env=env("one"))]

    def start(self):
        for server in self.servers:
            server.start()
        return self

    def address(self, database="", options="", servers=None):
        first = (servers or self.servers)[0]
        return f"clickhouse://{first.host}:{first.port}/{database}" + (options and "?" + options)

    def stop(self):
        for server in self.servers:
            server.kill()


class Cluster(OneServer):
    """`shards` times `replicas` servers; servers[shard * replicas + replica]. `wires`: a function
    from the names of all hosts to Wires; else all are on loopback."""

    def __init__(self, shards=2, replicas=2, wires=None, env=_nothing):
        need("clickhouse-server", "java", "/usr/share/java/zookeeper.jar")
        self.place = folder("clickhouse")
        at = [(shard, replica) for shard in range(shards) for replica in range(replicas)]
        names = [f"shard{shard}-replica{replica}" for shard, replica in at]
        self.wires = wires(["zookeeper", *names]) if wires else None
        self.keeper = ZooKeeper(self.place, **self._host("zookeeper"))
        ports = [[free_port() for _ in range(3)] for _ in names]
        listed = [f"<replica><host>{self._host(name)['host']}</host><port>{tcp}</port></replica>"
                  for name, (_, tcp, _) in zip(names, ports)]
        listed = "".join(
            "<shard><internal_replication>true</internal_replication>"
            + "".join(listed[shard * replicas:(shard + 1) * replicas]) + "</shard>"
            for shard in range(shards))
        self.servers = [
            Server(name, self.place, own, SHARED.format(
                shard=shard, replica=replica, cluster=CLUSTER, shards=listed,
                keeper=self.keeper.host, keeper_port=self.keeper.port),
                env=env(name), **self._host(name))
            for name, own, (shard, replica) in zip(names, ports, at)]

    def _host(self, name):
        if not self.wires:
            return {"host": "127.0.0.1"}
        return {"host": self.wires.address(name),
                "inside": lambda argv: self.wires.inside(name, argv)}

    def start(self):
        self.keeper.start()
        for server in self.servers:
            server.start(wait=False)
        for server in self.servers:
            server.wait_ready()
        # A table is made through ZooKeeper, so it has to be there.
        wait_until("ZooKeeper answers", lambda: self._keeper_answers(), 60)
        return self

    def _keeper_answers(self):
        status, _ = get(self.servers[0].url, query="SELECT count() FROM system.zookeeper "
                                                   "WHERE path = '/'")
        return status == 200

    def address(self, database="", options="", servers=None):
        hosts = ",".join(f"{server.host}:{server.port}" for server in servers or self.servers)
        return (f"clickhouse://{hosts}/{database}?cluster={CLUSTER}"
                + (options and "&" + options))

    def stop(self):
        super().stop()
        self.keeper.kill()
