// Every page in Firefox: it comes up, nothing is wider than the window, no script fails; an explanation adds up.
// The other test files that run in Firefox (CMakeLists.txt) and those of Chromium go further.
import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {address, follow, go, isFirefox, launch, open, PAGES, program, serve, settled, sign_in, too_wide, until} from './browser.mjs';

describe('Firefox', {skip: (!program && 'needs the program') || (!isFirefox && 'BROWSER=firefox'), timeout: 900_000}, () => {
  let browser;
  let server;
  let page;
  before(async () => {
    browser = await launch();
    server = await serve('full');
    page = await open(browser, {url: server.url});
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  test('signs in', async () => {
    await sign_in(page, 'admin', server.people.admin);
    await settled(page, 'Home');
  });

  test('shows every page', async (t) => {
    for (const [to, title] of PAGES) {
      await t.test(to, async () => {
        // A page is loaded, a further view of it is reached by a link.
        await (to.includes('?') ? follow : go)(page, to, title);
        assert.deepEqual(await page.locator('.note-bad').allTextContents(), []);
        assert.ok(await too_wide(page) <= 0, `${await too_wide(page)} px wider than the window`);
        assert.equal(await page.locator('nav[aria-label="Pages"] a').first().evaluate((one) => getComputedStyle(one).textDecorationLine), 'none', 'it has its style');
        if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, `firefox${to.replace(/[^a-z]+/g, '-')}.png`)});
        assert.deepEqual(await page.complaints(), []);
      });
    }
  });

  test('an explanation adds up, and opens its postings', async () => {
    await go(page, '/explain?by=team&key=nlp&month=2026-03', 'Why nlp');
    const sums = await page.evaluate(() => {
      const amount = (one) => BigInt(one.title.split(' ')[0].replace(/^(-?\d+)(?:\.(\d+))?$/, (_, whole, part = '') => whole + part.padEnd(18, '0')));
      return [document.querySelector('.why-total .num'), [...document.querySelectorAll('.equation .num[title$=USD]')]].map((some) => String([some].flat().map(amount).reduce((sum, one) => sum + one, 0n)));
    });
    assert.equal(sums[0], sums[1]);
    await page.locator('.equation a').first().click();
    await until(page, () => location.search.includes('within='));
    await settled(page, 'Why nlp');
    assert.match(await address(page), /within=/);
    assert.ok(await page.locator('section table[class*=dense] tbody tr').count() > 3);
    assert.deepEqual(await page.complaints(), []);
  });

  // The last one: the page keeps what it complains of.
  test('a failure of a script is noticed', async () => {
    await go(page, '/account', 'Account');
    await page.evaluate(() => {
      console.error('on purpose');
      setTimeout(() => { throw new Error('on purpose too'); });
      void Promise.reject(new Error('and that nobody catches'));
    });
    const end = Date.now() + 10_000;
    const wanted = [/^on purpose/, /threw Error: on purpose too/, /threw Error: and that nobody catches/];
    let said;
    do {
      said = await page.complaints();
    } while (!wanted.every((one) => said.some((line) => one.test(line))) && Date.now() < end);
    for (const one of wanted) assert.ok(said.some((line) => one.test(line)), `${one} is not in ${said.join('; ')}`);
  });
});
