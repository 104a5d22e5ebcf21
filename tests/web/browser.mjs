// What the tests of the dashboard share: a server, a browser, pages that are watched.
//
//   PENNYWEIGHT   the program; without it the stand-in web/dev/mock.mjs answers
//   PAGES         "source": the pages of this tree in front of the program, so that a change needs no build of it
//   CACHE         a folder in which the ledger is made once for all tests
//   BROWSER       "firefox": the same tests in Firefox, by WebDriver BiDi, which Debian's Firefox speaks
//   CHROMIUM, FIREFOX   where the browser is; without it a test ends with 77, skipped
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const tops = createRequire(path.join(root, 'package.json'));
const {chromium, _bidiFirefox} = tops('playwright-core');
const axe_source = fs.readFileSync(tops.resolve('axe-core/axe.min.js'), 'utf8');

export const SIZES = {phone: {width: 390, height: 844}, desk: {width: 1440, height: 900}};
export const THEMES = ['light', 'dark'];
export const program = process.env.PENNYWEIGHT || null;
// SLOW=4: four times the patience, on a machine that others keep busy.
const SLOW = Number(process.env.SLOW ?? 1);
export const isFirefox = process.env.BROWSER === 'firefox';
const executable = isFirefox ? process.env.FIREFOX || '/usr/bin/firefox-esr' : process.env.CHROMIUM || '/usr/bin/chromium';

if (!fs.existsSync(executable)) {
  console.log(`skipped: ${executable} is not installed`);
  process.exit(77);
}

