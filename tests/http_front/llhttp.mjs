// The front of `serve` beside llhttp, the parser of Node: in whatever bytes both accept, they see the same
// requests. Where one takes a request for whole and the other waits or sees another, a proxy that reads like
// llhttp and our server would take different requests from one connection (request smuggling).
//
//   node llhttp.mjs HTTP_FRONT [--cases 20000] [--seed 1]
//
// Each hundredth case is also sent to the server itself, which must answer as many requests as were read.
import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { Chance, connection } from "./requests.mjs";

// Node keeps its parser to itself, and has named no other way to it.
process.removeAllListeners("warning");
process.on("warning", () => {});
const { HTTPParser, methods } = createRequire(import.meta.url)("_http_common");

const BATCH = 2000;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
});
const program = positionals[0];

const lower = (text) => text.toLowerCase();
// Blanks around a value are not part of it; some readers keep those at its end.
const trimmed = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");

// One parser for all cases: making one costs more than what it parses.
const parser = new HTTPParser();
let read, head, body, isBegun, keepsAlive, isUpgrade, early;
parser[HTTPParser.kOnMessageBegin | 0] = () => {
  isBegun = true;
  head = "";
  body = "";
};
function addFields(list) {
  for (let i = 0; i < list.length; i += 2) head += `${lower(list[i])}:${trimmed(list[i + 1])}\n`;
}
// Fields that come in several calls, and those of trailers, which are not ours to compare.
parser[HTTPParser.kOnHeaders | 0] = (list, url) => {
  if (keepsAlive !== undefined) return;
  early = { list: [...(early?.list ?? []), ...list], url: (early?.url ?? "") + (url ?? "") };
};
parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, list, method, url, _s, _m, upgrade, shouldKeepAlive) => {
  head = `${methods[method]} ${early?.url || url} ${major}.${minor}\n`;
  addFields(early ? [...early.list, ...(list ?? [])] : list);
  early = undefined;
  keepsAlive = shouldKeepAlive;
  isUpgrade = upgrade;
  return 0;
};
parser[HTTPParser.kOnBody | 0] = (piece, offset, length) => {
  body += offset === undefined ? piece.latin1Slice() : piece.latin1Slice(offset, offset + length);
};
parser[HTTPParser.kOnMessageComplete | 0] = () => {
  read.messages.push(`${head}\n${body}`);
  isBegun = false;
  if (!keepsAlive || isUpgrade) read.isOver = true;
  keepsAlive = undefined;
};

function readByLlhttp(sent) {
  read = { messages: [], isOver: false };
  isBegun = false;
  keepsAlive = early = undefined;
  isUpgrade = false;
  parser.initialize(HTTPParser.REQUEST, {}, 64 << 10, 0);
  const done = parser.execute(sent);
  const end = done instanceof Error ? "E" : read.isOver ? "X" : isBegun ? "I" : "C";
  return { messages: read.messages, end };
}

function readByUs(bytes) {
  const messages = [];
  let at = 0;
  while (bytes[at] === 0x4d) {
    const length = Number.parseInt(bytes.latin1Slice(at + 1, at + 9), 16);
    messages.push(bytes.latin1Slice(at + 9, at + 9 + length));
    at += 9 + length;
  }
  return { messages, end: String.fromCharCode(bytes[at]) };
}

