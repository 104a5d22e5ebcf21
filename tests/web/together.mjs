// Test files in one process, which share a browser and the servers of ledgers that they only read:
//
//   PENNYWEIGHT=build/release/pennyweight BROWSER=firefox node tests/web/together.mjs explain home
import {after, test} from 'node:test';
import {end_shared, share} from './browser.mjs';

share();
after(end_shared);
// Tests begin once every file is read: what is shared ends as soon as none waits, which may be before the next file
// when the first is skipped.
let are_read;
const reading = new Promise((resolve) => (are_read = resolve));
test('every file is read', () => reading);
try {
  for (const name of process.argv.slice(2)) await import(`./${name}.test.mjs`);
} finally {
  are_read();
}
