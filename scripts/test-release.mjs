/**
 * `npm run test:release`: what a release needs and a landing does not (`test/README.md`): the packages, installed as users install them, and then specs. Arguments
 * are passed to vitest, and leave the packages out. `npm run test:long -- release` runs them, too, and records what they said.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './run-tool.mjs';
import { listReleaseSpecs } from './spec-kinds.mjs';

if (process.argv.length === 2) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/check-package.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

process.env.RETRACE_TESTS = 'release';
process.argv.splice(2, 0, ...listReleaseSpecs());
await import('./test.mjs');
