// A soak: one tab goes through the pages for as long as asked, within the application, and neither the page nor the
// server grows. By hand, since it takes long:
//
//   PENNYWEIGHT=build/release/pennyweight MINUTES=60 LEDGER=wide node tests/web/soak.mjs
//
// PAUSE_MS: how long it stays on each page, so that others can use the machine too. Each round visits every page of
// the menu. After the first two, which fill caches, a line a round: heap of the page
// after a collection, DOM nodes, listeners, resident memory of the server. It ends with 1 if the last third of the rounds
// has more than a tenth more of any of them at the least than the first, or the console complained.
import {execFileSync} from 'node:child_process';
import {isFirefox, launch, open, serve, settled, sign_in} from './browser.mjs';

const MINUTES = Number(process.env.MINUTES ?? 60);
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 0);
const GROWTH_MOST = 1.1;
const MIB = 1 << 20;

if (isFirefox) {
  console.log('skipped: only Chromium says how large its heap is');
  process.exit(77);
}
const server = await serve(process.env.LEDGER ?? 'large');
const browser = await launch();
const page = await open(browser, {url: server.url});
await sign_in(page, 'admin', server.people.admin);
await settled(page, 'Home');
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable');

const port = new URL(server.url).port;
function server_mib() {
  const [pid] = execFileSync('pgrep', ['-f', `serve --listen 127.0.0.1:${port}`], {encoding: 'utf8'}).trim().split('\n');
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', pid], {encoding: 'utf8'})) / 1024;
}

async function measure() {
  await session.send('HeapProfiler.collectGarbage');
  const {metrics} = await session.send('Performance.getMetrics');
  const of = (name) => metrics.find((one) => one.name === name).value;
  return {heap: of('JSHeapUsedSize') / MIB, nodes: of('Nodes'), listeners: of('JSEventListeners'), server: server_mib()};
}

const WARM_ROUNDS = 2;
const rounds = [];
const begun = Date.now();
const links = page.getByRole('navigation', {name: 'Pages'}).getByRole('link');
for (let round = 0; Date.now() - begun < MINUTES * 60_000 || rounds.length < 6; ++round) {
  for (let i = 0; i < await links.count(); ++i) {
    await links.nth(i).click();
    await settled(page);
    await page.waitForTimeout(PAUSE_MS);
  }
  await links.first().click(); // where it is measured
  await settled(page, 'Home');
  if (round < WARM_ROUNDS) continue;
  const now = await measure();
  rounds.push(now);
  console.log(`${((Date.now() - begun) / 60_000).toFixed(1)} min: heap ${now.heap.toFixed(1)} MiB, ${now.nodes} nodes, ${now.listeners} listeners, server ${now.server.toFixed(0)} MiB`);
}
const complaints = await page.complaints();
const third = Math.floor(rounds.length / 3);
const least = (some, name) => Math.min(...some.map((one) => one[name]));
let isGrown = false;
for (const name of ['heap', 'nodes', 'listeners', 'server']) {
  const [first, last] = [least(rounds.slice(0, third), name), least(rounds.slice(-third), name)];
  const grows = last > first * GROWTH_MOST;
  isGrown ||= grows;
  console.log(`${name}: ${first.toFixed(1)} in the first third of ${rounds.length} rounds, ${last.toFixed(1)} in the last${grows ? ': grows' : ''}`);
}
if (complaints.length > 0) console.log(complaints.slice(0, 10).join('\n'));
await browser.close();
await server.stop();
process.exit(isGrown || complaints.length > 0 ? 1 : 0);
