import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';

/**
 * A recorded result: one Markdown file `docs/results/<name>.md`, or `docs/results/<name>/<part>.md` for each part of a script that has several.
 * Its front matter says how the figures came about, as YAML that
 * scripts read back; below it are the figures, for people.
 *
 * @typedef {object} Circumstances
 * @property {string} command what to run to measure again
 * @property {boolean} passed
 * @property {string} commit of the code that was measured, with `(with changes)` behind it where the checkout had uncommitted ones
 * @property {string} date start of the measurement, ISO 8601 in UTC
 * @property {number} seconds that it took
 * @property {string} node version of Node.js
 * @property {number} cores
 * @property {string} cpu
 */

/**
 * Figures that a measuring script reports.
 *
 * @typedef {object} Measured
 * @property {string} title
 * @property {readonly { name: string, value: number | string, unit?: string, aim?: string }[]} figures
 * @property {string} [notes] Markdown, below the figures
 */

const FRONT_MATTER = /^---\n([\s\S]*?\n)---\n/;

/** @param {Circumstances} circumstances @param {Measured} measured @returns {string} */
export function renderResult({ command, passed, commit, date, seconds, node, cores, cpu }, measured) {
  const circumstances = { command, passed, commit, date, seconds, node, cores, cpu };
  return `---\n${dump(circumstances, { lineWidth: -1 })}---\n\n${renderFigures(measured, passed)}`;
}

/**
 * Reads the front matter of a recorded result.
 *
 * @param {string} text
 * @param {string} file for the message
 * @returns {Circumstances}
 * @throws {Error} where the file has no front matter
 */
export function readCircumstances(text, file) {
  const frontMatter = FRONT_MATTER.exec(text);
  if (frontMatter === null)
    throw new Error(`${file} has no front matter between two lines "---"; record it again`);
  return /** @type {Circumstances} */ (load(frontMatter[1]));
}

/** @param {Measured} measured @param {boolean} passed */
function renderFigures({ title, figures, notes }, passed) {
  const withAims = figures.some(({ aim }) => aim);
  /** @param {readonly string[]} row */
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
  ].join('\n');
}

/** @param {number | string} value */
function formatValue(value) {
  if (typeof value !== 'number') return value;
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(4)));
}

/**
 * Lists the recorded results of a script, in the order of their names.
 *
 * @param {string} folder `docs/results`
 * @param {string} name of the script
 * @returns {string[]} files relative to the folder; none if it was never recorded
 */
export function listResults(folder, name) {
  const own = `${name}.md`;
  const parts = join(folder, name);
  return [
    ...(existsSync(join(folder, own)) ? [own] : []),
    ...(existsSync(parts)
      ? readdirSync(parts)
          .sort()
          .map((file) => join(name, file))
      : []),
  ];
}
