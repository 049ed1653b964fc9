/** `npm start`: checks the Node version, builds stale files, and runs `retrace up` with the given arguments. */
import { exitIfNodeTooOld } from '../apps/cli/bin/check-node.mjs';

exitIfNodeTooOld();
try {
  const { buildIfStale } = await import('./build-if-stale.mjs');
  await buildIfStale();
} catch (error) {
  const hint = error.code === 'ERR_MODULE_NOT_FOUND' ? '; run "npm ci" first' : '';
  console.error(`retrace: the build failed: ${error.message}${hint}`);
  process.exit(1);
}
const { commandModule } = await import('../apps/cli/dist/bundle.js');
const { runCli } = await import(commandModule());
process.exitCode = await runCli(['up', ...process.argv.slice(2)]);
