"""What the tests with real programs share: programs that are started, watched, killed and read.

Everything runs on loopback in a temporary folder, on free ports. A test is called as
SCRIPT PENNYWEIGHT SQL_TOOL [LOAD], ends with report(), and exits 77 (skipped) where a program that
it needs is not installed.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SKIPPED = 77
SILENCE_S = 300  # after it a device is silent, whatever its interval is
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
failures = []
_programs = []
_folders = []
_spaces = []


# ------------------------------------------------------------------------------ checks

def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)
    return condition


def say(text):
    print(f"[{time.monotonic() - _begin:6.1f} s] {text}", flush=True)


_begin = time.monotonic()


def need(*names):
    """Exits 77 where one of the programs is not installed."""
    missing = [name for name in names if not (os.path.isabs(name) and os.path.exists(name))
               and shutil.which(name) is None]
    if missing:
        print("skipped: not installed:", ", ".join(missing))
        sys.exit(SKIPPED)


def need_root(what):
    if os.geteuid() != 0:
        print(f"skipped: {what} needs root")
        sys.exit(SKIPPED)


def report(name):
    """Ends everything that was started; after a failure it shows the end of the programs' logs."""
    clean_up()
    if failures:
        for program in _programs:
            print(f"---- the end of {program.name}'s log, {program.log}")
            print(program.last_words())
    else:
        for folder in _folders:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{name}: {'ok' if not failures else str(len(failures)) + ' failed'}")
    sys.exit(bool(failures))


def clean_up():
    for program in _programs:
        program.kill()
    for space in reversed(_spaces):
        space.remove()
    _spaces.clear()


def guarded(main, name):
    """Runs main() and reports; an exception is a failure, and nothing is left running."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        main()
    except SystemExit:
        clean_up()
        raise
    except BaseException as error:  # the programs have to be ended whatever happened
        import traceback
        traceback.print_exc()
        expect(False, f"{type(error).__name__}: {error}")
    report(name)


# ------------------------------------------------------------------------------ places

def folder(name="real"):
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"pennyweight-{name}-"))
    _folders.append(path)
    return path


_ports_given = set()
_chance = random.SystemRandom()


def free_port():
    """A free port that this run has not given away yet, and that the kernel does not use for an
    outgoing connection before its program listens."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", _chance.randrange(10_240, lowest) if lowest > 12_000 else 0))
            except OSError:
                continue
            port = probe.getsockname()[1]
        if port not in _ports_given:
            _ports_given.add(port)
            return port


class SmallDisk:
    """A file system of a few MiB, to be filled up."""

    def __init__(self, path, mebibytes):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs",
                               self.path], capture_output=True, text=True)
        if done.returncode != 0:
            print("skipped: no small disk can be mounted here:", done.stderr.strip())
            sys.exit(SKIPPED)
        _spaces.append(self)
        self._ballast = self.path / "ballast"

    def fill(self):
        with open(self._ballast, "ab") as out:
            try:
                while True:
                    out.write(b"\0" * 65536)
                    out.flush()
            except OSError:
                pass

    def free(self):
        self._ballast.unlink(missing_ok=True)

    def left(self):
        return shutil.disk_usage(self.path).free

    def remove(self):
        for _ in range(20):
            if subprocess.run(["umount", self.path], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        subprocess.run(["umount", "-l", self.path], capture_output=True)


class Network:
    """A network namespace with one cable to here; the cable can be cut."""

    def __init__(self):
        tag = f"pw{os.getpid() % 10000}{len(_spaces)}"
        self.name, self._cable, self._end = tag, tag + "a", tag + "b"
        net = random.randrange(16, 250)
        self.here, self.there = f"10.213.{net}.1", f"10.213.{net}.2"
        self._run("ip", "netns", "add", self.name)
        _spaces.append(self)
        self._run("ip", "link", "add", self._cable, "type", "veth", "peer", "name", self._end,
                  "netns", self.name)
        self._run("ip", "addr", "add", self.here + "/24", "dev", self._cable)
        self._run("ip", "link", "set", self._cable, "up")
        for command in (["addr", "add", self.there + "/24", "dev", self._end],
                        ["link", "set", self._end, "up"], ["link", "set", "lo", "up"]):
            self._run("ip", "-n", self.name, *command)

    @staticmethod
    def _run(*command):
        subprocess.run(command, check=True, capture_output=True)

    def cut(self):
        """Packets vanish without an error, as when a switch dies."""
        self._run("ip", "link", "set", self._cable, "down")

    def mend(self):
        self._run("ip", "link", "set", self._cable, "up")

    def inside(self, argv):
        return ["ip", "netns", "exec", self.name, *argv]

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)
        subprocess.run(["ip", "link", "del", self._cable], capture_output=True)


