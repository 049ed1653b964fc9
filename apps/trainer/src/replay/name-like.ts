import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFiles, isUnreadable, type FileRef, type SafetensorsFile } from '@retrace/policy';
import type { UpdateEngine } from '../engine/update-engine.js';

/**
 * Names the engine's weights: as the recorded ones are where both are the same bits, whoever stored them in which form.
 *
 * Where names differ because the form does (one file, or the shards of another number of processes), tensors are compared, if the recorded file
 * can be read.
 */
export async function nameLike(
  engine: UpdateEngine,
  recorded: FileRef,
  checkpoints: CheckpointFiles,
): Promise<FileRef> {
  const named = await engine.nameWeights(recorded);
  // In one form, all weights of a model have one size.
  if (named.sha256 === recorded.sha256 || named.sizeBytes === recorded.sizeBytes) return named;
  // The run's own directory may be read-only; whoever replays starts its workers on this machine.
  const directory = await mkdtemp(join(tmpdir(), 'retrace-replay-'));
  const files = new CheckpointFiles(directory);
  try {
    const current = await files.open(await engine.saveWeights(files));
    try {
      return (await hasTensorsOf(checkpoints, recorded, current)) ? recorded : named;
    } finally {
      await current.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function hasTensorsOf(
  checkpoints: CheckpointFiles,
  recorded: FileRef,
  current: SafetensorsFile,
): Promise<boolean> {
  const file = await checkpoints.open(recorded).catch((error: unknown) => {
    if (isUnreadable(error)) return null;
    throw error;
  });
  if (file === null) return false;
  try {
    const names = [...file.header.entries.keys()];
    if (names.length !== current.header.entries.size) return false;
    for (const name of names) if (!(await isSameTensor(file, current, name))) return false;
    return true;
  } finally {
    await file.close();
  }
}

async function isSameTensor(a: SafetensorsFile, b: SafetensorsFile, name: string): Promise<boolean> {
  const [ofA, ofB] = [a.header.entries.get(name), b.header.entries.get(name)];
  if (ofA === undefined || ofB === undefined || ofA.shape.join() !== ofB.shape.join()) return false;
  const length = ofA.shape.reduce((product, size) => product * size, 1);
  const [valuesA, valuesB] = [new Float32Array(length), new Float32Array(length)];
  await a.read(name, valuesA);
  await b.read(name, valuesB);
  return Buffer.compare(Buffer.from(valuesA.buffer), Buffer.from(valuesB.buffer)) === 0;
}
