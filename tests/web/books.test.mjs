// What leaves the house and what is final: a customer's invoice, drafts, closing a month; and figures of what
// runs where no source reports it.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, enter, go, launch, on_paper, open, program, serve, too_wide} from './browser.mjs';

const cents = (text) => BigInt(text.replace('−', '-').replace(/[^\d.-]/g, '').replace('.', ''));
const now = () => new Date().toISOString().slice(0, 7);

describe('the books', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('running');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function somebody(t, name = 'finance-web', more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, name, server.people[name]);
    return page;
  }

  test("a customer's invoice says nothing of the company, the books' view does by choice", async (t) => {
    const page = await somebody(t);
    await go(page, '/invoices?number=NW-2026-02-0001', 'NW-2026-02-0001');
    const paper = page.locator('.paper .paper-body');
    await paper.getByText('Northwind Compute Ltd').first().waitFor();
    assert.doesNotMatch(await paper.innerText(), /Reconciliation|not charged|other documents/i);
    for (const format of ['HTML', 'PDF', 'CSV', 'JSON']) {
      const address = await page.getByRole('link', {name: format, exact: true}).getAttribute('href');
      assert.doesNotMatch(address, /view=/);
      const text = await (await page.request.get(address)).text();
      assert.doesNotMatch(text, /Reconciliation|other documents|"reconciliation"/i, format);
    }
    // What is printed is what is shown, without the frame around it.
    await on_paper(page, true);
    assert.ok(!(await page.locator('.side').isVisible()) && !(await page.locator('.top').isVisible()));
    assert.doesNotMatch(await paper.innerText(), /Reconciliation/);
    await on_paper(page, false);
    await page.getByRole('button', {name: "Books'"}).click();
    await paper.getByText('Reconciliation with the provider').waitFor();
    await page.getByText('It is not for customers').waitFor();
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(await page.complaints(), []);

    const lead = await somebody(t, 'team-lead-web');
    const answer = await lead.request.get('/api/v1/invoices/NW-2026-02-0001?format=html&view=books');
    assert.equal(answer.status(), 403);
  });

  test('the lines of a draft add up to its total, tax included', async (t) => {
    const page = await somebody(t);
    await go(page, '/invoices?tab=preview&month=2026-03', 'Invoices');
    const draft = page.locator('.drafts > li', {hasText: 'nlp'}).first();
    await draft.getByRole('button').first().click();
    const rows = await draft.locator('tbody tr:not(.section-row)').evaluateAll((all) => all.map((row) => row.cells[3].textContent));
    const feet = Object.fromEntries(await draft.locator('tfoot tr').evaluateAll((all) => all.map((row) => [row.cells[0].textContent, row.cells[1].textContent])));
    const [net, tax, total] = ['Net', 'VAT 19%', 'Total USD'].map((name) => feet[name]);
    assert.ok(rows.length > 0 && net && tax && total, JSON.stringify(feet));
    assert.equal(rows.reduce((sum, text) => sum + cents(text), 0n), cents(net), `${rows} = ${net}`);
    assert.equal(cents(net) + cents(tax), cents(total), `${net} + ${tax} = ${total}`);
    assert.match(total, /^\d{1,3}(,\d{3})+\.\d\d$/, 'thousands have a separator');
    assert.ok((await draft.locator('.draft-head').innerText()).includes(total), 'the head has the same total');
    assert.deepEqual(await axe(page), []);
  });

  test('a month that still runs is closed only with a reason of its own', async (t) => {
    const page = await somebody(t);
    await go(page, '/bills?tab=periods', 'Bills');
    const month = await page.evaluate((text) => new Date(`${text}-01T00:00:00Z`).toLocaleString('en', {month: 'long', year: 'numeric', timeZone: 'UTC'}), now());
    await page.getByRole('button', {name: `Close ${month}`}).click();
    const dialog = page.locator('dialog[open]');
    await dialog.getByText('The month is not over').waitFor();
    await dialog.getByLabel('Reason').fill('because');
    await dialog.getByLabel(/can't be opened again/).check();
    const close = dialog.getByRole('button', {name: 'Close the month'});
    assert.ok(await close.isDisabled(), 'needs the second reason');
    assert.deepEqual(await axe(page), []);
    await dialog.getByLabel('Why close it all the same').fill('the provider has left');
    assert.ok(await close.isEnabled());
    await page.keyboard.press('Escape');
    // The server asks for it too, whatever a page does.
    const {csrf} = await (await page.request.get('/api/v1/session')).json();
    const refused = await page.request.post(`/api/v1/periods/${now()}/close`, {headers: {'X-CSRF-Token': csrf}, data: {reason: 'because'}});
    assert.ok(refused.status() >= 400, `${refused.status()}`);
    assert.match(await refused.text(), /even_so|not over/);
    assert.deepEqual(await page.complaints(), []);
  });

  test('what no source reports is not known, on Live as on Fleet', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/live', 'Live');
    await page.getByText('not watched', {exact: true}).waitFor();
    assert.equal(await page.locator('.badge-good', {hasText: 'live'}).count(), 0, 'no green badge');
    for (const label of ['Held', 'Idle', 'Unallocated']) {
      assert.match(await page.locator('.figure', {hasText: new RegExp(`^${label}`)}).first().innerText(), /–\s*not known/, label);
    }
    assert.doesNotMatch(await page.locator('main').innerText(), /0 of 24|Unallocated\s*\$/);
    await page.getByText('What runs is not known').waitFor();
    await go(page, '/?month=2026-03', 'Overview');
    const now = page.locator('.figure', {hasText: 'Cost per hour now'});
    await now.getByText('not watched', {exact: true}).waitFor();
    assert.equal(await now.getByText('live', {exact: true}).count(), 0, 'a list of nodes is not live');
    await go(page, '/fleet', 'Fleet');
    await page.getByText(/No source reports what runs now on lab/).waitFor();
    await page.getByText(/held GPUs on \d+ \w+ 2026, \d+ days ago/).waitFor();
    assert.equal(await page.getByRole('button', {name: /^Free/}).count(), 0);
    await page.getByRole('button', {name: /^Not watched 24/}).waitFor();
  });

  test('on a phone the name and the cost of a workload are in sight', async (t) => {
    const page = await somebody(t, 'admin', {size: 'phone'});
    await go(page, '/workload?month=2026-03', 'Workloads');
    const seen = await page.locator('main table').evaluate((table) => {
      const [row] = table.tBodies[0].rows;
      return [row.cells[0].getBoundingClientRect().width, innerWidth - row.cells[1].getBoundingClientRect().right, row.cells[1].textContent];
    });
    assert.ok(seen[0] >= 60 && seen[1] >= 0 && /\d\.\d\d/.test(seen[2]), seen.join());
    assert.ok(await too_wide(page) <= 0);
  });
});
