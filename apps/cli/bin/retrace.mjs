#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { exitIfNodeTooOld, exitWith } from './check-node.mjs';

/** As if SIGPIPE had ended the process. */
const NOBODY_READS = 141;

exitIfNodeTooOld();
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
    // A server listens itself, and stops in order.
    if (stream.listenerCount('error') === 1) process.exit(NOBODY_READS);
  });
}
const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  exitWith(
    'NOT_BUILT',
    'not built yet; run "npm run build" in the repository, or "npm start", which builds.',
  );
}
const { commandModule } = await import('../dist/bundle.js');
const { runCli } = await import(commandModule());
process.exitCode = await runCli(process.argv.slice(2));
