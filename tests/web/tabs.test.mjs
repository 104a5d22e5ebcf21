// Many tabs at once, and one that goes back and forth: every tab gets its figures, although a browser
// opens no more than six connections to a server, and all of them share one stream of events.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {enter, go, isFirefox, launch, open, program, serve, settled, until} from './browser.mjs';

const TABS = 20;
const SETTLED_MS = 30_000; // of one page; without a stream for each tab it takes one second

const within = (promise, ms, what) =>
  Promise.race([promise, new Promise((_, refuse) => setTimeout(() => refuse(new Error(`${what} took more than ${ms} ms`)), ms).unref())]);

describe('tabs', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    // Kept pages are what browsers of users have, and what Playwright turns off.
    browser = await launch({ignoreDefaultArgs: ['--disable-back-forward-cache']});
    server = await serve('full');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  test(`${TABS} tabs of one user`, async (t) => {
    const first = await open(browser, {url: server.url});
    t.after(() => first.context().close());
    await enter(first, 'admin', server.people.admin);
    await go(first, '/home', 'Home');
    const tabs = [first];
    while (tabs.length < TABS) {
      const tab = await first.context().newPage();
      await within(go(tab, '/', 'Overview'), SETTLED_MS, `tab ${tabs.length + 1}`);
      tabs.push(tab);
    }
    // All of them are told of what changes: each hears the costs' version.
    for (const tab of [tabs[0], tabs.at(-1)]) await until(tab, () => document.documentElement.dataset.events === 'on');
    assert.deepEqual(await first.complaints(), []);
  });

  test('pages that the browser keeps hold no connection', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    for (let i = 0; i < 12; ++i) {
      await within(go(page, i % 2 === 0 ? '/explore' : '/'), SETTLED_MS, `load ${i + 1}`);
    }
    if (!isFirefox) { // over WebDriver a page that comes back from the cache never ends to load
      await page.goBack({waitUntil: 'commit', timeout: 3000}).catch(() => {}); // a kept page does not load again
      await settled(page, 'Explore');
    }
    await until(page, () => document.documentElement.dataset.events === 'on');
    assert.deepEqual(await page.complaints(), []);
  });

  test('a page whose script is lost, or whose server is slow, says so', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    await page.route(/\/assets\/app-/, (route) => route.abort());
    await page.goto('/');
    await page.getByRole('alert').getByText('A part of the page did not arrive').waitFor();
    await page.unroute(/\/assets\/app-/);
    let release;
    const held = new Promise((done) => (release = done));
    await page.route(/\/api\/v1\/session$/, async (route) => (await held, route.continue()));
    await page.getByRole('link', {name: 'Load it again'}).click();
    await page.getByRole('status').getByText('The server is slow to answer').waitFor();
    release();
    await settled(page, 'Overview');
  });

  test('a page asks once for what it shows', async (t) => {
    const page = await open(browser, {url: server.url});
    t.after(() => page.context().close());
    await enter(page, 'admin', server.people.admin);
    for (const [path, title] of [['/', 'Overview'], ['/explore', 'Explore'], ['/coverage', 'Coverage'], ['/workload', 'Workloads']]) {
      const asked = [];
      const note = (request) => request.url().includes('/api/v1/') && asked.push(new URL(request.url()).pathname + new URL(request.url()).search);
      await page.goto('about:blank');  // so that the page before asks for nothing more
      page.on('request', note);
      await go(page, path, title);
      await page.waitForTimeout(700);
      page.off('request', note);
      assert.deepEqual(asked.filter((one, i) => asked.indexOf(one) !== i), [], `${path} asks twice`);
    }
  });
});
