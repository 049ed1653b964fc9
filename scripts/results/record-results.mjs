import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runTool } from '../run-tool.mjs';
import { renderResult } from './result-file.mjs';

export const RESULTS_FOLDER = join(root, 'docs', 'results');

/**
 * Runs one measuring script and records what it measured in `docs/results/<name>.md`.
 *
 * The script gets a file name in RETRACE_RESULT_FILE and writes JSON there: `{ title, figures: [{ name, value, unit, aim? }], notes? }`.
 * Its output is for the person watching. Its exit code says whether the figures are good enough; the figures of a script that
 * failed are recorded, too, and marked as failed.
 */
export async function recordResults({ name, script, args, command }) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-result-'));
  const file = join(directory, 'result.json');
  const startedAt = new Date();
  const code = await runTool(name, script, args, {
    mayFail: true,
    environment: { RETRACE_RESULT_FILE: file },
  });
  if (existsSync(file)) {
    const circumstances = { passed: code === 0, ...describeMeasurement(command, startedAt) };
    mkdirSync(RESULTS_FOLDER, { recursive: true });
    writeFileSync(
      join(RESULTS_FOLDER, `${name}.md`),
      renderResult(circumstances, JSON.parse(readFileSync(file, 'utf8'))),
    );
  }
  rmSync(directory, { recursive: true });
  return code;
}

function describeMeasurement(command, startedAt) {
  return {
    command,
    commit: currentCommit(),
    date: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    node: process.versions.node,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
  };
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