def can_make_networks():
    try:
        Network().remove()
        _spaces.pop()
        return True
    except (subprocess.CalledProcessError, FileNotFoundError):
        return False


# ------------------------------------------------------------------------------ programs

class Program:
    """A process with its log in a file, which ends with the test, however that ends."""

    def __init__(self, name, argv, cwd, ready=None, env=None):
        self.name, self.argv, self.cwd, self.ready = name, [str(a) for a in argv], cwd, ready
        self.env = {**os.environ, **(env or {})}
        self.log = pathlib.Path(cwd) / f"{name}.log"
        self.process = None
        self.usage = None  # of the last process that ended, once stop() or kill() reaped it
        # The most that was resident, until shortly before it ended. What wait4() says of that can be
        # the memory of this script, which the process had before it became its program.
        self.peak = 0
        _programs.append(self)

    def start(self, wait=True, patience=60):
        out = open(self.log, "ab")
        leash = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        self.process = subprocess.Popen([*leash, *self.argv], cwd=self.cwd, stdout=out, stderr=out,
                                        stdin=subprocess.DEVNULL, env=self.env)
        out.close()
        self.usage = None
        if wait and self.ready:
            self.wait_ready(patience)
        return self

    @property
    def pid(self):
        """The program itself, where a wrapper (faketime) started it as its child."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        wrapped = os.path.basename(self.argv[0]) == "faketime"
        found = children.read_text().split() if wrapped and children.exists() else []
        return int(found[0]) if found else self.process.pid

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def wait_ready(self, patience=60):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if not self.alive():
                raise RuntimeError(f"{self.name} ended with {self.process.poll()}:\n"
                                   + self.last_words())
            status, _ = get(self.ready, patience=2)
            if status == 200:
                return self
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} is not ready after {patience} s:\n" + self.last_words())

    def _reap(self, patience):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if self.process.returncode is not None:
                return True
            try:
                self.peak = max(self.peak, self.peak_rss())
            except (OSError, KeyError):
                pass  # it has no memory any more
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.usage = usage
                return True
            time.sleep(0.02)
        return False

    def stop(self, patience=60):
        """Asks it to end, and returns its exit code."""
        if not self.alive():
            return self.process.returncode if self.process else None
        os.kill(self.pid, signal.SIGTERM)
        if not self._reap(patience):
            expect(False, f"{self.name} did not end within {patience} s of SIGTERM")
            self.kill()
        return self.process.returncode

    def kill(self):
        """kill -9, as the kernel does when memory runs out."""
        if not self.alive():
            return
        os.kill(self.pid, signal.SIGKILL)
        self._reap(30)

    def cpu_seconds(self):
        """User and system time of all its threads until now."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def _status(self, key):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise KeyError(key)

    def rss(self):
        return self._status("VmRSS")

    def peak_rss(self):
        return self._status("VmHWM")

    def last_words(self, lines=25):
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


# ------------------------------------------------------------------------------ HTTP

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url, patience=10, **query):
    """Status and body; status 0 where there was no answer."""
    if query:
        url += "?" + urllib.parse.urlencode(query)
    try:
        with _opener.open(url, timeout=patience) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)


