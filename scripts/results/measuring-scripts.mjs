import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-tool.mjs';

/** The folders of scripts whose figures are recorded, and the command that runs them. */
export const BENCHES = { folder: 'bench', suffix: '.bench.mjs', command: 'npm run bench --' };
export const LONG_TESTS = { folder: 'test/long', suffix: '.mjs', command: 'npm run test:long --' };

/** All of CI, which records its own seconds. */
export const CI = { name: 'ci', script: 'scripts/ci.mjs', command: 'bash .ci/run' };

/**
 * Lists the measuring scripts of a folder by name.
 *
 * @param {{ folder: string, suffix: string, command: string }} kind
 * @returns {{ name: string, script: string, command: string }[]} `script` is relative to the root
 */
export function listScripts({ folder, suffix, command }) {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith(suffix))
    .sort()
    .map((file) => {
      const name = file.slice(0, -suffix.length);
      return { name, script: `${folder}/${file}`, command: `${command} ${name}` };
    });
}
