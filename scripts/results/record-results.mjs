import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, runTool } from '../run-tool.mjs';
import { renderResult } from './result-file.mjs';

export const RESULTS_FOLDER = join(root, 'docs', 'results');

/**
 * Runs one measuring script and records what it measured in `docs/results/<name>.md`.
 *
 * The script gets a file name in RETRACE_RESULT_FILE and writes JSON there: `{ title, figures: [{ name, value, unit, aim? }], notes? }`.
 * A script whose parts are measured one by one writes `{ parts: [{ name, options, passed, startedAt, seconds, title, … }] }`, and each part is
 * recorded in `docs/results/<name>/<name of the part>.md`, with the options that measure it again; other parts keep their files.
 * Its output is for the person watching. Its exit code says whether the figures are good enough; the figures of a script that
 * failed are recorded, too, and marked as failed.
 */
export async function recordResults({ name, script, args, command, baseCommand }) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-result-'));
  const file = join(directory, 'result.json');
  const startedAt = new Date();
  const code = await runTool(name, script, args, {
    mayFail: true,
    environment: { RETRACE_RESULT_FILE: file },
  });
  if (existsSync(file)) {
    const measured = JSON.parse(readFileSync(file, 'utf8'));
    const whole = {
      passed: code === 0,
      command,
      date: startedAt.toISOString(),
      seconds: secondsSince(startedAt),
    };
    if (measured.parts === undefined) writeResult(`${name}.md`, whole, measured);
    for (const { name: part, options, passed, startedAt: date, seconds, ...figures } of measured.parts ?? [])
      writeResult(
        join(name, `${part}.md`),
        { passed, command: `${baseCommand} -- ${options}`, date, seconds },
        figures,
      );
  }
  rmSync(directory, { recursive: true });
  return code;
}

/**
 * Writes a result with the machine and the commit of this checkout.
 *
 * @param {string} file relative to the folder of results
 * @param {{ passed: boolean, command: string, date: string, seconds: number }} circumstances
 * @param {import('./result-file.mjs').Measured} measured
 */
export function writeResult(file, { passed, command, date, seconds }, measured) {
  const path = join(RESULTS_FOLDER, file);
  mkdirSync(dirname(path), { recursive: true });
  const machine = {
    node: process.versions.node,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
  };
  writeFileSync(
    path,
    renderResult({ command, passed, commit: currentCommit(), date, seconds, ...machine }, measured),
  );
}

/** @param {Date} start */
function secondsSince(start) {
  return Math.round((Date.now() - start.getTime()) / 1000);
}

function currentCommit() {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    const isClean = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs/results') === '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${isClean ? '' : ' (with changes)'}`;
  } catch {
    return 'not a git checkout';
  }
}
