/**
 * The outcome for one recorded result.
 *
 * @typedef {{ kind: 'current', numFiles: number }
 *   | { kind: 'changed', files: readonly string[], numFiles: number }
 *   | { kind: 'unknown', why: string }} Staleness
 */

/**
 * Lists the files whose code differs between a commit and HEAD. A file is unchanged where the commit had its content under any path,
 * or had, at its path or at the one it was renamed from, a text with the same fingerprint.
 *
 * @param {object} input
 * @param {readonly string[]} input.files to compare, by their paths at HEAD
 * @param {ReadonlyMap<string, string>} input.now path → blob at HEAD; a file without one isn't committed and counts as changed
 * @param {ReadonlyMap<string, string>} input.then path → blob at the commit
 * @param {ReadonlyMap<string, string>} input.renames path at HEAD → path at the commit
 * @param {(blob: string, path: string) => string} input.fingerprint
 * @returns {string[]}
 */
export function changedFiles({ files, now, then, renames, fingerprint }) {
  const contents = new Set(then.values());
  return files.filter((file) => {
    const blob = now.get(file);
    if (blob === undefined) return true;
    if (contents.has(blob)) return false;
    const before = then.get(file) ?? then.get(renames.get(file) ?? '');
    return before === undefined || fingerprint(before, file) !== fingerprint(blob, file);
  });
}

/**
 * Sorts results by the date of their measurement, oldest first; those without one come last, by name.
 *
 * @template {{ name: string, recorded: { date: string } | null }} R
 * @param {readonly R[]} results
 * @returns {R[]}
 */
export function oldestFirst(results) {
  /** @param {R} result */
  const key = ({ name, recorded }) => `${recorded?.date ?? '~'} ${name}`;
  return [...results].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
