// What people write beside the costs of some days: who sees it, where, and who can remove it.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, axe_in_themes, enter, go, launch, open, program, serve, settled, too_wide, until} from './browser.mjs';

describe('annotations', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  let browser;
  let server;
  before(async () => {
    browser = await launch();
    server = await serve('currencies', {own: true});
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  async function somebody(t, name, more = {}) {
    const page = await open(browser, {url: server.url, ...more});
    t.after(() => page.context().close());
    await enter(page, name, server.people[name]);
    return page;
  }
  const answer = async (page, path) => (await page.request.get(`/api/v1${path}`)).json();
  async function annotate(page, text, more = async () => {}) {
    await page.getByRole('button', {name: 'Annotate'}).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Annotation').fill(text);
    await more(dialog);
    await dialog.getByRole('button', {name: 'Keep'}).click();
    await dialog.waitFor({state: 'detached'});
    await settled(page);
  }
  const says = (page, text) => page.locator('main .annotation-text', {hasText: text});

  test('one of a lead is seen by those who see their costs, on Overview and on Compare', async (t) => {
    const lead = await somebody(t, 'team-lead-web');
    await go(lead, '/?month=2026-03', 'Overview');
    await annotate(lead, 'Moved to <b>cluster b</b>', async (dialog) => {
      assert.equal(await dialog.getByLabel('Costs that it is about').inputValue(), 'team=nlp', 'the scope is filled in');
      assert.equal(await dialog.getByLabel('Shown to everyone').count(), 0);
      await dialog.getByLabel('First day').fill('2026-03-09');
      await dialog.getByLabel('Last day').fill('2026-03-11');
      assert.deepEqual(await axe(lead), []);
    });
    await says(lead, 'Moved to <b>cluster b</b>').waitFor();
    const finance = await somebody(t, 'finance-web');
    await go(finance, '/compare?month=2026-03', 'Compare');
    assert.equal(await says(finance, 'Moved to').count(), 1);
    assert.match(await finance.locator('.lane-list li', {hasText: 'Moved to'}).innerText(), /Annotation[\s\S]*team=nlp · team-lead-web[\s\S]*9 Mar 2026 to 11 Mar 2026/);
    assert.ok(await finance.locator('.lane .lane-annotation').count() === 1, 'it is marked on the lane');
    // Of other days it is not shown.
    await go(finance, '/compare?month=2026-03&from=2026-03-12&to=2026-03-20&before_from=2026-03-01&before_to=2026-03-08', 'Compare');
    assert.equal(await says(finance, 'Moved to').count(), 0);
    // It is the lead's: nobody else of no higher role removes it.
    await go(finance, '/?month=2026-03', 'Overview');
    assert.equal(await says(finance, 'Moved to').count(), 1, 'once, whatever the number of currencies');
    assert.equal(await finance.getByRole('button', {name: /Remove the annotation/}).count(), 0);
    for (const page of [lead, finance]) assert.deepEqual(await page.complaints(), []);
  });

  test('one of all costs is for those who see all, or for everyone', async (t) => {
    const finance = await somebody(t, 'finance-web');
    await go(finance, '/compare?month=2026-03', 'Compare');
    await annotate(finance, 'Secret of the company');
    await annotate(finance, 'The provider raised its prices', (dialog) => dialog.getByLabel('Shown to everyone').check());
    assert.deepEqual(await axe_in_themes(finance), []);
    assert.equal(await says(finance, 'Secret of the company').count(), 1);
    const lead = await somebody(t, 'team-lead-web', {size: 'phone'});
    await go(lead, '/compare?month=2026-03', 'Compare');
    await says(lead, 'The provider raised').waitFor();
    assert.equal(await says(lead, 'Secret').count(), 0);
    assert.ok(await too_wide(lead) <= 0, `${await too_wide(lead)} px wider than the window`);
    assert.doesNotMatch(JSON.stringify(await answer(lead, '/annotations')), /Secret/);
    for (const page of [lead, finance]) assert.deepEqual(await page.complaints(), []);
  });

  test('what is wrong is said, what is removed is gone, and the audit log keeps both', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/compare?month=2026-03&filter=team%3Dcv', 'Compare');
    await page.getByRole('button', {name: 'Annotate'}).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Annotation').fill('x'.repeat(501));
    assert.equal(await dialog.getByLabel('Costs that it is about').inputValue(), 'team=cv', 'what the page shows is filled in');
    await dialog.getByRole('button', {name: 'Keep'}).click();
    assert.match(await dialog.locator('.form-error').innerText(), /500 bytes/);
    await dialog.getByLabel('Annotation').fill('Of cv');
    await dialog.getByLabel('Costs that it is about').fill('colour=red');
    await dialog.getByRole('button', {name: 'Keep'}).click();
    await until(page, () => /colour/.test(document.querySelector('.form-error')?.innerText ?? ''));
    // By keys alone: the field, then Enter.
    await dialog.getByLabel('Costs that it is about').fill('team=cv; node!=gpu-09');
    await page.keyboard.press('Enter');
    await dialog.waitFor({state: 'detached'});
    await says(page, 'Of cv').waitFor();
    await page.getByRole('button', {name: /Remove the annotation of .*Of cv/}).press('Enter');
    await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).press('Enter');
    await until(page, () => !document.querySelector('main').innerText.includes('Of cv'));
    const {data} = await answer(page, '/audit?limit=2');
    assert.deepEqual(data.map((one) => [one.action, (one.before ?? one.after).text]), [['annotation.remove', 'Of cv'], ['annotation.add', 'Of cv']]);
    assert.deepEqual(await page.complaints(), []);
  });
});
