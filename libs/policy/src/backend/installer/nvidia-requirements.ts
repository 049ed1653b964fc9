import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WheelArchive } from './wheel-archive.js';

/** About what the wheels that `nvidiaRequirements` names weigh together. */
export const nvidiaDownloadBytes = 2.8e9;

/** Tags under which NVIDIA publishes wheels; pip takes each tag literally. */
export const nvidiaPlatforms = [
  'manylinux_2_27_x86_64',
  'manylinux_2_18_x86_64',
  'manylinux_2_17_x86_64',
  'manylinux2014_x86_64',
  'manylinux1_x86_64',
] as const;

/** The NVIDIA packages, with their version ranges, that a TensorFlow wheel names under its extra `and-cuda`. */
export async function nvidiaRequirements(wheelPath: string): Promise<string[]> {
  const wheel = await WheelArchive.open(wheelPath);
  const directory = await mkdtemp(join(tmpdir(), 'retrace-metadata-'));
  try {
    const entry = wheel.entries.find(({ path }) => path.endsWith('.dist-info/METADATA'));
    if (entry === undefined) return [];
    const file = join(directory, 'METADATA');
    await wheel.extract(entry, file);
    return parseNvidiaRequirements(await readFile(file, 'utf8'));
  } finally {
    await wheel.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Picks `name<range` out of lines like `Requires-Dist: name<range; extra == "and-cuda"` (core metadata 2.1). */
export function parseNvidiaRequirements(metadata: string): string[] {
  return [...metadata.matchAll(/^Requires-Dist: (nvidia-[^;]+);\s*extra == "and-cuda"\s*$/gm)].map(
    ([, name]) => name.trim(),
  );
}
