"""ClickHouse from Debian's packages on loopback: one server, or shards and replicas with ZooKeeper.

Every server has a folder, ports and a configuration of its own, as the packages of different years
understand it (root element `yandex`, no setting that a release might not know).
"""
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Program, folder, free_port, get, need, post, wait_until  # noqa: E402

CLUSTER = "pennyweight"  # its name in remote_servers

CONFIG = """<yandex>
<logger><level>warning</level><log>{data}/server.log</log><errorlog>{data}/errors.log</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{between}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<max_connections>200</max_connections><mark_cache_size>67108864</mark_cache_size>
<path>{data}/data/</path><tmp_path>{data}/tmp/</tmp_path><user_files_path>{data}/files/</user_files_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database>
{shared}
</yandex>
"""
SHARED = """<macros><shard>{shard}</shard><replica>{replica}</replica></macros>
<remote_servers><{cluster}>{shards}</{cluster}></remote_servers>
<zookeeper><node><host>127.0.0.1</host><port>{keeper}</port></node>
<session_timeout_ms>4000</session_timeout_ms></zookeeper>
<distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>"""
USERS = """<yandex><profiles><default/></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default/></quotas></yandex>
"""


class Server(Program):
    def __init__(self, name, place, ports, shared=""):
        home = pathlib.Path(place) / name
        home.mkdir()
        self.port, tcp, between = ports
        self.url = f"http://127.0.0.1:{self.port}/"
        (home / "config.xml").write_text(CONFIG.format(
            data=home, http=self.port, tcp=tcp, between=between, shared=shared))
        (home / "users.xml").write_text(USERS)
        super().__init__(name, ["clickhouse-server", f"--config-file={home}/config.xml"], home,
                         ready=self.url + "ping")

    def ask(self, sql, **settings):
        """Rows of texts; an Exception with the server's words."""
        status, text = post(self.url + "?" + urllib.parse.urlencode(settings), sql.encode())
        if status != 200:
            raise RuntimeError(f"{self.name}: {status} {text[:300]}")
        return [line.split("\t") for line in text.splitlines()]


class ZooKeeper(Program):
    def __init__(self, place):
        self.port = free_port()
        home = pathlib.Path(place) / "zookeeper"
        (home / "data").mkdir(parents=True)
        (home / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={home}/data\nclientPort={self.port}\n"
            "clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=200\n")
        super().__init__("zookeeper", [
            "java", "-Xmx256m", "-cp", "/usr/share/java/*",
            "org.apache.zookeeper.server.quorum.QuorumPeerMain", home / "zoo.cfg"], home)


class OneServer:
    def __init__(self):
        need("clickhouse-server")
        self.place = folder("clickhouse")
        self.servers = [Server("one", self.place, [free_port() for _ in range(3)])]

    def start(self):
        for server in self.servers:
            server.start()
        return self

    def address(self, database=""):
        return f"clickhouse://127.0.0.1:{self.servers[0].port}/{database}"

    def stop(self):
        for server in self.servers:
            server.kill()


class Cluster(OneServer):
    """`shards` times `replicas` servers; servers[shard * replicas + replica]."""

    def __init__(self, shards=2, replicas=2):
        need("clickhouse-server", "java", "/usr/share/java/zookeeper.jar")
        self.place = folder("clickhouse")
        self.keeper = ZooKeeper(self.place)
        ports = [[free_port() for _ in range(3)] for _ in range(shards * replicas)]
        listed = "".join(
            "<shard><internal_replication>true</internal_replication>" + "".join(
                f"<replica><host>127.0.0.1</host><port>{ports[shard * replicas + replica][1]}</port>"
                "</replica>" for replica in range(replicas)) + "</shard>"
            for shard in range(shards))
        self.servers = [
            Server(f"shard{shard}-replica{replica}", self.place, ports[shard * replicas + replica],
                   SHARED.format(shard=shard, replica=replica, cluster=CLUSTER, shards=listed,
                                 keeper=self.keeper.port))
            for shard in range(shards) for replica in range(replicas)]

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

    def address(self, database=""):
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return f"clickhouse://{hosts}/{database}?cluster={CLUSTER}"

    def stop(self):
        super().stop()
        self.keeper.kill()
