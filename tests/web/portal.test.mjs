// A client's own pages: what they are charged and their invoices, and nothing of others, of fleets, of prices or of
// margins, in what is shown and in what is asked for.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {address, axe, axe_in_themes, enter, go, isFirefox, launch, open, PAGES, program, serve, settled, too_wide} from './browser.mjs';

const OWN = /^\/api\/v1\/(session|statements(\/\d{4}-\d\d)?|invoices(\/[\w-]+)?|views|sessions|tokens|users\/[\w-]+)$/;

describe('portal', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve();
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function client(t, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    const asked = [];
    page.on('request', (request) => {
      const {pathname} = new URL(request.url());
      if (pathname.startsWith('/api/')) asked.push(pathname);
    });
    await enter(page, 'client-web', server.people['client-web']);
    return {page, asked};
  }

  test('it shows what is charged, by part, and the invoices', async (t) => {
    const {page} = await client(t);
    await go(page, '/', 'Home'); // who may see nothing else begins there
    const api = async (path) => (await page.request.get(`/api/v1${path}`)).json();
    for (const [month, state] of [['2026-03', 'not invoiced yet'], ['2026-02', 'invoiced']]) {
      await go(page, `/home?month=${month}`, 'Home');
      const {tables: [table]} = await api(`/statements/${month}`);
      const shown = page.locator('.figure', {hasText: 'Charged'}).locator('.num').first();
      assert.equal((await shown.getAttribute('title')).split(' ')[0], table.total.amount, month);
      await page.locator('.figure', {hasText: 'Charged'}).getByText(state, {exact: true}).waitFor();
      const rows = page.getByRole('region', {name: table.title}).locator('tbody tr');
      assert.equal(await rows.count(), table.rows.length);
    }
    await page.getByRole('region', {name: 'Invoices', exact: true}).locator('tbody a').first().click();
    await settled(page, 'NW-2026-02');
    await page.locator('.paper').waitFor();
    assert.doesNotMatch(await page.locator('.paper').evaluate((one) => one.firstElementChild.shadowRoot.textContent), /econciliation|vision/);
    assert.equal(await page.getByRole('button', {name: "Books'"}).count(), 0);
    assert.deepEqual(await page.complaints(), []);
  });

  test('it shows and asks for nothing else', async (t) => {
    const {page, asked} = await client(t);
    await go(page, '/home', 'Home');
    assert.deepEqual(await page.getByRole('navigation', {name: 'Pages'}).getByRole('link').allInnerTexts(), ['Home', 'Invoices']);
    for (const [at] of PAGES.filter(([path]) => !path.includes('?'))) {
      await go(page, at);
      await settled(page);
      const text = await page.locator('body').innerText();
      assert.doesNotMatch(text, /vision|gpu-0\d|margin|provider/i, at);
      const path = new URL(at, server.url).pathname;
      if (!['/home', '/', '/invoices', '/account'].includes(path)) assert.match(text, /You may not see this page/, at);
    }
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByRole('combobox').or(page.getByRole('dialog').getByRole('textbox')).first().fill('vision');
    await page.waitForTimeout(400);
    assert.doesNotMatch((await page.getByRole('dialog').innerText()).replace('vision', ''), /vision/);
    assert.deepEqual([...new Set(asked)].filter((path) => !OWN.test(path)), []);
    assert.deepEqual(await page.complaints(), []);
  });

  test('on a phone, in both themes, by keys', async (t) => {
    const {page} = await client(t, {size: 'phone'});
    await go(page, '/home?month=2026-02', 'Home');
    assert.ok(await too_wide(page) <= 0);
    assert.deepEqual(isFirefox ? await axe(page) : await axe_in_themes(page), []);
    const link = page.getByRole('region', {name: 'Invoices', exact: true}).locator('tbody a').first();
    for (let i = 0; i < 60 && !(await link.evaluate((one) => one === document.activeElement)); ++i) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await settled(page, 'NW-2026-02');
    assert.match(await address(page), /number=NW-2026-02/);
  });
});
