/**
 * `npm run test:release`: the specs that a release needs and a landing does not (`test/README.md`). Arguments are passed to vitest. `npm run test:long -- release`
 * runs them, too, and records what they said.
 */
import { listReleaseSpecs } from './spec-kinds.mjs';

process.env.RETRACE_TESTS = 'release';
process.argv.splice(2, 0, ...listReleaseSpecs());
await import('./test.mjs');
