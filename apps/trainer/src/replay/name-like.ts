import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFiles, isUnreadable, type FileRef, type SafetensorsFile } from '@retrace/policy';
import type { UpdateEngine } from '../engine/update-engine.js';
import { pairTensors } from './tensor-pairs.js';

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
      return (await holdsTensors(checkpoints, recorded, current)) ? recorded : named;
    } finally {
      await current.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function holdsTensors(
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
    const pairs = pairTensors(file, current);
    if (pairs === null) return false;
    for await (const { a, b } of pairs)
      if (Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) !== 0) return false;
    return true;
  } finally {
    await file.close();
  }
}
