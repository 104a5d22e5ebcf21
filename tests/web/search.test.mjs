// Finding things, and what a page does where something is wrong: search, wrong addresses, malformed filters, a
// session that is over, a server that is away.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {address, axe, cable, enter, go, launch, open, program, serve, settled, too_wide, until} from './browser.mjs';

describe('finding things', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('full');
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function somebody(t, name = 'admin', more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, name, server.people[name]);
    return page;
  }

  test('search finds teams, users, workloads, nodes, bill lines and invoices', async (t) => {
    const page = await somebody(t);
    await go(page, '/home', 'Home');
    const lines = await (await page.request.get('/api/v1/reconcile/lines?month=2026-03&limit=1')).json();
    const found = async (text, wanted) => {
      await page.keyboard.press('/');
      await page.locator('dialog[open] input').fill(text);
      const option = page.locator('dialog[open] [role=option]', {hasText: wanted}).first();
      await option.waitFor();
      await option.click();
      await settled(page);
      await page.locator('h1').first().click();
      return address(page);
    };
    assert.match(await found('NL', /nlp.*team/), /filter=team=nlp/); // whatever the case
    assert.match(await found('ana', /ana.*user/), /filter=user=ana/);
    assert.match(await found('pu-0', /gpu-0\d.*node/), /filter=node=gpu-0/); // a part of it
    assert.match(await found('1001', /1001.*workload/), /workload\?workload=1001/);
    assert.match(await found('0001', /NW-2026-02-0001/), /invoices\?number=NW-2026-02-0001/);
    assert.match(await found(lines.data[0].charge, /bill line/), /explain\?charge=/);
    assert.deepEqual(await page.complaints(), []);
  });

  test('what a scoped reader may not see is not found either', async (t) => {
    const page = await somebody(t, 'team-lead-web');
    const answer = await (await page.request.get('/api/v1/search?text=vision')).json();
    assert.deepEqual(answer.data, []);
  });

  test('workloads are found on the server, and spread costs are apart', async (t) => {
    const page = await somebody(t);
    await go(page, '/workload?month=2026-03', 'Workloads');
    const names = await page.locator('main tbody tr td:first-child').allTextContents();
    assert.ok(names.length > 5 && names.every((name) => !name.startsWith('Spread:')), names.slice(0, 5).join());
    await page.getByRole('searchbox', {name: 'Find'}).fill('1002');
    await until(page, () => document.querySelectorAll('main tbody tr').length === 1);
    await page.getByRole('searchbox', {name: 'Find'}).fill('');
    await page.getByRole('button', {name: 'With spread costs'}).click();
    await page.locator('main tbody tr', {hasText: 'Spread:'}).first().waitFor();
    // Name and cost are both in sight.
    const seen = await page.locator('main table').evaluate((table) => {
      const [row] = table.tBodies[0].rows;
      return [row.cells[0].getBoundingClientRect().width, row.cells[1].getBoundingClientRect().right - innerWidth, row.cells[1].textContent];
    });
    assert.ok(seen[0] >= 90 && seen[1] <= 0 && /\d\.\d\d/.test(seen[2]), seen.join());
  });

  test('a wrong address is a page', async (t) => {
    const page = await somebody(t);
    const answer = await page.goto('/costs/of/team');
    assert.equal(answer.status(), 404);
    await page.getByText('Page not found').waitFor();
    assert.deepEqual(await page.complaints(), []);
  });

  test('a malformed filter is told, not dropped', async (t) => {
    const page = await somebody(t);
    await page.goto('/explore?month=2026-03&filter=team');
    await page.getByText("'team' is not a filter").first().waitFor();
    await page.getByRole('button', {name: 'Remove the filter team'}).click();
    await settled(page, 'Explore');
    await page.locator('main tbody tr').first().waitFor();
  });

  test('long filters do not widen a phone', async (t) => {
    const page = await somebody(t, 'admin', {size: 'phone'});
    await go(page, `/explore?month=2026-03&filter=team!=${'a-very-long-team-name-'.repeat(8)},${'x'.repeat(120)}`, 'Explore');
    assert.ok(await too_wide(page) <= 0, `${await too_wide(page)} px too wide`);
    await page.getByRole('button', {name: 'Pages'}).click();
    await page.keyboard.press('Escape');
    await until(page, () => !document.querySelector('.drawer-open'));
  });

  test('a session that is over says so, and the next one goes on', async (t) => {
    const page = await somebody(t);
    await go(page, '/explore?month=2026-03&by=user', 'Explore');
    await page.context().clearCookies();
    await page.getByRole('button', {name: 'Previous month'}).click();
    await page.getByText('Your session is over').waitFor();
    assert.deepEqual(await axe(page), []);
    await page.getByLabel('Name').fill('admin');
    await page.getByLabel('Password').fill(server.people.admin);
    await page.getByRole('button', {name: 'Sign in', exact: true}).click();
    await settled(page, 'Explore');
    assert.match(await address(page), /by=user/);
  });

  test('without the server the page keeps what it has, and says since when', async (t) => {
    const line = await cable(server.url);
    t.after(line.end);
    const page = await somebody(t, 'admin', {url: line.url});
    await go(page, '/?month=2026-03', 'Overview');
    line.pull();
    await page.getByRole('button', {name: 'Previous month'}).click();
    await page.locator('.away').waitFor();
    await page.getByRole('button', {name: 'Next month'}).click();
    await page.locator('.figure', {hasText: 'Spend'}).first().waitFor(); // as it was
    assert.deepEqual(await axe(page), []);
    // A page whose code was never loaded.
    await page.getByRole('navigation', {name: 'Pages'}).getByRole('link', {name: 'Policies'}).click();
    await page.getByText("The page's code could not be loaded").waitFor();
    line.plug();
    await page.locator('.away').waitFor({state: 'detached', timeout: 15_000});
  });
});