def post(url, body, headers=None, patience=60):
    request = urllib.request.Request(url, data=body, headers=headers or {}, method="POST")
    try:
        with _opener.open(request, timeout=patience) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)


def metrics(url, patience=10):
    """An exposition as {(name, sorted labels): value}."""
    status, text = get(url, patience)
    if status != 200:
        raise RuntimeError(f"{url}: {status} {text[:200]}")
    found = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        series, value = line.rsplit(" ", 1)
        name, _, labels = series.partition("{")
        found[(name, labels.rstrip("}"))] = float(value)
    return found


def metric_sum(found, name, having=""):
    return sum(value for (series, labels), value in found.items()
               if series == name and having in labels)


def wait_until(what, condition, patience=60, pause=0.1):
    """The first true answer of condition(); a failure, and None, where there is none in time."""
    until = time.monotonic() + patience
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > until:
            expect(False, f"{what}: not within {patience} s")
            return None
        time.sleep(pause)


# ------------------------------------------------------------------------------ senders and serve

class Prometheus(Program):
    """Prometheus that scrapes `targets` and writes to `write_to`.

    `jobs` are further scrape configurations: dicts of job, targets, honor_labels, labels.
    """

    def __init__(self, cwd, targets=(), write_to="", cluster="real", interval="1s", jobs=(),
                 receive=False, name="prometheus", wrapper=(), address="127.0.0.1"):
        need("prometheus")
        cwd = pathlib.Path(cwd)
        self.port = free_port()
        self.url = f"http://{address}:{self.port}"
        self.config = cwd / f"{name}.yml"
        self._document = {
            "global": {"scrape_interval": interval, "scrape_timeout": interval,
                       "external_labels": {"cluster": cluster}},
            "scrape_configs": [
                {"job_name": job["job"], "honor_labels": job.get("honor_labels", False),
                 "static_configs": [{"targets": list(job["targets"]),
                                     "labels": job.get("labels", {})}]}
                for job in ([{"job": "dcgm-exporter", "targets": targets}] if targets else [])
                + list(jobs)],
            "remote_write": [
                {"url": write_to, "remote_timeout": "5s",
                 "metadata_config": {"send": True, "send_interval": "5s"},
                 "queue_config": {"capacity": 5000, "min_shards": 1, "max_shards": 4,
                                  "max_samples_per_send": 500, "batch_send_deadline": "500ms",
                                  "min_backoff": "30ms", "max_backoff": "500ms",
                                  "retry_on_http_429": True}}] if write_to else [],
        }
        self._write_config()
        argv = [*wrapper, "prometheus", f"--config.file={self.config}",
                f"--storage.tsdb.path={cwd / (name + '-data')}", "--log.level=warn",
                f"--web.listen-address={address}:{self.port}"]
        if receive:
            argv.append("--web.enable-remote-write-receiver")
        super().__init__(name, argv, cwd, ready=self.url + "/-/ready")

    def _write_config(self):
        self.config.write_text(json.dumps(self._document, indent=1))  # JSON is YAML

    def stop_scraping(self):
        """Takes the targets away; what was scraped is still sent, with the marks of its end."""
        self._document["scrape_configs"] = []
        self._write_config()
        os.kill(self.pid, signal.SIGHUP)

    def drain(self, patience=60):
        """Waits until nothing is left to send."""
        still = {"sent": None, "times": 0}

        def drained():
            sent, _, pending = self.sent()
            still["times"] = still["times"] + 1 if sent == still["sent"] and not pending else 0
            still["sent"] = sent
            return still["times"] >= 4

        return wait_until("Prometheus has sent all", drained, patience, pause=0.5)

    def own(self):
        return metrics(self.url + "/metrics")

    def query(self, expression, at=None):
        query = {"query": expression, **({"time": at} if at is not None else {})}
        status, text = get(self.url + "/api/v1/query", **query)
        if status != 200:
            raise RuntimeError(f"{self.name}: {expression}: {status} {text[:300]}")
        return json.loads(text)["data"]["result"]

    def raw(self, selector='{__name__=~"DCGM_.+"}', over="1h"):
        """What it keeps itself: {labels with its external ones: {ms}}."""
        outside = self._document["global"]["external_labels"]
        return {tuple(sorted({**series["metric"], **outside}.items())):
                {round(float(at) * 1000) for at, _ in series["values"]}
                for series in self.query(f"{selector}[{over}]")}

    def sent(self):
        """Samples that were acknowledged, as it counts them, and those still to be sent."""
        own = self.own()
        # Attempts are counted, and those that had to be repeated.
        total = (metric_sum(own, "prometheus_remote_storage_samples_total")
                 - metric_sum(own, "prometheus_remote_storage_samples_retried_total"))
        lost = (metric_sum(own, "prometheus_remote_storage_samples_failed_total")
                + metric_sum(own, "prometheus_remote_storage_samples_dropped_total"))
        pending = metric_sum(own, "prometheus_remote_storage_samples_pending")
        return int(total), int(lost), int(pending)


