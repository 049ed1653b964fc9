import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { lastLine, runCommand } from '../run-command.js';
import type { PackagePin } from './webgpu-installation.js';

/** Downloads the archive of a pinned package into a directory and returns its path. */
export type DownloadPackage = (
  pin: PackagePin,
  directory: string,
  signal: AbortSignal | undefined,
) => Promise<string>;

/**
 * Downloads a pinned package through npm, which knows the machine's registry, proxy and certificates.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` if npm fails, or if the content is not the pinned one.
 */
export const downloadPackage: DownloadPackage = async (pin, directory, signal) => {
  const { name, version } = pin;
  const result = await runCommand(
    'npm',
    ['pack', `${name}@${version}`, '--ignore-scripts', '--loglevel=error', '--pack-destination', directory],
    { directory, signal },
  );
  if (result.exitCode !== 0) throw failed(pin, `npm says: ${lastLine(result)}`);
  const path = join(directory, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  await requirePinned(pin, path);
  return path;
};

/** @throws ComputeError `BACKEND_INSTALL_FAILED` if a file does not have the pinned content */
export async function requirePinned(pin: PackagePin, path: string): Promise<void> {
  const hash = createHash('sha512').update(await readFile(path));
  const integrity = `sha512-${hash.digest('base64')}`;
  if (integrity !== pin.integrity)
    throw failed(pin, `its content has ${integrity}, pinned is ${pin.integrity}`);
}

function failed({ name, version }: PackagePin, why: string): ComputeError {
  return new ComputeError('BACKEND_INSTALL_FAILED', `Downloading ${name} ${version} failed; ${why}.`, {
    retriable: true,
  });
}
