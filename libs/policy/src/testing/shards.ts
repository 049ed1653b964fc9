import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdoptedFile, CheckpointFiles } from '../checkpoints/checkpoint-files.js';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { encodeSafetensors } from './safetensors.js';

type Tensors = Map<string, { readonly shape: readonly number[]; readonly data: Float32Array }>;

/** Writes shards as the processes of a worker do. */
export async function shardFiles(
  files: CheckpointFiles,
  shards: readonly NamedTensors[],
): Promise<AdoptedFile[]> {
  const scratch = await files.makeScratch();
  return Promise.all(
    shards.map(async (tensors) => {
      const bytes = encodeSafetensors(tensors, { retraceShard: 'yes' });
      const path = join(scratch, randomUUID());
      await writeFile(path, bytes);
      return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length };
    }),
  );
}

/** Cuts tensors by rows; a shard lacks a tensor of which it has none. */
export function cut(tensors: Tensors, cutsOf: (rows: number) => readonly number[]): NamedTensors[] {
  const shards: Tensors[] = [];
  for (const [name, { shape, data }] of tensors) {
    const width = data.length / shape[0];
    const cuts = [...cutsOf(shape[0]), shape[0]];
    let first = 0;
    for (const [s, end] of cuts.entries()) {
      shards[s] ??= new Map();
      const rows = data.slice(first * width, end * width);
      if (end > first) shards[s].set(name, { shape: [end - first, ...shape.slice(1)], data: rows });
      first = end;
    }
  }
  return shards.filter(({ size }) => size > 0);
}

export const two = (value: number): Tensors =>
  new Map([['w', { shape: [2, 2], data: Float32Array.of(1, 2, 3, value) }]]);
export const halves = (tensors: Tensors) => cut(tensors, (rows) => [rows / 2]);
