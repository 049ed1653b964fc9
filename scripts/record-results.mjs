import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runTool } from './run-tool.mjs';

const resultsDirectory = join(root, 'docs', 'results');

/**
 * Runs one measuring script and writes what it measured into `docs/results/<name>.json` and `.md`.
 *
 * The script gets a file name in RETRACE_RESULT_FILE and writes JSON there: `{ title, figures: [{ name, value, unit, aim? }], notes? }`.
 * What it prints is for the person who watches. Its exit code says whether what it measured is good enough; figures of a
 * failed script are recorded, too, marked as failed.
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
    const measured = JSON.parse(readFileSync(file, 'utf8'));
    const record = { name, ...measured, passed: code === 0, ...circumstances(command, startedAt) };
    mkdirSync(resultsDirectory, { recursive: true });
    writeFileSync(join(resultsDirectory, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
    writeFileSync(join(resultsDirectory, `${name}.md`), renderMarkdown(record));
  }
  rmSync(directory, { recursive: true });
  return code;
}

function circumstances(command, startedAt) {
  return {
    command,
    commit: currentCommit(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    node: process.versions.node,
    date: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
  };
}

function currentCommit() {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
    const dirty =
      git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs/results') === ''
        ? ''
        : ' (with changes)';
    return `${git('rev-parse', '--short=12', 'HEAD')}${dirty}`;
  } catch {
    return 'not a git checkout';
  }
}

function renderMarkdown({ title, figures, notes, passed, command, commit, cpu, cores, node, date, seconds }) {
  const withAims = figures.some(({ aim }) => aim);
  const cells = (row) => `| ${(withAims ? row : row.slice(0, 3)).join(' | ')} |`;
  const rows = figures.map(({ name, value, unit, aim }) =>
    cells([name, formatValue(value), unit ?? '', aim ?? '']),
  );
  return [
    `# ${title}`,
    '',
    ...(passed ? [] : ['**Failed:** the figures below miss a bar; see the script.', '']),
    cells(['figure', 'value', 'unit', 'aim']),
    cells(['---', '---:', '---', '---']),
    ...rows,
    '',
    ...(notes ? [notes, ''] : []),
    `\`${command}\` at commit ${commit}, Node ${node}, ${cores} cores of ${cpu}, ${date}, took ${seconds} s.`,
    '',
  ].join('\n');
}

function formatValue(value) {
  if (typeof value !== 'number') return String(value);
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(4)));
}
