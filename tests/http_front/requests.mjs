// Requests that two readers of HTTP may read differently, from a seed: right ones with one or several
// of the ambiguities of which request smuggling is made.

export class Chance {
  constructor(seed) {
    this.state = (seed * 0x9e3779b1 + 0x85ebca6b) >>> 0 || 1;
  }
  next() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state;
  }
  below(count) {
    return this.next() % count;
  }
  of(list) {
    return list[this.next() % list.length];
  }
  is(percent) {
    return this.next() % 1000 < percent * 10;
  }
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const METHODS_WITH_BODY = ["POST", "PUT", "PATCH", "DELETE"];
const ODD_METHODS = ["get", "CONNECT", "TRACE", "G\tT", "PRI", "", "POST\x00", "PO-ST", "PURGE", "GET "];
const TARGETS = ["/f/1", "/f/2?a=b", "/f/3", "/f/%00", "//f/4", "/f/5#x"];
const ODD_TARGETS = ["*", "http://x/f/6", "http://other/f/6", "f/7", "/f/ 8", "/f/\x00", "/f/\xe9", "x:80",
  "/f/\x7f", "/f/\t", "https://x", "/f/{}", "/f/\\"];
const ODD_VERSIONS = ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/01.1",
  "HTTP/1.10", "", "HTTP/1.1\t", "ICE/1.0", "HTTP/ 1.1"];
const ODD_ENDS = ["\n", "\r", "\r\r\n", "\n\r", "\r\n\r\n", "\x0b\r\n", " \r\n", "\r\n ", "\x00\r\n"];
const BLANKS = ["", " ", "\t", "  ", " \t", "\x0b", "\x0c", "\xa0", "\r", "\x00"];
const ODD_LENGTHS = ["+5", "-5", "0x5", "5,5", "5, 5", "5;a", "05", "5.0", "5e0", "", "18446744073709551621",
  "999999999999999999", "5 5", "\x00", "５", "0", "00", "1", "6", "4", "9223372036854775813", "4294967301"];
const ODD_CODINGS = ["Chunked", "CHUNKED", "chunked, identity", "identity", "identity, chunked", "gzip, chunked",
  "xchunked", "chunkedx", "chunked, chunked", "chunked;q=1", "", "\"chunked\"", "chunked,", ",chunked",
  "chun\r\n ked", "\r\n chunked", "gzip", "chunk", "chunked\x00", "\x0bchunked", "trailers"];
const LENGTH_NAMES = ["Content-Length ", "Content_Length", "Content-Length\t", " Content-Length",
  "Content-Length\x00", "\x00Content-Length", "CONTENT-LENGTH", "Content-\r\n Length", "Content-Lengtħ",
  "X:\r\nContent-Length", "X: y\nContent-Length", "X: y\rContent-Length"];
const CODING_NAMES = ["Transfer-Encoding ", "Transfer_Encoding", "Transfer-Encoding\t", " Transfer-Encoding",
  "TRANSFER-ENCODING", "Transfer-Encoding\x00", "X: y\nTransfer-Encoding", "X: y\rTransfer-Encoding",
  "X:\r\n Transfer-Encoding"];
const ODD_FIELDS = ["Host: y", "Host:", "Host: x, y", "Host: x y", "Host: x/y", "Host: u@x", ": x", "A", "A b: c",
  "A:b:c", "A: \x00", "A: \xff", "A: \x7f", "A: \x08", "A(: b", "Expect: 100-continue", "Expect: x",
  "Connection: close", "Connection: keep-alive", "Connection: Content-Length", "Connection: close, x",
  "Connection: keep-alive, close", "Upgrade: h2c", "Connection: upgrade", "TE: trailers", "Trailer: Host",
  "Keep-Alive: timeout=1", "Proxy-Connection: close", "Content-Encoding: gzip", "X-Forwarded-For: 1.2.3.4",
  "\tA: b", " A: b", "A : b", "A\t: b", "\"A\": b", "A: b\r\n c", "A: b\r\n\tc", "A:\r\n", "A;: b"];
const ODD_SIZES = ["05", "0x5", "5 ", " 5", "5;a", "5;a=b", "5;a=\"b\"", "5;a=\"\n\"", "5;\n", "5\t", "-5", "+5",
  "00000000000000005", "FFFFFFFFFFFFFFFB", "10000000000000005", "5\x00", "", "g", "5,", "5\r", "5;a\r", "5.",
  "5;a=\"\r\n\"", "100000005", "5_"];
