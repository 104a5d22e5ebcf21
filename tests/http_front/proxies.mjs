// nginx and haproxy in front of the server, over connections that they keep and use again: whatever a client
// sends through them, the next client gets the answer to its own request (no request smuggling).
//
//   node proxies.mjs HTTP_FRONT [--cases 300] [--seed 1] [--nginx PROGRAM] [--haproxy PROGRAM]
//
// Exits with 77 where neither proxy is installed. A server that takes bodies for requests is tried first: if
// nothing were found with it, this test could find nothing.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Chance, connection } from "./requests.mjs";

const ANSWER_MS = 3000;
// Of clients whose requests may be without an end.
const PATIENCE_MS = 60;
// A proxy takes a client that ends its sending for one that is gone; so this one asks to be left.
const LAST = Buffer.from("GET /f/last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
const PLANTED_CASES_MAX = 500;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    nginx: { type: "string", default: "nginx" },
    haproxy: { type: "string", default: "haproxy" },
  },
});

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

const nginxConfig = (folder, port, backend) => `
daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream us { server 127.0.0.1:${backend}; keepalive 1; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port}; client_body_timeout 1s; client_header_timeout 1s; lingering_close off;
    location / {
      proxy_pass http://us; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_ignore_client_abort on; proxy_request_buffering off; proxy_read_timeout 10s;
    }
  }
}`;

const haproxyConfig = (_folder, port, backend) => `
global
  maxconn 64
  nbthread 1
defaults
  mode http
  timeout client 1s
  timeout server 10s
  timeout connect 5s
  timeout http-request 1s
  option http-buffer-request
frontend us
  bind 127.0.0.1:${port}
  default_backend us
backend us
  http-reuse always
  server us 127.0.0.1:${backend} pool-max-conn 1
`;

const PROXIES = {
  nginx: { config: nginxConfig, arguments: (file, folder) => ["-p", folder, "-c", file, "-e", `${folder}/error.log`] },
  haproxy: { config: haproxyConfig, arguments: (file) => ["-db", "-f", file] },
};

async function startProxy(name, backend) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `pennyweight-${name}-`));
  const port = await freePort();
  const file = path.join(folder, "configuration");
  fs.writeFileSync(file, PROXIES[name].config(folder, port, backend));
  const child = spawn(options[name], PROXIES[name].arguments(file, folder), { stdio: "ignore" });
  for (let i = 0; ; ++i) {
    const answer = await ask(port, canary(0));
    if (answer.includes("canary 0")) break;
    if (i === 100 || child.exitCode !== null) throw new Error(`${name} does not answer: ${JSON.stringify(answer)}`);
    await sleep(50);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    fs.rmSync(folder, { recursive: true });
  };
  return { port, stop };
}

const canary = (id) => Buffer.from(`GET /canary/${id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

// Everything that comes back until the proxy closes, or nothing more comes for a while.
function ask(port, sent, patienceMs = ANSWER_MS) {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.setTimeout(patienceMs);
    const over = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (more) => (text += more.latin1Slice()));
    for (const event of ["end", "error", "timeout"]) socket.on(event, over);
    socket.write(sent);
  });
}

const isRight = (answer, id) => answer.startsWith("HTTP/1.1 200 ") && answer.includes(`\ncanary ${id}\n`) &&
  answer.match(/HTTP\/1\.1 /g).length === 1;

// The number of cases after which the next client got another answer than its own.
async function campaign(name, backend, cases, findsAtMost) {
  const proxy = await startProxy(name, backend);
  const chance = new Chance(Number(options.seed));
  const answers = {};
  let found = 0;
  for (let id = 1; id <= cases && found < findsAtMost; ++id) {
    const sent = connection(chance);
    const first = await ask(proxy.port, Buffer.concat([sent, LAST]), PATIENCE_MS);
    const status = first.match(/^HTTP\/1\.[01] (\d)/)?.[1];
    answers[status ? `${status}xx` : "none"] = (answers[status ? `${status}xx` : "none"] ?? 0) + 1;
    const answer = await ask(proxy.port, canary(id));
    if (isRight(answer, id)) continue;
    ++found;
    if (findsAtMost > 1) {
      console.log(`${name}, case ${id}: ${JSON.stringify(sent.latin1Slice())}`);
      console.log(`  the next client got ${JSON.stringify(answer.slice(0, 400))}`);
    }
  }
  await proxy.stop();
  return { found, answers };
}

// A server that knows no bodies: what follows a head is the next request.
async function plantedServer() {
  const server = net.createServer((socket) => {
    let held = "";
    socket.on("error", () => {});
    socket.on("data", (more) => {
      held += more.latin1Slice();
      for (let end = held.indexOf("\r\n\r\n"); end >= 0; end = held.indexOf("\r\n\r\n")) {
        const id = held.match(/^GET \/canary\/(\d+)/)?.[1];
        const body = id ? `canary ${id}\n` : "another\n";
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        held = held.slice(end + 4);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const names = Object.keys(PROXIES).filter((name) => spawnSync(options[name], ["-v"]).status === 0);
if (names.length === 0) {
  console.log("neither nginx nor haproxy is installed; skipped");
  process.exit(77);
}
const ours = spawn(positionals[0], ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const port = Number((await once(ours.stdout, "data"))[0].toString());
const planted = await plantedServer();
const done = await Promise.all(names.map(async (name) => {
  const plant = await campaign(name, planted.address().port, PLANTED_CASES_MAX, 1);
  const { found, answers } = await campaign(name, port, Number(options.cases), 10);
  console.log(
    `${name}: ${options.cases} clients from seed ${options.seed}, first answers ${JSON.stringify(answers)}; ` +
      `${found} times the next client got another's answer; with a server that is wrong ${plant.found ? "" : "not "}found`,
  );
  return found === 0 && plant.found > 0;
}));
ours.stdin.end();
planted.close();
process.exit(done.every(Boolean) ? 0 : 1);
