import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { sha256OfFile } from '../installation.js';
import { lastLine, runCommand } from '../run-command.js';
import type { WheelPin } from './wheel-pins.js';

export interface DownloadOptions {
  readonly python: string;
  /** Keeps finished downloads until the installation that needs them is complete. */
  readonly directory: string;
  readonly signal?: AbortSignal;
  /** Called about twice a second with the fraction that is downloaded. */
  readonly onFraction: (fraction: number) => void;
}

/**
 * Downloads a pinned wheel through pip, which knows the machine's index, proxy and certificates, and returns its path.
 * A complete wheel of an earlier attempt is used again.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` if pip fails, or if the content is not the pinned one; it is removed.
 */
export async function downloadWheel(pin: WheelPin, options: DownloadOptions): Promise<string> {
  const path = join(options.directory, pin.fileName);
  if ((await sha256OfFile(path).catch(() => null)) === pin.sha256) return path;
  const requirement = `${pin.distribution}==${pin.version}`;
  const arrived = await pipDownload([requirement], [pin.pipPlatform], pin.sizeBytes, options);
  try {
    const file = join(arrived, pin.fileName);
    const sha256 = await sha256OfFile(file).catch(() => 'no such file');
    if (sha256 !== pin.sha256) {
      throw new ComputeError(
        'BACKEND_INSTALL_FAILED',
        `The download of ${pin.fileName} was refused: its SHA-256 is ${sha256}, pinned is ${pin.sha256}.`,
        { retriable: true },
      );
    }
    await rename(file, path);
    return path;
  } finally {
    await rm(arrived, { recursive: true, force: true });
  }
}

/**
 * Downloads the newest wheels that meet the requirements and returns their paths. pip compares each with the checksum of
 * the index.
 */
export async function downloadRequirements(
  requirements: readonly string[],
  platforms: readonly string[],
  expectedBytes: number,
  options: DownloadOptions,
): Promise<string[]> {
  const arrived = await pipDownload(requirements, platforms, expectedBytes, options);
  const files = await readdir(arrived);
  return files.filter((file) => file.endsWith('.whl')).map((file) => join(arrived, file));
}

async function pipDownload(
  requirements: readonly string[],
  platforms: readonly string[],
  expectedBytes: number,
  { python, directory, signal, onFraction }: DownloadOptions,
): Promise<string> {
  const arrived = join(directory, 'arriving');
  await rm(arrived, { recursive: true, force: true });
  await mkdir(join(arrived, 'partial'), { recursive: true });
  const watch = setInterval(() => {
    directorySize(arrived).then(
      (size) => {
        onFraction(Math.min(size / expectedBytes, 1));
      },
      () => undefined,
    );
  }, 500);
  const result = await runCommand(
    python,
    [
      ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'],
      ...['--only-binary=:all:', '--implementation', 'cp', '--python-version', '3.12'],
      ...platforms.flatMap((platform) => ['--platform', platform]),
      ...['--retries', '2', '--timeout', '20', '--dest', arrived],
      ...requirements,
    ],
    // pip writes partial downloads to its temporary directory; in this one their size can be watched.
    { environment: { TMPDIR: join(arrived, 'partial') }, timeoutMs: 3_600_000, signal },
  );
  clearInterval(watch);
  if (signal?.aborted === true || result.exitCode !== 0) {
    await rm(arrived, { recursive: true, force: true });
    const why = signal?.aborted === true ? 'it was cancelled' : `pip says: ${lastLine(result)}`;
    throw new ComputeError(
      'BACKEND_INSTALL_FAILED',
      `Downloading ${requirements.join(', ')} failed; ${why}.`,
      {
        retriable: true,
      },
    );
  }
  return arrived;
}

async function directorySize(directory: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    total += await stat(join(entry.parentPath, entry.name)).then(
      (stats) => stats.size,
      () => 0,
    );
  }
  return total;
}
