/**
 * Trainer and collector on Kafka while the broker is killed and comes back: minutes, most of them waiting.
 *
 *   npm run test:long -- log-away
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../support/cli.mjs';

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/long/log-away.kafka.spec.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, RETRACE_TESTS: 'long' },
});
process.exitCode = status ?? 1;
