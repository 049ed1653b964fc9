import { execFileSync } from 'node:child_process';
import { root } from '../run-tool.mjs';

/** Reads what the staleness of results needs from the repository's git history. */
export class History {
  constructor(directory = root) {
    this.directory = directory;
  }

  /** Files at a commit: path → blob. @param {string} commit @returns {Map<string, string>} */
  filesAt(commit) {
    const lines = this.run(['ls-tree', '-r', '-z', commit]).split('\0').filter(Boolean);
    return new Map(
      lines.map((line) => {
        const [entry, path] = line.split('\t');
        return [path, entry.split(' ')[2]];
      }),
    );
  }

  /** Whether the repository still has this commit; one that was rewritten is gone in a fresh clone. @param {string} commit */
  has(commit) {
    try {
      this.run(['cat-file', '-e', `${commit}^{commit}`], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** Files that were moved since a commit: path at HEAD → path then. @param {string} commit @returns {Map<string, string>} */
  renamesSince(commit) {
    const fields = this.run([
      'diff',
      '-z',
      '-M',
      '-l0',
      '--name-status',
      '--diff-filter=R',
      commit,
      'HEAD',
    ]).split('\0');
    /** @type {Map<string, string>} */
    const renames = new Map();
    for (let i = 0; i + 2 < fields.length; i += 3) renames.set(fields[i + 2], fields[i + 1]);
    return renames;
  }

  /** @param {string} blob @returns {string} */
  read(blob) {
    return this.run(['cat-file', 'blob', blob]);
  }

  /** @param {readonly string[]} args @param {import('node:child_process').ExecFileSyncOptions} [options] */
  run(args, options) {
    return String(
      execFileSync('git', args, { cwd: this.directory, encoding: 'utf8', maxBuffer: 2 ** 28, ...options }),
    );
  }
}
