// Pictures of every page in both themes, for docs/guide/dashboard.md: docs/img/dashboard/PAGE-THEME.png,
// and two of a phone. Written on demand, not by tests:
//
//   script/demo && LEDGER=demo PAGES_MONTH=2017-10 PENNYWEIGHT=build/release/pennyweight node tests/web/screenshots.mjs [FOLDER]
//   PICTURES=live,fleet node tests/web/screenshots.mjs
//
// Each is 1440 × 900 in 256 colours at most (Debian's pngquant), so that it stays below 150 kB.
// PICTURES=fleet,live: only these. Without a program the stand-in's made-up figures are shown, which
// is how the fleet's pictures come about: nothing watches the clusters of the demonstration.
// LEDGER: one of serve_for_pages.py.
// PAGES_URL and PAGES_USER, PAGES_PASSWORD: a server that runs already, say that of script/demo.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {launch, open, program, root, serve, settled, sign_in, THEMES} from './browser.mjs';

const BYTES_MAX = 150_000;
const PICTURES = [
  ['home', '/home', 'Home'], ['runs', '/home?view=runs', 'Home'], ['team', '/home?view=team', 'Home'], ['fleet-health', '/home?view=fleet', 'Home'],
  ['clients', '/home?view=clients', 'Home'], ['start', '/home?view=start', 'Home'], ['why', '/explain?by=kind&key=used', 'Why'], ['activity', '/activity', 'Activity'],
  ['changes', '/compare', 'Compare'], ['budgets', '/budgets', 'Budgets'], ['forecast', '/forecast', 'Forecast'], ['savings', '/savings', 'Savings'], ['catalog', '/savings?tab=catalog', 'Savings'],
  ['anomalies', '/anomalies', 'Anomalies'], ['what-if', '/what-if', 'What if'], ['approvals', '/approvals', 'Approvals'], ['alerts', '/alerts', 'Alerts'],
  ['overview', '/', 'Overview'], ['explore', '/explore?by=team', 'Explore'], ['workloads', '/workload', 'Workloads'],
  ['coverage', '/coverage', 'Coverage'], ['live', '/live', 'Live'], ['fleet', '/fleet', 'Fleet'],
  ['bills', '/bills', 'Bills'], ['imports', '/bills?tab=imports', 'Bills'], ['periods', '/bills?tab=periods', 'Bills'],
  ['invoices', '/invoices', 'Invoices'], ['drafts', '/invoices?tab=preview', 'Invoices'],
  ['policies', '/policies', 'Policies'], ['compare', '/policies?tab=compare', 'Policies'],
  ['units', '/units', 'Unit costs'], ['guardrails', '/guardrails', 'Guardrails'], ['limits', '/limits', 'Limits'], ['compliance', '/compliance', 'Compliance'],
  ['admin', '/admin', 'Admin'], ['audit', '/admin?tab=audit', 'Admin'], ['account', '/account', 'Account'],
];
// What a client sees, of the team of the demonstration that has invoices.
const OF_CLIENTS = [['statement', '/home?view=statement', 'Home']];
const PHONE = ['overview', 'fleet', 'coverage'];
const ONLY = (process.env.PICTURES ?? '').split(',').filter(Boolean); // names of pages; none: all

const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs/img/dashboard'));
fs.mkdirSync(folder, {recursive: true});
const server = process.env.PAGES_URL
  ? {url: process.env.PAGES_URL, people: {[process.env.PAGES_USER]: process.env.PAGES_PASSWORD}, stop: async () => {}}
  : await serve(process.env.LEDGER ?? 'full');
const browser = await launch();
const [[name, password]] = Object.entries(server.people);
const month = process.env.PAGES_MONTH;

async function picture(page, called, address, title) {
  const at = new URL(address, server.url);
  if (month) at.searchParams.set('month', month);
  await page.goto(at.pathname + at.search);
  await settled(page, title);
  await page.waitForTimeout(700);
  const file = path.join(folder, `${called}.png`);
  await page.screenshot({path: file});
  execFileSync('pngquant', ['--force', '--strip', '--skip-if-larger', '--output', file, '256', file]);
  const bytes = fs.statSync(file).size;
  console.log(`${String(bytes).padStart(7)}  ${called}`);
  if (bytes > BYTES_MAX) throw new Error(`${called}.png has ${bytes} bytes`);
}

const asked_for = ([called]) => ONLY.length === 0 || ONLY.includes(called);
const wanted = PICTURES.filter(asked_for);
for (const theme of THEMES) {
  const page = await open(browser, {theme, url: server.url});
  await page.goto('/signin');
  await page.locator('input[type=password]').waitFor({timeout: 10_000}).catch(() => {});
  if (program && ONLY.length === 0) await picture(page, `signin-${theme}`, '/signin');
  await sign_in(page, name, password);
  for (const [called, address, title] of wanted) await picture(page, `${called}-${theme}`, address, title);
  await page.context().close();
  if (server.people['client-web']) {
    const client = await open(browser, {theme, url: server.url});
    await sign_in(client, 'client-web', server.people['client-web']);
    for (const [called, address, title] of OF_CLIENTS.filter(asked_for)) await picture(client, `${called}-${theme}`, address, title);
    await client.context().close();
  }
  const phone = await open(browser, {theme, size: 'phone', url: server.url});
  await sign_in(phone, name, password);
  for (const [called, address, title] of wanted) {
    if (PHONE.includes(called)) await picture(phone, `${called}-phone-${theme}`, address, title);
  }
  await phone.context().close();
}
await browser.close();
await server.stop();
process.exit(0);