// With its fields in the order of their names; those of one name stay as they came. A reader may group them.
function inOrder(message) {
  const end = message.indexOf("\n\n");
  const [line, ...fields] = message.slice(0, end).split("\n");
  const named = fields.map((field) => [field.slice(0, field.indexOf(":")), field]);
  named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${line}\n${named.map(([, field]) => field).join("\n")}${message.slice(end)}`;
}

// Nothing where both see the same, as far as neither refuses.
function difference(ours, theirs) {
  for (let i = 0; ; ++i) {
    const our = ours.messages[i];
    const their = theirs.messages[i];
    if (our !== undefined && their !== undefined) {
      if (our !== their && inOrder(our) !== inOrder(their)) return `message ${i + 1} differs`;
      continue;
    }
    if (our === undefined && their === undefined) {
      const ends = ours.end + theirs.end;
      return ends === "CI" || ends === "IC" ? "one waits for the rest of a message" : undefined;
    }
    const end = our === undefined ? ours.end : theirs.end;
    // Refused, or the connection was over for one of the two.
    return end === "E" || end === "X" ? undefined : `message ${i + 1} is whole for one of the two alone`;
  }
}

// Reads answers of http_front as they come.
class Front {
  constructor() {
    this.child = spawn(program, ["read"], { stdio: ["pipe", "pipe", "inherit"] });
    this.held = Buffer.alloc(0);
    this.child.stdout.on("data", (more) => {
      this.held = Buffer.concat([this.held, more]);
      this.arrived?.();
    });
    this.child.on("exit", (code) => {
      if (code !== 0) throw new Error(`http_front ended with ${code}`);
    });
  }
  async ask(cases) {
    const pieces = [];
    for (const sent of [...cases, Buffer.alloc(0)]) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(sent.length);
      pieces.push(length, sent);
    }
    this.child.stdin.write(Buffer.concat(pieces));
    const answers = [];
    let at = 0;
    while (answers.length < cases.length) {
      if (this.held.length - at < 4 || this.held.length - at - 4 < this.held.readUInt32LE(at)) {
        this.held = this.held.subarray(at);
        at = 0;
        await new Promise((resolve) => (this.arrived = resolve));
        continue;
      }
      const length = this.held.readUInt32LE(at);
      answers.push(readByUs(this.held.subarray(at + 4, at + 4 + length)));
      at += 4 + length;
    }
    this.held = this.held.subarray(at);
    return answers;
  }
}

// How many answers the server gives, and whether the last is a refusal.
async function answersOfServer(port, sent) {
  const socket = net.connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (more) => (text += more.latin1Slice()));
  socket.on("error", () => {});
  socket.end(sent);
  await once(socket, "close");
  return (text.match(/^HTTP\/1\.1 (?!100)\d\d\d /gm) ?? []).length;
}

const count = Number(options.cases);
const chance = new Chance(Number(options.seed));
const front = new Front();
const server = spawn(program, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const port = Number((await once(server.stdout, "data"))[0].toString());
const tally = { both: 0, ours: 0, theirs: 0, neither: 0, server: 0 };
let found = 0;

function report(sent, words, ours, theirs) {
  if (++found > 10) return;
  console.log(`${words}\n  sent ${JSON.stringify(sent.latin1Slice())}`);
  console.log(`  ours ${JSON.stringify(ours)}\n  theirs ${JSON.stringify(theirs)}`);
}

for (let done = 0; done < count; done += BATCH) {
  const cases = Array.from({ length: Math.min(BATCH, count - done) }, () => connection(chance));
  const answers = await front.ask(cases);
  for (const [i, sent] of cases.entries()) {
    const ours = answers[i];
    const theirs = readByLlhttp(sent);
    const who = ours.end !== "E" ? (theirs.end !== "E" ? "both" : "ours") : theirs.end !== "E" ? "theirs" : "neither";
    ++tally[who];
    const words = difference(ours, theirs);
    if (words) report(sent, words, ours, theirs);
    if (i % 100 !== 0) continue;
    ++tally.server;
    const answered = await answersOfServer(port, sent);
    // What is refused is answered; what is not whole is not, but where its body is too large.
    const want = ours.messages.length + (ours.end === "E" ? 1 : 0);
    if (answered !== want && !(ours.end === "I" && answered === want + 1)) report(sent, `the server answers ${answered} times, not ${want}`, ours, theirs);
  }
}
front.child.stdin.end();
server.stdin.end();
console.log(
  `${count} connections from seed ${options.seed}: ${tally.both} accepted by both, ${tally.ours} by us alone, ` +
    `${tally.theirs} by llhttp alone, ${tally.neither} by neither; ${tally.server} sent to the server; ` +
    `${found} read differently`,
);
process.exitCode = found > 0 || tally.both < count / 100 ? 1 : 0;
