import { parseArgs } from 'node:util';
import { exitIfNodeTooOld } from '../../apps/cli/bin/check-node.mjs';
import { buildIfStale } from '../build-if-stale.mjs';
import { runTool } from '../run-tool.mjs';
import { listScripts } from './measuring-scripts.mjs';
import { recordResults } from './record-results.mjs';

/**
 * Runs the measuring scripts of a folder one after the other, or only those named on the command line, and records their
 * figures. Arguments after `--` go to each script.
 *
 * @param {{ folder: string, suffix: string, command: string }} kind
 */
export async function runRecorded(kind) {
  exitIfNodeTooOld();
  const { positionals, tokens } = parseArgs({ allowPositionals: true, strict: false, tokens: true });
  const terminator = tokens.find((token) => token.kind === 'option-terminator');
  const args = terminator ? process.argv.slice(2 + terminator.index + 1) : [];
  const names = positionals.filter((name) => !args.includes(name));
  const known = listScripts(kind);
  const unknown = names.filter((name) => !known.some((script) => script.name === name));
  if (unknown.length > 0) {
    const knownNames = known.map(({ name }) => name).join(', ');
    console.error(`Unknown script in ${kind.folder}: ${unknown.join(', ')}. Known: ${knownNames}`);
    process.exit(1);
  }
  await buildIfStale();
  await runTool('compute backend', 'apps/cli/bin/retrace.mjs', ['backend', 'install'], { mayFail: true });
  const failed = [];
  for (const { name, script, command } of known) {
    if (names.length > 0 && !names.includes(name)) continue;
    const whole = [command, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
    const code = await recordResults({ name, script, args, command: whole, baseCommand: command });
    if (code !== 0) failed.push(name);
  }
  console.log(failed.length === 0 ? 'all passed' : `failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