const ODD_LASTS = ["00", "0 ", "0;a", "0;a=b", "-0", "0x0", "000000000000000000", "", "0\t", "0\n", "+0"];
const TRAILERS = ["A: b\r\n", "Content-Length: 3\r\n", "Host: y\r\n", "A\r\n", " A: b\r\n", "A: b\n", "A : b\r\n",
  "Transfer-Encoding: chunked\r\n", "\x00\r\n", "A: b\r", "A:\r\n b\r\n"];
const DATA = ["hello", "GET /", "\r\n0\r\n", "0\r\n\r\n", "\n\n\n\n\n", "a\r\nb\r"];
const BYTES = ["\r", "\n", "\r\n", " ", "\t", "\x00", ":", ",", ";", "0", "5", "\x0b", "\x7f", "\x80", "\xff", "A"];

function end(chance, odds) {
  return chance.is(odds) ? chance.of(ODD_ENDS) : "\r\n";
}

function chunks(chance, odds) {
  let text = "";
  for (let left = chance.below(3); left > 0; --left) {
    const data = chance.of(DATA);
    const size = chance.is(odds) ? chance.of(ODD_SIZES) : data.length.toString(16);
    text += size + end(chance, odds) + data + end(chance, odds);
  }
  text += (chance.is(odds) ? chance.of(ODD_LASTS) : "0") + end(chance, odds);
  while (chance.is(odds)) text += chance.of(TRAILERS);
  return text + end(chance, odds);
}

function request(chance, odds) {
  const has = chance.below(4);  // 1: a length; 2: chunks
  const usual = has === 1 || has === 2 ? METHODS_WITH_BODY : METHODS;
  const method = chance.is(odds) ? chance.of(ODD_METHODS) : chance.of(chance.is(odds) ? METHODS : usual);
  const target = chance.is(odds) ? chance.of(ODD_TARGETS) : chance.of(TARGETS);
  const version = chance.is(odds) ? chance.of(ODD_VERSIONS) : "HTTP/1.1";
  let head = `${method} ${target}${version && " "}${version}${end(chance, odds)}`;
  const fields = chance.is(odds / 2) ? [] : ["Host: x"];
  let body = "";
  if (has === 1 || chance.is(odds)) {
    body = chance.of(DATA);
    const name = chance.is(odds) ? chance.of(LENGTH_NAMES) : "Content-Length";
    const value = chance.is(odds) ? chance.of(ODD_LENGTHS) : String(body.length);
    const blank = chance.is(odds) ? chance.of(BLANKS) : " ";
    fields.push(`${name}:${blank}${value}${chance.is(odds) ? chance.of(BLANKS) : ""}`);
    if (chance.is(odds / 2)) fields.push(chance.of([fields.at(-1), "Content-Length: 0"]));
  }
  if (has === 2 || chance.is(odds)) {
    body = chunks(chance, odds);
    const name = chance.is(odds) ? chance.of(CODING_NAMES) : "Transfer-Encoding";
    const value = chance.is(odds) ? chance.of(ODD_CODINGS) : "chunked";
    const blank = chance.is(odds) ? chance.of(BLANKS) : " ";
    fields.push(`${name}:${blank}${value}${chance.is(odds) ? chance.of(BLANKS) : ""}`);
    if (chance.is(odds / 2)) fields.push(fields.at(-1));
  }
  while (chance.is(odds)) fields.splice(chance.below(fields.length + 1), 0, chance.of(ODD_FIELDS));
  for (const field of fields) head += field + end(chance, odds / 2);
  return head + end(chance, odds / 2) + body;
}

function mutate(chance, text) {
  const at = chance.below(text.length + 1);
  switch (chance.below(4)) {
    case 0:
      return text.slice(0, at) + chance.of(BYTES) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + chance.of(BYTES) + text.slice(at + 1);
    default: {
      const length = 1 + chance.below(20);
      return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
    }
  }
}

// What one client sends on one connection, as bytes.
export function connection(chance) {
  const odds = chance.of([0, 2, 5, 10, 25]);
  let text = chance.is(1) ? chance.of(["\r\n", "\n", "\r\n\r\n", " "]) : "";
  for (let left = 1 + chance.below(3); left > 0; --left) text += request(chance, odds);
  while (chance.is(20)) text = mutate(chance, text);
  return Buffer.from(text || "\r", "latin1");
}
