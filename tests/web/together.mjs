// Test files in one process, which share a browser and the servers of ledgers that they only read:
//
//   BROWSER=firefox node tests/web/together.mjs explain home
import {after} from 'node:test';
import {end_shared, share} from './browser.mjs';

share();
after(end_shared);
for (const name of process.argv.slice(2)) await import(`./${name}.test.mjs`);
