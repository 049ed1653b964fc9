import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './cli.mjs';

const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

/**
 * Runs a command of Retrace; its messages are not shown.
 *
 * @param {readonly string[]} args
 * @returns {string} what it printed
 * @throws {Error} with the end of what it printed on both outputs, when it fails
 */
export function runRetrace(args) {
  return spawnRetrace(args, [process.execPath, retrace, ...args], ['ignore', 'pipe', 'pipe'])[1];
}

/**
 * Trains a recipe into a data directory.
 *
 * @param {{ recipe: string, backend?: string, shuffled?: boolean, options?: readonly string[] }} bar options: more of `retrace train`
 * @param {{ seed: string, dataDirectory: string }} run
 * @returns {{ runId: string, policyVersion: number, success: number, minutes: number, processorMinutes: number, curve: { step: number, value: number }[] }}
 *   greedy success on the test tasks; minutes from the first policy to the last; processor time of all processes of the run; greedy success
 *   on the validation tasks by update
 */
export function trainRecipe(
  { recipe, backend = 'tensorflow', shuffled, options = [] },
  { seed, dataDirectory },
) {
  const args = ['train', '--recipe', recipe, '--seed', seed, '--data-dir', dataDirectory, '--json'];
  args.push('--backend', backend, ...options);
  if (shuffled) args.push('--set', 'advantage.shuffle=true');
  const { output, processorMinutes } = timeRetrace(args);
  const { runId, policyVersion, metrics } = JSON.parse(output);
  const ask = (sql) => JSON.parse(runRetrace(['sql', sql, '--format', 'json', '--data-dir', dataDirectory]));
  const [{ minutes }] = ask(
    `SELECT dateDiff('millisecond', min(published_at), max(published_at)) / 60000 AS minutes FROM policies WHERE run_id = '${runId}'`,
  );
  const curve = ask(
    `SELECT step, value FROM metrics WHERE run_id = '${runId}' AND name = 'validation/success' ORDER BY step`,
  );
  const success = metrics['test/success'];
  return { runId, policyVersion, success, minutes: Number(minutes), processorMinutes, curve };
}

/**
 * Runs a command of Retrace as `runRetrace` does, and adds up the processor time of its processes.
 */
function timeRetrace(args) {
  // The times go to a pipe of their own, so that the command keeps its standard error.
  const script = 'TIMEFORMAT="%U %S"; { time "$@" 2>&4; } 4>&2 2>&3';
  const command = ['bash', '-c', script, 'bash', process.execPath, retrace, ...args];
  const output = spawnRetrace(args, command, ['ignore', 'pipe', 'pipe', 'pipe']);
  const [user, system] = output[3].trim().split(' ').map(Number);
  return { output: output[1], processorMinutes: (user + system) / 60 };
}

/** Returns what a command that runs Retrace with these arguments wrote to each file descriptor. */
function spawnRetrace(args, [file, ...rest], stdio) {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio };
  const { status, signal, error, output } = spawnSync(file, rest, options);
  if (status === 0) return output;
  const how = status === null ? `by ${signal ?? error?.message}` : `with code ${status}`;
  throw new Error(`retrace ${args.join(' ')} ended ${how}: ${ending(output?.[1])}\n${ending(output?.[2])}`);
}

/** The last 4,000 characters of an output. */
function ending(text) {
  return (text ?? '').trim().slice(-4000);
}