class VictoriaMetrics(Program):
    def __init__(self, cwd, name="victoria-metrics"):
        need("victoria-metrics")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(name, ["victoria-metrics", f"-httpListenAddr=127.0.0.1:{self.port}",
                                f"-storageDataPath={pathlib.Path(cwd) / (name + '-data')}",
                                "-retentionPeriod=10y", "-search.latencyOffset=0s",
                                "-loggerLevel=WARN"],
                         cwd, ready=self.url + "/health")

    def flush(self):
        get(self.url + "/internal/force_flush")

    def query(self, expression, at=None):
        query = {"query": expression, "nocache": 1, **({"time": at} if at is not None else {})}
        status, text = get(self.url + "/api/v1/query", **query)
        if status != 200:
            raise RuntimeError(f"{self.name}: {expression}: {status} {text[:300]}")
        return json.loads(text)["data"]["result"]

    def own(self):
        return metrics(self.url + "/metrics")

    def import_text(self, lines):
        """Lines of the text format with times in milliseconds."""
        status, text = post(self.url + "/api/v1/import/prometheus", "\n".join(lines).encode())
        if status not in (200, 204):
            raise RuntimeError(f"{self.name} refuses an import: {status} {text[:300]}")


class Vmagent(Program):
    def __init__(self, cwd, targets, write_to, cluster="real", interval="1s", name="vmagent",
                 wrapper=()):
        need("vmagent")
        cwd = pathlib.Path(cwd)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        config = cwd / f"{name}.yml"
        config.write_text(f"global:\n  scrape_interval: {interval}\n  scrape_timeout: {interval}\n"
                          f"  external_labels:\n    cluster: {cluster}\n"
                          "scrape_configs:\n  - job_name: dcgm-exporter\n    static_configs:\n"
                          f"      - targets: {json.dumps(list(targets))}\n")
        super().__init__(name, [*wrapper, "vmagent", f"-httpListenAddr=127.0.0.1:{self.port}",
                                f"-promscrape.config={config}", f"-remoteWrite.url={write_to}",
                                f"-remoteWrite.tmpDataPath={cwd / (name + '-data')}",
                                "-remoteWrite.flushInterval=500ms", "-loggerLevel=WARN"],
                         cwd, ready=self.url + "/health")

    def own(self):
        return metrics(self.url + "/metrics")


