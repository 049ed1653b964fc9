import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cli.mjs';

const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

/** Message of a command whose disk is full. */
export const DISK_FULL =
  /^retrace: data directory \S+: the disk is full \(\d+ MiB free, at least 48 are needed\); free some space/;

/** Returns whether this user may mount a file system. */
export function canMount() {
  try {
    execFileSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns shell code that fills the small disk after `delaySeconds`, with a file `ballast`.
 *
 * @param {number} delaySeconds
 */
export function fillDisk(delaySeconds) {
  return `(sleep ${delaySeconds}; head -c 100M /dev/zero > "$0/ballast") 2>/dev/null`;
}

/**
 * Runs a shell script in which `$0` is a disk of 100 MiB and `$@` is `retrace` with these arguments on a data directory there.
 *
 * @param {string} disk a directory to make
 * @param {string} script
 * @param {readonly string[]} args
 * @returns {{ code: number | null, lines: string[] }} its exit code, and the lines of its stderr
 */
export function runOnSmallDisk(disk, script, args) {
  mkdirSync(disk);
  const mount = 'mount -t tmpfs -o size=100m tmpfs "$0"';
  const command = [process.execPath, retrace, ...args, '--data-dir', join(disk, 'data')];
  const { status, stderr } = spawnSync(
    'unshare',
    ['-Urm', '--kill-child', 'sh', '-c', `${mount}; ${script}`, disk, ...command],
    { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], timeout: 180_000 },
  );
  return { code: status, lines: stderr.trim().split('\n') };
}
