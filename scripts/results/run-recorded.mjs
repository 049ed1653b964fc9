import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exitIfNodeTooOld } from '../../apps/cli/bin/check-node.mjs';
import { buildIfStale } from '../build-if-stale.mjs';
import { recordResults } from './record-results.mjs';
import { root, runTool } from '../run-tool.mjs';

/**
 * Runs the measuring scripts of a folder one after the other, or only those named on the command line, and records their
 * figures. Arguments after `--` go to each script.
 */
export async function runRecorded({ folder, suffix, command }) {
  exitIfNodeTooOld();
  const { positionals, tokens } = parseArgs({ allowPositionals: true, strict: false, tokens: true });
  const terminator = tokens.find(({ kind }) => kind === 'option-terminator');
  const args = terminator ? process.argv.slice(2 + terminator.index + 1) : [];
  const names = positionals.filter((name) => !args.includes(name));
  const known = listScripts(folder, suffix);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0 || known.length === 0) {
    console.error(`Unknown script in ${folder}: ${unknown.join(', ')}. Known: ${known.join(', ')}`);
    process.exit(1);
  }
  await buildIfStale();
  await runTool('compute backend', 'apps/cli/bin/retrace.mjs', ['backend', 'install'], { mayFail: true });
  const failed = [];
  for (const name of names.length > 0 ? names : known) {
    const script = join(folder, `${name}${suffix}`);
    const code = await recordResults({
      name,
      script,
      args,
      command: [command, name, ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
    });
    if (code !== 0) failed.push(name);
  }
  console.log(failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function listScripts(folder, suffix) {
  const directory = join(root, folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .sort();
}
