import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the newest version of a line of Node (`22`) from the npm registry's package for this platform into a directory, unless one
 * is there, and returns the path of its program.
 */
export function fetchNode(line, directory) {
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(directory, 'node_modules', name, 'bin', 'node');
  if (existsSync(program)) return program;
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', directory];
  execFileSync('npm', [...args, `${name}@${line}`], { stdio: 'inherit' });
  return program;
}
