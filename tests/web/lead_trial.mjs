// A team's lead sets a budget on its page, and is warned by a webhook and by mail of what live work costs: how long
// that takes, and how many clicks. Measured on demand, not by tests; it needs Debian's python3-aiosmtpd.
//
//   PENNYWEIGHT=build/release/pennyweight node tests/web/lead_trial.mjs
import assert from 'node:assert/strict';
import {enter, go, launch, open, serve, settled} from './browser.mjs';

const ALLOWED_S = 300;
const server = await serve('live');
const browser = await launch();
const page = await open(browser, {url: server.url});
await page.addInitScript(() => {
  // Of all pages of this tab.
  addEventListener('click', () => sessionStorage.setItem('clicks', Number(sessionStorage.getItem('clicks') ?? 0) + 1), true);
});
const begun = Date.now();
const since = (at = Date.now()) => ((at - begun) / 1000).toFixed(1);
await enter(page, 'team-lead-web', server.people['team-lead-web']);
await go(page, '/home', 'Home');
await page.getByRole('link', {name: 'Budgets'}).first().click();
await settled(page, 'Budgets');
await page.getByRole('button', {name: 'New budget'}).click();
const dialog = page.getByRole('dialog');
assert.equal(await dialog.getByLabel('Scope').inputValue(), 'team=nlp');
await dialog.getByLabel('Name').fill('today');
await dialog.getByLabel('Amount').fill('0.01 USD');
await dialog.getByLabel('Period').selectOption('day');
await dialog.getByLabel('Owner').fill('nlp');
await dialog.getByRole('button', {name: 'Set budget'}).click();
await dialog.waitFor({state: 'detached'});
const set = Date.now();
const clicks = await page.evaluate(() => sessionStorage.getItem('clicks'));
console.log(`the budget is set ${since(set)} s after signing in began, with ${clicks} clicks`);
const warned = {};
while (Object.keys(warned).length < 2 && Date.now() - begun < ALLOWED_S * 1000) {
  for (const {how, at, text} of await (await fetch(server.heard)).json()) {
    if (warned[how] || !text.includes('Budget today')) continue;
    warned[how] = at;
    console.log(`${how}: ${since(at * 1000)} s after signing in began, ${(at - set / 1000).toFixed(1)} s after the budget was set: ${text.match(/Budget today[^"\n]*/)[0]}`);
  }
  await page.waitForTimeout(200);
}
assert.deepEqual(Object.keys(warned).sort(), ['mail', 'webhook'], `both within ${ALLOWED_S} s`);
await go(page, '/budgets', 'Budgets');
if (process.env.PICTURE) await page.screenshot({path: process.env.PICTURE});
assert.match(await page.locator('main').innerText(), /today[\s\S]*exceeded/);
assert.deepEqual(await page.complaints(), []);
await browser.close();
await server.stop();
