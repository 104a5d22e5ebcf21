// The main flows: sign in, explore costs, check a month's bills, close and invoice it, add users. On the
// real program, one after the other, as the ledger changes on the way.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createHmac} from 'node:crypto';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {address, axe, enter, go, launch, open, program, serve, settled, SIZES, until} from './browser.mjs';

let browser;
let server;

async function somebody(t, name, more = {}) {
  const page = await open(browser, {url: server.url, ...more});
  t.after(() => page.context().close());
  if (name) await enter(page, name, server.people[name]);
  return page;
}
const unharmed = async (page) => assert.deepEqual(await page.complaints(), []);
const dialog = (page) => page.locator('dialog[open]');

// The code of an authenticator app (RFC 6238).
function totp(secret) {
  const bits = [...secret.replace(/=+$/, '')].map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((octet) => parseInt(octet, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac('sha1', key).update(step).digest();
  const at = digest[19] & 15;
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

// As if everybody had signed in an hour earlier.
const let_sign_ins_age = () => execFileSync('python3', ['-c', `
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=30) as accounts:
    accounts.execute("UPDATE sessions SET proved_at = coalesce(proved_at, created_at) - 3600000")
`, path.join(server.folder, 'pennyweight.duckdb.live/accounts.sqlite')]);

describe('the dashboard', {skip: !program && 'needs the program', timeout: 900_000}, () => {
  before(async () => {
    browser = await launch();
    server = await serve('full', {own: true});
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  test('signs in, and out', async (t) => {
    const page = await somebody(t);
    await page.goto('/coverage?month=2026-03');
    await page.getByLabel('Name').fill('admin');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', {name: 'Sign in', exact: true}).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(server.people.admin);
    await page.getByRole('button', {name: 'Sign in', exact: true}).click();
    await settled(page, 'Coverage'); // where the user wanted to go
    assert.match(await address(page), /month=2026-03/);
    await page.getByRole('button', {name: 'Sign out'}).click();
    await page.getByLabel('Name').waitFor();
    await page.goto('/bills');
    await page.waitForURL(/signin/);
    await unharmed(page);
  });

  test('goes by keys, and keeps the theme', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/home', 'Home');
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await settled(page, 'Fleet');
    await page.keyboard.press('/');
    await dialog(page).locator('input').fill('bil');
    await page.keyboard.press('Enter');
    await settled(page, 'Bills');
    await page.getByRole('button', {name: 'Dark', exact: true}).click();
    await page.reload();
    await settled(page, 'Bills');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark');
    await unharmed(page);
  });

  test('explores, and exports what it shows', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/explore?by=team&month=2026-03', 'Explore');
    const rows = page.locator('main table tbody tr');
    await rows.nth(1).waitFor();
    const csv = page.locator('main a[href*="format=sheet"]').first();
    const answer = await page.request.get(await csv.getAttribute('href'));
    assert.equal(answer.status(), 200);
    assert.match(await answer.text(), /team/);
    const saved = page.waitForEvent('download');
    await csv.click();
    assert.equal((await saved).suggestedFilename(), 'costs-2026-03.csv');
    await unharmed(page);
  });

  test('shows the fleet as tiles and as a list', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/fleet', 'Fleet');
    await page.locator('.fleet-map canvas').first().focus();
    await page.keyboard.press('ArrowRight');
    await until(page, () => document.querySelector('.fleet-map [aria-live]')?.textContent.includes('GPU'));
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Cost per hour', {exact: true}).waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({state: 'detached'});
    await page.getByRole('button', {name: 'List', exact: true}).click();
    const rows = page.locator('main tbody tr');
    const all = await rows.count();
    assert.ok(all > 1);
    await page.getByRole('searchbox', {name: 'Search GPUs'}).fill('gpu-01');
    await until(page, (before) => document.querySelectorAll('main tbody tr').length < before, all);
    assert.match(await address(page), /search=gpu-01/);
    await unharmed(page);
  });

  test('says where the money stops', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/coverage?month=2026-03', 'Coverage');
    assert.match(await page.locator('.coverage-headline').first().textContent(), /% ?of .* GPU spend reaches a team/);
    await page.locator('.stops li').first().waitFor();
    await page.getByRole('group', {name: 'Dimension'}).getByRole('button', {name: 'User'}).click();
    await until(page, () => document.querySelector('.coverage-headline').textContent.includes('reaches a user'));
    await unharmed(page);
  });

  test('proves the bill, and shows what was set aside', async (t) => {
    const page = await somebody(t, 'finance-web');
    await go(page, '/bills?month=2026-03', 'Bills');
    await page.getByText('Reconciles to zero').first().waitFor();
    const zeros = await page.locator('.proof tfoot td').allTextContents();
    assert.deepEqual([...new Set(zeros)], ['0']);
    await page.getByRole('button', {name: 'All', exact: true}).click();
    await page.getByText('exact', {exact: true}).first().waitFor();
    await page.getByRole('tab', {name: 'Imports'}).click();
    await page.locator('tr', {hasText: 'bad.txt'}).first().click();
    await dialog(page).locator('tbody tr').first().waitFor();
    await page.getByRole('button', {name: 'Close', exact: true}).click();
    await unharmed(page);
  });

  test('closes a month, and issues its invoices', async (t) => {
    const page = await somebody(t, 'finance-web');
    await go(page, '/bills?tab=periods', 'Bills');
    await page.getByRole('button', {name: 'Close March 2026'}).click();
    await dialog(page).getByText('reconciles to zero').waitFor();
    const close = dialog(page).getByRole('button', {name: 'Close the month'});
    assert.ok(await close.isDisabled());
    await dialog(page).getByLabel('Reason').fill('the bill is final');
    await dialog(page).getByLabel(/can't be opened again/).check();
    await close.click();
    await dialog(page).waitFor({state: 'detached'});
    await page.locator('tr', {hasText: 'March 2026'}).getByText('closed', {exact: true}).waitFor();
    await go(page, '/invoices?tab=preview&month=2026-03', 'Invoices');
    await page.locator('.drafts > li').nth(1).waitFor();
    await page.getByRole('button', {name: 'Issue…'}).click();
    await dialog(page).getByRole('button', {name: 'Issue', exact: true}).click();
    await dialog(page).waitFor({state: 'detached'});
    await go(page, '/invoices', 'Invoices');
    await page.getByRole('link', {name: 'NW-2026-03-0001'}).click();
    await settled(page, 'NW-2026-03-0001');
    // The document stands in a shadow of the page, with its own style.
    const paper = page.locator('.paper .paper-body');
    await paper.getByText('Northwind Compute Ltd').first().waitFor();
    assert.equal(await paper.locator('h1').evaluate((head) => getComputedStyle(head).textAlign), 'right');
    await unharmed(page);
  });

  test('sets two policies side by side', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/policies', 'Policies');
    await page.locator('.in-words dd').nth(2).waitFor();
    await page.getByRole('tab', {name: 'Compare'}).click();
    await page.locator('.diff-row').first().waitFor();
    await page.locator('.differences tbody tr').first().waitFor();
    await unharmed(page);
  });

  test('lets others in, and keeps account of it', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/admin', 'Admin');
    await page.getByRole('button', {name: 'New user'}).click();
    await dialog(page).getByLabel('Name', {exact: true}).fill('nora');
    await dialog(page).getByLabel('Role').selectOption('team_lead');
    await dialog(page).getByRole('button', {name: /Limit to a team/}).click();
    await dialog(page).getByLabel('Values of team').fill('nlp');
    await dialog(page).getByRole('button', {name: 'Add', exact: true}).click();
    const secret = await dialog(page).locator('.secret').textContent();
    await dialog(page).getByRole('button', {name: 'Done'}).click();
    await page.locator('tr', {hasText: 'nora'}).getByText('team nlp').waitFor();

    const nora = await somebody(t);
    await nora.goto('/signin');
    await nora.getByLabel('Name').fill('nora');
    await nora.getByLabel('Password').fill(secret);
    await nora.getByRole('button', {name: 'Sign in', exact: true}).click();
    const fields = nora.locator('input[type=password]');
    await until(nora, () => document.querySelectorAll('input[autocomplete="new-password"]').length > 0);
    for (let i = 0; i < await fields.count(); ++i) {
      const isOld = await fields.nth(i).getAttribute('autocomplete') === 'current-password';
      await fields.nth(i).fill(isOld ? secret : 'her own long passphrase');
    }
    await nora.locator('button[type=submit]').click();
    await settled(nora, 'Home');

    await page.getByRole('tab', {name: 'Tokens'}).click();
    await page.getByRole('button', {name: 'New token'}).click();
    await dialog(page).getByLabel('Name', {exact: true}).fill('grafana');
    await dialog(page).getByLabel('Read costs').check();
    await dialog(page).getByRole('button', {name: 'Create', exact: true}).click();
    const token = await dialog(page).locator('.secret').textContent();
    assert.match(token, /^pwt_/);
    await dialog(page).getByRole('button', {name: 'Done'}).click();
    const bearer = (path) => fetch(server.url + path, {headers: {Authorization: `Bearer ${token}`}});
    assert.equal((await bearer('/api/v1/costs?by=team&month=2026-03')).status, 200);
    assert.equal((await bearer('/api/v1/users')).status, 403);

    await page.getByRole('tab', {name: 'Audit log'}).click();
    await page.locator('tr', {hasText: 'nora'}).first().waitFor();
    await page.getByRole('button', {name: 'Verify'}).click();
    await page.getByText(/^Intact: \d+ lines/).waitFor();
    await unharmed(page);
  });

  test('asks who it is before it changes people after a while', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/admin', 'Admin');
    const add = async (name) => {
      let_sign_ins_age();
      await page.getByRole('button', {name: 'New user'}).click();
      await dialog(page).getByLabel('Name', {exact: true}).fill(name);
      await dialog(page).getByRole('button', {name: 'Add', exact: true}).click();
    };
    const question = page.getByRole('dialog', {name: 'Is it still you?'});
    await add('olga');
    await question.getByLabel('Your password').fill('not the password');
    await question.getByRole('button', {name: 'Confirm'}).click();
    await question.getByRole('alert').waitFor();
    await question.getByLabel('Your password').fill(server.people.admin);
    await question.getByRole('button', {name: 'Confirm'}).click();
    await dialog(page).locator('.secret').waitFor(); // what was asked for is done, once
    await dialog(page).getByRole('button', {name: 'Done'}).click();
    assert.equal(await page.locator('main tbody tr', {hasText: 'olga'}).count(), 1);

    await add('pia');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({state: 'detached'});
    await dialog(page).getByText('Nothing was changed').waitFor(); // and what was typed is still there
    assert.equal(await dialog(page).getByLabel('Name', {exact: true}).inputValue(), 'pia');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('main tbody tr', {hasText: 'pia'}).count(), 0);
    assert.deepEqual((await page.complaints()).filter((one) => !/status of 403/.test(one)), []);
  });

  test('shows where one is signed in, and ends the others', async (t) => {
    const other = await somebody(t, 'finance-web');
    const page = await somebody(t, 'finance-web');
    await go(page, '/account', 'Account');
    const table = page.getByRole('table', {name: 'Your sessions'});
    await table.getByText('this one').waitFor();
    await page.getByRole('button', {name: 'Sign out everywhere else'}).click();
    await until(page, () => document.querySelectorAll('button[aria-label^="Sign out "]').length === 0);
    await other.goto('/account');
    await other.waitForURL(/signin/);
    await unharmed(page);
  });

  test('lets in who has lost the phone, by a recovery code', async (t) => {
    const page = await somebody(t, 'team-lead-web');
    await go(page, '/account', 'Account');
    const secret_of = async () => (await dialog(page).locator('.qr-text code').textContent()).replaceAll(' ', '');
    await page.getByRole('button', {name: 'Turn on'}).click();
    await dialog(page).getByLabel('Code').fill(totp(await secret_of()));
    await dialog(page).getByRole('button', {name: 'Turn on'}).click();
    await page.getByRole('button', {name: 'New recovery codes'}).click();
    const [code] = (await dialog(page).locator('.secret').textContent()).split('\n');
    await page.keyboard.press('Escape');
    await page.getByText('10 recovery codes left.').waitFor();

    const later = await somebody(t);
    await later.goto('/signin');
    await later.getByLabel('Name').fill('team-lead-web');
    await later.getByLabel('Password').fill(server.people['team-lead-web']);
    await later.getByRole('button', {name: 'Sign in', exact: true}).click();
    await later.getByLabel('Second factor code').fill(code);
    assert.equal(await later.getByLabel('Second factor code').inputValue(), code);
    await later.getByRole('button', {name: 'Confirm'}).click();
    await settled(later, 'Home');
    await go(later, '/account', 'Account');
    await later.getByText('9 recovery codes left.').waitFor();
    await later.getByRole('button', {name: 'Turn off'}).click();
    await dialog(later).getByLabel('Your password').fill(server.people['team-lead-web']);
    await dialog(later).getByRole('button', {name: 'Turn off'}).click();
    await later.getByRole('button', {name: 'Turn on'}).waitFor();
    await unharmed(later);
  });

  test('hides columns, and remembers which; on a phone a row is a card', async (t) => {
    const page = await somebody(t, 'admin');
    await go(page, '/workload?month=2026-03', 'Workloads');
    const heads = () => page.locator('main thead th').allTextContents();
    const all = await heads();
    assert.ok(all.includes('Project'), all.join());
    await page.getByText('Columns', {exact: true}).click();
    await page.getByLabel('Project', {exact: true}).uncheck();
    assert.deepEqual(await heads(), all.filter((name) => name !== 'Project'));
    await page.reload();
    await settled(page, 'Workloads');
    assert.deepEqual(await heads(), all.filter((name) => name !== 'Project'));
    await page.getByText('Columns (1 hidden)').click();
    await page.getByLabel('Project', {exact: true}).check();
    assert.deepEqual(await heads(), all);
    assert.deepEqual(await axe(page), []);

    await page.setViewportSize(SIZES.phone);
    const cells = page.locator('main tbody tr').first().getByRole('cell');
    assert.equal(await cells.count(), all.length);
    const boxes = await Promise.all((await cells.all()).map((cell) => cell.boundingBox()));
    assert.ok(boxes.every((box, i) => box.x >= 0 && box.x + box.width <= SIZES.phone.width && (i === 0 || box.y > boxes[i - 1].y)), JSON.stringify(boxes));
    assert.deepEqual(await axe(page), []);
    await unharmed(page);
  });

  test('shows a team lead the team, and no more', async (t) => {
    const page = await somebody(t, 'team-lead-web');
    await go(page, '/home', 'Home');
    const names = (await page.getByRole('navigation', {name: 'Pages'}).getByRole('link').allTextContents()).map((name) => name.trim());
    assert.ok(names.includes('Explore') && !names.includes('Bills') && !names.includes('Policies') && !names.includes('Admin'), names.join());
    await go(page, '/explore?by=team&month=2026-03', 'Explore');
    const rows = await page.locator('main table tbody tr').allTextContents();
    assert.ok(rows.length > 0 && rows.every((row) => /nlp/.test(row)), rows.join());
    await go(page, '/bills');
    await page.getByText('You may not see this page').waitFor();
    await unharmed(page);
  });
});
