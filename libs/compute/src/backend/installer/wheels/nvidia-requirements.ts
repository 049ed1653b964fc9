import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ComputeError } from '../../compute-error.js';
import { WheelArchive } from './wheel-archive.js';

/** Approximate size of all wheels that `nvidiaRequirements` names. */
export const NVIDIA_DOWNLOAD_BYTES = 2.8e9;

/** Tags under which NVIDIA publishes wheels; pip takes each tag literally. */
export const NVIDIA_PLATFORMS = [
  'manylinux_2_27_x86_64',
  'manylinux_2_18_x86_64',
  'manylinux_2_17_x86_64',
  'manylinux2014_x86_64',
  'manylinux1_x86_64',
] as const;

/**
 * The NVIDIA packages, with their version ranges, that a TensorFlow wheel names under its extra `and-cuda`.
 *
 * @throws ComputeError `BACKEND_INSTALL_FAILED` where it names none, since it would compute on no GPU without them
 */
export async function nvidiaRequirements(wheelPath: string): Promise<string[]> {
  const wheel = await WheelArchive.open(wheelPath);
  const directory = await mkdtemp(join(tmpdir(), 'retrace-metadata-'));
  try {
    const entry = wheel.entries.find(({ fileName }) => fileName.endsWith('.dist-info/METADATA'));
    const file = join(directory, 'METADATA');
    if (entry !== undefined) await wheel.extract(entry, file);
    const requirements = entry === undefined ? [] : parseNvidiaRequirements(await readFile(file, 'utf8'));
    if (requirements.length > 0) return requirements;
    throw new ComputeError('BACKEND_INSTALL_FAILED', `${basename(wheelPath)} names no CUDA libraries.`);
  } finally {
    wheel.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Picks `name<range` out of lines like `Requires-Dist: name<range; extra == "and-cuda"` (core metadata 2.1), in single or double quotes. */
export function parseNvidiaRequirements(metadata: string): string[] {
  return [...metadata.matchAll(/^Requires-Dist: (nvidia-[^;]+);\s*extra == (["'])and-cuda\2\s*$/gm)].map(
    ([, name]) => name.trim(),
  );
}