class Pennyweight(Program):
    """`pennyweight serve` with a ledger file and a journal of its own.

    With `own_clock` its wall clock can be set (libfaketime); the monotonic one stays as it is, as
    it does when a clock is set.
    """

    def __init__(self, binary, cwd, sql_tool, name="pennyweight", address="127.0.0.1", serve=(),
                 more="", data=None, ledger=None, wrapper=(), resolution_ms=5000,
                 flush_ms=500, own_clock=True):
        need(binary)
        cwd = pathlib.Path(cwd)
        self.binary, self.sql_tool = binary, sql_tool
        self.resolution_ms, self.flush_ms = resolution_ms, flush_ms
        self.port = free_port()
        self.url = f"http://{address}:{self.port}"
        self.write_url = self.url + "/api/v1/write"
        self.ledger = pathlib.Path(ledger) if ledger else cwd / f"{name}.duckdb"
        self.data = pathlib.Path(data) if data else cwd / f"{name}-data"
        self.config = cwd / f"{name}.yaml"
        keys = {"listen": f"{address}:{self.port}", "data": self.data,
                "resolution": f"{resolution_ms}ms", "flush_every": f"{flush_ms}ms",
                "allocate_every": "1h", "trust_loopback": "true", **dict(serve)}
        self.config.write_text(
            f"store:\n  path: {self.ledger}\nserve:\n"
            + "".join(f"  {key}: {value}\n" for key, value in keys.items()) + more)
        self.clock = cwd / f"{name}.clock" if own_clock else None
        self.offset_s = 0
        env = {}
        if own_clock:
            library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
            need("faketime" if library is None else binary)
            self.set_clock(0)
            env = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                   "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                   # A sanitized build needs its runtime as the first library.
                   "ASAN_OPTIONS": "verify_asan_link_order=0"}
        super().__init__(name, [*wrapper, binary, "--config", self.config, "serve"], cwd,
                         ready=self.url + "/readyz", env=env)

    def own(self):
        return metrics(self.url + "/metrics")

    # Every sample that was taken is counted under one of these.
    OUTCOMES = ("samples", "duplicates", "other_source", "stale_markers", "blank_values",
                "out_of_range", "too_old", "in_future", "ignored", "unusable", "state_samples",
                "series_over_limit")

    def samples_taken(self):
        """All samples that were acknowledged, whatever became of them."""
        own = self.own()
        return int(sum(metric_sum(own, f"pennyweight_{what}_total") for what in self.OUTCOMES))

    def of_samples(self, what):
        """Samples that became `what`: duplicates, in_future, …"""
        return int(metric_sum(self.own(), f"pennyweight_{what}_total"))

    def set_clock(self, offset_s):
        self.offset_s = offset_s
        fresh = self.clock.with_suffix(".new")
        fresh.write_text(f"{offset_s:+d}\n")
        fresh.rename(self.clock)  # nobody reads half of it

    def settle(self):
        """All that was taken goes into the ledger: a device is silent that was not heard of for
        minutes, and these are let pass at once. Twice: a clock that jumps once was set, and only
        when nothing came before the next jump is there silence."""
        for _ in range(2):
            self.set_clock(self.offset_s + SILENCE_S)
            before = self.flushes()
            # A cycle may have begun before the clock was set.
            wait_until("what was taken is flushed", lambda: self.flushes() >= before + 3)

    def flushes(self):
        return metric_sum(self.own(), "pennyweight_flushes_total")

    def energy_is(self, probe):
        """Once it has ended: the ledger has the increase of the card's counter between the probe's
        readings, up to the last bucket that was over."""
        import ledger
        rows = [row for row in ledger.usages(self.sql_tool, self.ledger, probe["UUID"])
                if row["energy_used_millijoules"] is not None]
        got = sum(row["energy_used_millijoules"] for row in rows)
        until = max((row["at_ms"] + row["span_ms"] for row in rows), default=0)
        whole = probe["last_value"] - probe["first_value"]
        # What is missing is the share of the time that is missing, give or take a reading's noise.
        missing_ms = probe["last_ms"] - until
        share = missing_ms / (probe["last_ms"] - probe["first_ms"])
        return (missing_ms <= 2 * self.resolution_ms
                and abs(got - whole * (1 - share)) <= 2_000_000 and got <= whole)
