"""remote_write bodies in plain Python, and a proxy that knows what was acknowledged.

The proxy stands between a sender and pennyweight, passes everything on as it is, and writes down
every body with the answer it got. So a test knows to the sample what was acknowledged, whoever is
killed meanwhile, and can say what must be in the ledger.
Sources: https://prometheus.io/docs/specs/prw/remote_write_spec/ and …_2_0/,
https://github.com/google/snappy/blob/main/format_description.txt, RFC 8878 (zstd)
"""
import http.client
import http.server
import struct
import threading

STALE = 0x7FF0000000000002


# ------------------------------------------------------------------------------ snappy

def _read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def unsnappy(data):
    size, at = _read_varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                extra = length - 59
                length = int.from_bytes(data[at:at + extra], "little")
                at += extra
            length += 1
            out += data[at:at + length]
            at += length
            continue
        if tag & 3 == 1:
            length = (tag >> 2 & 7) + 4
            offset = (tag >> 5) << 8 | data[at]
            at += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            length = (tag >> 2) + 1
            offset = int.from_bytes(data[at:at + width], "little")
            at += width
        begin = len(out) - offset
        if offset >= length:
            out += out[begin:begin + length]
        else:
            for k in range(length):
                out.append(out[begin + k])
    if len(out) != size:
        raise ValueError("snappy: wrong length")
    return bytes(out)


def snappy(data):
    """Literals alone: valid, and not small."""
    out = bytearray(_varint(len(data)))
    for begin in range(0, len(data), 65536):
        part = data[begin:begin + 65536]
        out += bytes([61 << 2]) + struct.pack("<H", len(part) - 1) + part
    return bytes(out)


def zstd(data):
    """One frame that states its length, of raw blocks: valid, and not small."""
    out = bytearray(struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)))
    parts = [data[begin:begin + 65536] for begin in range(0, len(data), 65536)] or [b""]
    for k, part in enumerate(parts):
        out += (len(part) << 3 | (k + 1 == len(parts))).to_bytes(3, "little") + part
    return bytes(out)


# ------------------------------------------------------------------------------ protobuf

def _varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(field, data):
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _fields(data):
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _read_varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            length, at = _read_varint(data, at)
            value, at = data[at:at + length], at + length
        elif kind == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise ValueError(f"wire type {kind}")
        yield tag >> 3, value


def _value(value):
    return struct.pack("<Q", STALE) if value is None else struct.pack("<d", value)


def _sample(at_ms, value):
    return (_varint(1 << 3 | 1) + _value(value) + _varint(2 << 3)
            + _varint(at_ms & 0xFFFFFFFFFFFFFFFF))


def request(series):
    """[(labels as a dict, [(ms, value), …]), …] as a WriteRequest; a value of None is the mark of a
    series' end."""
    request = bytearray()
    for labels, samples in series:
        one = bytearray()
        for name in sorted(labels):
            one += _bytes(1, _bytes(1, name.encode()) + _bytes(2, labels[name].encode()))
        for at_ms, value in samples:
            one += _bytes(2, _sample(at_ms, value))
        request += _bytes(1, bytes(one))
    return bytes(request)


def encode(series):
    """The same, compressed, as every sender of 1.0 does it."""
    return snappy(request(series))


def request_v2(series):
    """The same as an io.prometheus.write.v2.Request: each text is in its table of symbols once."""
    symbols, of_series = {"": 0}, bytearray()

    def reference(text):
        return symbols.setdefault(text, len(symbols))

    for labels, samples in series:
        refs = b"".join(_varint(reference(text)) for name in sorted(labels)
                        for text in (name, labels[name]))
        one = _bytes(1, refs) + b"".join(_bytes(2, _sample(*sample)) for sample in samples)
        # Metadata: a gauge, and its help.
        one += _bytes(5, _varint(1 << 3) + _varint(2) + _varint(3 << 3)
                      + _varint(reference("What it is.")))
        of_series += _bytes(5, one)
    return b"".join(_bytes(4, text.encode()) for text in symbols) + bytes(of_series)


def decode(body):
    """The same back: labels as a sorted tuple of pairs."""
    series = []
    for field, one in _fields(unsnappy(body)):
        if field != 1:
            continue  # metadata
        labels, samples = [], []
        for part, data in _fields(one):
            if part == 1:
                found = dict(_fields(data))
                labels.append((found.get(1, b"").decode(), found.get(2, b"").decode()))
            elif part == 2:
                found = dict(_fields(data))
                bits = found.get(1, b"\0" * 8)
                value = None if struct.unpack("<Q", bits)[0] == STALE \
                    else struct.unpack("<d", bits)[0]
                samples.append((found.get(2, 0), value))
        series.append((tuple(sorted(labels)), samples))
    return series


HEADERS = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
           "X-Prometheus-Remote-Write-Version": "0.1.0"}
HEADERS_V2 = {"Content-Encoding": "snappy",
              "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
              "X-Prometheus-Remote-Write-Version": "2.0.0"}


# ------------------------------------------------------------------------------ proxy

class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, answer = self.server.owner.pass_on(self.path, dict(self.headers), body)
        if status is None:  # nobody there: as the sender would see it
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers:
            if name.lower() in ("retry-after", "content-type"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if status != 204:
            self.wfile.write(answer)

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the sender was killed

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # a sender that was killed in the middle of a body


class Recorder:
    """A proxy to 127.0.0.1:port that records what was acknowledged.

    With `lose_every` each so manieth acknowledgement is kept from the sender, who then sends the
    same again.
    """

    def __init__(self, port, address="127.0.0.1", lose_every=0):
        self.target = ("127.0.0.1", port)
        self.lose_every, self.lost = lose_every, 0
        self.server = Server((address, 0), _Handler)
        self.server.owner = self
        self.url = "http://{}:{}/api/v1/write".format(*self.server.server_address)
        self.lock = threading.Lock()
        self.acknowledged = []  # bodies with 2xx, as often as they were
        self.unanswered = []    # bodies whose answer never came: may be taken, or not
        self.refused = {}       # status: times
        self.retry_after = set()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05},
                         daemon=True).start()

    def pass_on(self, path, headers, body):
        connection = http.client.HTTPConnection(*self.target, timeout=30)
        try:
            connection.request("POST", path, body, {
                name: value for name, value in headers.items()
                if name.lower() in ("content-encoding", "content-type", "user-agent")
                or name.lower().startswith("x-")})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            with self.lock:
                self.unanswered.append(body)
            return None, [], b""
        finally:
            connection.close()
        with self.lock:
            if 200 <= answer.status < 300:
                self.acknowledged.append(body)
                if self.lose_every and len(self.acknowledged) % self.lose_every == 0:
                    self.lost += 1
                    return None, [], b""
            else:
                self.refused[answer.status] = self.refused.get(answer.status, 0) + 1
                self.retry_after.add(answer.getheader("Retry-After"))
        return answer.status, answer.getheaders(), text

    def samples(self):
        """{labels: {ms: value}} of what was acknowledged, and how many with their repetitions."""
        with self.lock:
            bodies = list(self.acknowledged)
        return self._merged(bodies)

    def in_doubt(self):
        """As samples(), of bodies whose answer never came."""
        with self.lock:
            bodies = list(self.unanswered)
        return self._merged(bodies)

    @staticmethod
    def _merged(bodies):
        found, count = {}, 0
        for body in bodies:
            for labels, samples in decode(body):
                count += len(samples)
                kept = found.setdefault(labels, {})
                for at_ms, value in samples:
                    kept.setdefault(at_ms, value)
        return found, count

    def close(self):
        self.server.shutdown()
        self.server.server_close()
