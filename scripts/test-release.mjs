/**
 * `npm run test:release`: the specs that a release needs and a landing does not (`test/README.md`). Arguments are passed to vitest. `npm run test:long -- release`
 * runs them, too, and records what they said.
 */
import { isReleaseSpec, listSpecs } from './spec-kinds.mjs';

process.env.RETRACE_TESTS = 'release';
process.argv.splice(2, 0, ...listSpecs().filter(isReleaseSpec));
await import('./test.mjs');
