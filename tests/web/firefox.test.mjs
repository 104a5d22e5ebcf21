// Every page in Firefox: it comes up, nothing is wider than the window, no script fails; many tabs at once; an
// explanation adds up. Chromium's tests go further.
import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {PAGES, program, serve} from './browser.mjs';
import {hasFirefox, launch_firefox} from './firefox.mjs';

if (!hasFirefox) {
  console.log('skipped: firefox-esr is not installed');
  process.exit(77);
}

const TABS = 8; // a browser opens six connections to a server

let firefox;
let server;
before(async () => {
  server = await serve('full');
  firefox = await launch_firefox();
});
after(async () => {
  await firefox?.close();
  await server?.stop();
});

describe('Firefox', {skip: !program && 'needs the program', timeout: 600_000}, () => {
  const settled = (title) => firefox.until((wanted) =>
    [...document.querySelectorAll('h1')].some((one) => !wanted || one.textContent.includes(wanted)) && !document.querySelector('.skeleton, .skeleton-lines, .is-loading'), title);

  test('signs in', async () => {
    const [[name, password]] = Object.entries(server.people);
    await firefox.go(`${server.url}/signin`);
    await firefox.until(() => document.querySelector('input[type=password]') !== null);
    await firefox.type('input:not([type=password])', name);
    await firefox.type('input[type=password]', password);
    await firefox.click('button[type=submit]');
    await settled('Home');
  });

  test('shows every page', async (t) => {
    for (const [address, title] of PAGES) {
      await t.test(address, async () => {
        firefox.errors.length = 0;
        await firefox.go(server.url + address);
        await settled(title);
        const seen = await firefox.run(() => ({
          wide: document.documentElement.scrollWidth - innerWidth,
          failed: [...document.querySelectorAll('.note-bad')].map((one) => one.textContent),
          styled: getComputedStyle(document.querySelector('nav[aria-label="Pages"] a')).textDecorationLine,
        }));
        if (process.env.SHOTS) await firefox.shoot(path.join(process.env.SHOTS, `firefox${address.replace(/[^a-z]+/g, '-')}.png`));
        // Nothing is explained at /explain alone.
        assert.deepEqual(seen, {wide: Math.min(seen.wide, 0), failed: [], styled: 'none'});
        assert.deepEqual(firefox.errors, []);
      });
    }
  });

  test('an explanation adds up, and opens its postings', async () => {
    await firefox.go(`${server.url}/explain?by=team&key=nlp&month=2026-03`);
    await settled('Why nlp');
    const sums = await firefox.run(() => {
      const amount = (one) => BigInt(one.title.split(' ')[0].replace(/^(-?\d+)(?:\.(\d+))?$/, (_, whole, part = '') => whole + part.padEnd(18, '0')));
      return [document.querySelector('.why-total .num'), [...document.querySelectorAll('.equation .num[title$=USD]')]].map((some) => String([some].flat().map(amount).reduce((sum, one) => sum + one, 0n)));
    });
    assert.equal(sums[0], sums[1]);
    await firefox.click('.equation a');
    await firefox.until(() => location.search.includes('within='));
    await settled('Why nlp');
    assert.ok(await firefox.run(() => document.querySelectorAll('section table[class*=dense] tbody tr').length > 3));
  });

  test('a failure of a script is noticed', async () => {
    firefox.errors.length = 0;
    await firefox.go(`${server.url}/account`);
    await settled('Account');
    await firefox.run(() => void window.wrappedJSObject.console.error('Error: on purpose, http://a'));
    await firefox.run(() => void window.wrappedJSObject.Promise.reject(new window.wrappedJSObject.Error('on purpose too')));
    await new Promise((done) => setTimeout(done, 500));
    assert.ok(firefox.errors.some((one) => one.includes('on purpose, http')), 'what a console says in red');
    assert.ok(firefox.errors.some((one) => one.includes('on purpose too')), `what nobody catches: ${firefox.errors}`);
    firefox.errors.length = 0;
  });

  test(`${TABS} tabs`, async () => {
    for (let i = 0; i < TABS; ++i) {
      await firefox.tab();
      await firefox.go(`${server.url}/`);
      await settled('Overview');
    }
    assert.deepEqual(firefox.errors, []);
  });
});