// Every page of the registry with its title, and their further tabs.
const registry = fs.readFileSync(path.join(root, 'web/src/pages/registry.ts'), 'utf8');
export const PAGES = [
  ...[...registry.matchAll(/\{ path: "([^"]+)", title: "([^"]+)"/g)].map(([, address, title]) => [address, title]),
  ['/home?view=runs', 'Home'], ['/home?view=team', 'Home'], ['/home?view=fleet', 'Home'], ['/home?view=clients', 'Home'], ['/home?view=start', 'Home'],
  ['/activity?as=usage&by=node', 'Activity'],
  ['/fleet?view=list', 'Fleet'],
  ['/bills?tab=imports', 'Bills'], ['/bills?tab=restatements', 'Bills'],
  ['/bills?tab=runs', 'Bills'], ['/bills?tab=periods', 'Bills'],
  ['/invoices?tab=preview', 'Invoices'],
  ['/savings?tab=decided', 'Savings'], ['/savings?tab=catalog', 'Savings'],
  ['/policies?tab=compare', 'Policies'],
  ['/admin?tab=tokens', 'Admin'], ['/admin?tab=roles', 'Admin'], ['/admin?tab=audit', 'Admin'],
];

async function free_port() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((done) => probe.once('listening', done));
  const {port} = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

// The pages of this tree in front of the program at `url`.
async function pages_before(url) {
  const pages = spawn(process.execPath, [path.join(root, 'web/dev/mock.mjs'), '--port', '0', '--api', url], {stdio: ['ignore', 'pipe', 'inherit']});
  for await (const line of readline.createInterface({input: pages.stdout})) return {url: line.trim(), end: () => pages.kill()};
  throw new Error('the pages ended before they began');
}

// Test files of one process share a browser and the servers of ledgers that they only read (together.mjs); then
// close() and stop() leave both to end_shared().
const shared = {is: false, browsers: new Map(), servers: new Map()};
export const share = () => void (shared.is = true);
export async function end_shared() {
  for (const browser of await Promise.all(shared.browsers.values())) await browser.close();
  for (const server of await Promise.all(shared.servers.values())) await server.stop();
}
const kept = (kind, key, make) => (kind.has(key) || kind.set(key, make()), kind.get(key));

// {url, people, stop}. `what` is one of serve_for_pages.py; `own`: nobody else sees what the tests change.
export async function serve(what = 'full', {own = false} = {}) {
  if (!shared.is || own) return begin_server(what);
  return {...await kept(shared.servers, what, () => begin_server(what)), stop: () => {}};
}

async function begin_server(what) {
  const server = await serve_program(what);
  if (!program || process.env.PAGES !== 'source') return server;
  const pages = await pages_before(server.url);
  return {...server, url: pages.url, stop: () => (pages.end(), server.stop())};
}

async function serve_program(what) {
  let command;
  if (program) {
    const cache = process.env.CACHE || path.join(os.tmpdir(), `pennyweight-web-${process.getuid()}`);
    command = ['python3', path.join(root, 'tests/web/serve_for_pages.py'), program, root, cache, what];
  } else {
    const port = String(await free_port());
    command = [process.execPath, path.join(root, 'web/dev/mock.mjs'), '--port', port, '--scenario', what === 'empty' ? 'empty' : 'demo'];
  }
  const child = spawn(command[0], command.slice(1), {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = readline.createInterface({input: child.stdout});
  const stop = () => new Promise((done) => {
    child.once('exit', done);
    if (child.exitCode !== null) return done();
    child.stdin.end();
    if (!program) child.kill();
  });
  for await (const line of lines) {
    if (line.startsWith('{"url"')) return {...JSON.parse(line), stop};
    if (line.startsWith('http')) return {url: line.trim(), people: {ana: 'any password'}, stop};
    console.log(line);
  }
  throw new Error('the server ended before it began');
}

const FIREFOX_STARTS_MS = 120_000;
// Firefox looks for nothing outside this machine.
export const QUIET = {
  'ui.prefersReducedMotion': 1, 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,', 'extensions.getAddons.cache.enabled': false, 'toolkit.telemetry.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false, 'app.update.disabledForTesting': true, 'browser.shell.checkDefaultBrowser': false,
  'app.normandy.enabled': false, 'nimbus.rollouts.enabled': false,
};

// `more` is of Chromium alone.
export async function launch(more = {}) {
  if (!shared.is) return begin_browser(more);
  const browser = await kept(shared.browsers, isFirefox ? '' : JSON.stringify(more), () => begin_browser(more));
  return {newContext: (options) => browser.newContext(options), close: () => {}};
}

async function begin_browser(more) {
  if (isFirefox) return _bidiFirefox.launch({executablePath: executable, timeout: FIREFOX_STARTS_MS * SLOW, firefoxUserPrefs: QUIET});
  return chromium.launch({executablePath: executable, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...more});
}

// A page, and all that it complains of: what it throws, what its console says in red, what the
// content security policy stopped, and requests that failed.
export async function open(browser, {size = 'desk', theme = 'light', url}) {
  const context = await browser.newContext({viewport: SIZES[size], colorScheme: theme, baseURL: url, reducedMotion: 'reduce'});
  context.setDefaultTimeout(30_000 * SLOW);
  const page = await context.newPage();
  const complaints = [];
  await page.addInitScript((tellsThrown) => {
    window.stopped = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      window.stopped.push(`${event.violatedDirective} stopped ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`));
    window.asking = 0;
    const {fetch} = window;
    window.fetch = async (...asked) => {
      ++window.asking;
      const over = () => setTimeout(() => --window.asking);
      try {
        const answer = await fetch(...asked);
        answer.clone().arrayBuffer().then(over, over);
        return answer;
      } catch (error) {
        over();
        throw error;
      }
    };
    if (!tellsThrown) return;
    // WebDriver says nothing of what a page throws, but of what its console says.
    addEventListener('error', (event) => event.error && console.error(`threw ${event.error}`));
    addEventListener('unhandledrejection', (event) => console.error(`threw ${event.reason}`));
  }, isFirefox);
  page.on('pageerror', (error) => complaints.push(`threw ${error.message}`));
  page.on('console', (message) => {
    // A refused request is reported in red too; those that a test wants are listed by status.
    if (message.type() === 'error' && !/status of (401|404|409|422|428)/.test(message.text())) complaints.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} ${response.url()}`);
  });
  // For the message of a test that waits in vain; a request that goes with its page is no failure.
  page.failed = [];
  page.pending = new Set();
  page.on('request', (request) => page.pending.add(request.url()));
  page.on('requestfinished', (request) => page.pending.delete(request.url()));
  page.on('requestfailed', (request) => {
    page.pending.delete(request.url());
    page.failed.push(`${request.url()}: ${request.failure()?.errorText}`);
  });
  page.complaints = async () => [...complaints, ...(await page.evaluate(() => window.stopped ?? []))];
  return page;
}

export async function sign_in(page, name, password) {
  await page.goto('/signin');
  const field = page.getByLabel(/^(user|name)/i).first();
  const pages = page.locator('nav[aria-label="Pages"]'); // on a phone it is out of sight
  await field.or(pages).first().waitFor({state: 'attached', timeout: 30_000 * SLOW});
  if (await pages.count() > 0) return; // somebody is signed in already
  await field.fill(name);
  await page.locator('input[type=password]').first().fill(password);
  await page.locator('button[type=submit]').first().click();
  await pages.waitFor({state: 'attached', timeout: 30_000 * SLOW});
}

// Signed in as `sign_in` does it, without the page: what a test needs that begins at an address of its own.
export async function enter(page, name, password) {
  const answer = await page.request.post('/api/v1/session', {data: {user: name, password}});
  if (answer.status() !== 200) throw new Error(`${name} can't sign in: ${answer.status()} ${await answer.text()}`);
}

// Loads an address, and waits until what it asks for is there. Over WebDriver a load may be told of while the
// document before is still the page's.
export async function go(page, path, title) {
  if (isFirefox) await page.evaluate(() => void (window.isBefore = true));
  await page.goto(path);
  if (isFirefox) await until(page, () => !window.isBefore);
  await settled(page, title);
}

// The same by a link inside the page: no load.
export async function follow(page, path, title) {
  await page.evaluate((to) => {
    const link = Object.assign(document.createElement('a'), {href: to});
    document.body.append(link);
    link.click();
    link.remove();
    return new Promise((done) => setTimeout(done, 20)); // until it is drawn
  }, path);
  await settled(page, title);
}

// Where the page is; page.url() of Firefox does not follow the page's own steps through its history.
export const address = (page) => page.evaluate(() => location.href);

// What a page says, for the message of a test that waited in vain.
const said = async (page) => {
  const text = await page.evaluate(() => document.body.innerText);
  return `at ${await address(page)} the page says\n${text.slice(0, 1500)}\nunanswered: ${[...page.pending ?? []].join(' ')}
failed: ${(page.failed ?? []).slice(-5).join(' ')}\ncomplaints: ${(await page.complaints?.() ?? []).join(' ')}`;
};

// Asked again and again from outside: a page whose policy forbids eval can't wait for a function. A document that
// goes away meanwhile has no answer, and the next one is asked.
export async function until(page, holds, argument, wait_ms = 30_000 * SLOW) {
  const end = Date.now() + wait_ms;
  const asked = () => page.evaluate(holds, argument).catch((error) => {
    if (!/context was destroyed|because of a navigation|no such frame|DiscardedBrowsingContext/i.test(error.message)) throw error;
    return false;
  });
  while (!(await asked())) {
    if (Date.now() > end) throw new Error(`waited ${wait_ms} ms in vain for ${holds}; ${await said(page)}`);
    await page.waitForTimeout(50);
  }
}

// The server at `url` by a cable that can be pulled out: {url, pull, plug, end}.
export async function cable(url) {
  const sockets = new Set();
  let isOut = false;
  const between = net.createServer((client) => {
    if (isOut) return client.destroy();
    const server = net.connect(Number(new URL(url).port), '127.0.0.1');
    for (const [one, other] of [[client, server], [server, client]]) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => {}).on('close', () => (sockets.delete(one), other.destroy()));
    }
  }).listen(0, '127.0.0.1');
  await new Promise((done) => between.once('listening', done));
  const cut = () => sockets.forEach((one) => one.destroy());
  return {
    url: `http://127.0.0.1:${between.address().port}`,
    pull: () => (isOut = true, cut()),
    plug: () => (isOut = false),
    end: () => (between.close(), cut()),
  };
}

// As on paper. Firefox has no switch for it over WebDriver, so the rules of its style sheets for print become those of
// the screen.
export async function on_paper(page, isPaper) {
  if (!isFirefox) return page.emulateMedia({media: isPaper ? 'print' : 'screen'});
  return page.evaluate(([from, to]) => {
    const change = (rules) => {
      for (const rule of rules) {
        if (rule.media?.mediaText === from) rule.media.mediaText = to;
        if (rule.cssRules) change(rule.cssRules);
      }
    };
    for (const sheet of document.styleSheets) change(sheet.cssRules);
  }, isPaper ? ['print', 'all'] : ['all', 'print']);
}

// Until what the page asks for is there: no skeleton, nothing dimmed, and no answer that it waits for, as far as it
// does not ask all the time.
export const CALM_MS = 60;
const ASKING_MS = 5000;
export async function settled(page, title) {
  if (title) {
    await page.locator('h1', {hasText: title}).first().waitFor({timeout: 30_000 * SLOW}).catch(async (error) => {
      throw new Error(`${error.message}; ${await said(page)}`);
    });
  }
  const isCalm = () => !document.querySelector('.skeleton, .skeleton-lines, .is-loading');
  const end = Date.now() + ASKING_MS * SLOW;
  for (;;) {
    await until(page, isCalm);
    await page.waitForTimeout(CALM_MS);
    const isAsking = await page.evaluate(() => window.asking > 0).catch(() => true);
    if ((!isAsking || Date.now() > end) && (await page.evaluate(isCalm).catch(() => false))) return;
  }
}

// How far the page is wider than the window; tables and texts scroll inside themselves.
export const too_wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

// What axe finds that is serious or critical, as lines.
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];
// What axe reads of the style sheet beforehand, a third of its time, serves the rule of locked orientations (and of media,
// which no page has). There is one sheet for all pages, so the first look of a tab is enough.
// Rows after the fifteenth of a table are not looked at, since they are like those before; and rules whose findings are
// never serious are not asked; AXE=all looks at every row and asks all.
const has_read_styles = new WeakSet();
const GRAVE = process.env.AXE === 'all' ? ['minor', 'moderate', 'serious', 'critical'] : ['serious', 'critical'];
const LEFT_OUT = process.env.AXE === 'all' ? [] : [['tbody tr:nth-child(n+16)']];
export async function axe(page, rules = RULES) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe_source + '; 0');
  const preload = rules === RULES && !has_read_styles.has(page);
  if (preload) has_read_styles.add(page);
  const options = {resultTypes: ['violations'], runOnly: rules, preload};
  const violations = await page.evaluate(async ([options, grave, exclude]) => {
    const light = window.axe._audit.rules.filter(({impact}) => impact && !grave.includes(impact)).map(({id}) => [id, {enabled: false}]);
    return (await window.axe.run({include: [['html']], exclude}, {...options, rules: Object.fromEntries(light)})).violations;
  }, [options, GRAVE, LEFT_OUT]);
  return violations
    .filter(({impact}) => GRAVE.includes(impact))
    .map(({id, help, nodes}) => `${id}: ${help}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 160)).join(' | ')}`);
}

// The same in the light theme and in the dark one, which differ in colours alone. In Chromium only.
export async function axe_in_themes(page) {
  const found = await axe(page);
  await page.emulateMedia({colorScheme: 'dark'});
  await settled(page);
  found.push(...(await axe(page, RULES_OF_COLOURS)).map((line) => `dark: ${line}`));
  await page.emulateMedia({colorScheme: 'light'});
  return found;
}
