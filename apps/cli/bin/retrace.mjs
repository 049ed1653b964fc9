#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { exitIfNodeTooOld, exitWith } from './check-node.mjs';

exitIfNodeTooOld();
const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  exitWith(
    'NOT_BUILT',
    'not built yet; run "npm run build" in the repository, or "npm start", which builds.',
  );
}
const { runCli } = await import(main.href);
process.exitCode = await runCli(process.argv.slice(2));
