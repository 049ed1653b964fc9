import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './run-tool.mjs';

/**
 * Copies what git knows or would add, as a fresh clone has it: nothing installed, nothing built.
 *
 * @param {string} target
 */
export function copyTree(target) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const path of listed.split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue;
    mkdirSync(join(target, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(target, path));
  }
}
