import { expect, it } from 'vitest';
import { encodeSafetensors } from '../testing/safetensors.js';
import { ShardIndexes } from './shard-indexes.js';
import { shardIndexContent } from './shards.js';

const hashOf = (n: number) => n.toString(16).padStart(64, '0');
const shard = { sha256: 'a'.repeat(64), sizeBytes: 9 };

/** Indexes among files in memory, and the hashes that were read. */
function indexesOf(contents: ReadonlyMap<string, Uint8Array>) {
  const read: string[] = [];
  const indexes = new ShardIndexes({
    list: () => Promise.resolve([...contents].map(([sha256, { length }]) => ({ sha256, sizeBytes: length }))),
    readSmall: (sha256) => {
      read.push(sha256);
      return Promise.resolve(contents.get(sha256) ?? null);
    },
    pathOf: (sha256) => `directory/${sha256}`,
  });
  return { indexes, read };
}

it('reads each of many small files once', async () => {
  const contents = new Map(Array.from({ length: 3000 }, (_, n) => [hashOf(n), Uint8Array.of(1)]));
  contents.set(hashOf(3000), Uint8Array.from(shardIndexContent([shard], {})));
  const { indexes, read } = indexesOf(contents);
  for (let look = 0; look < 2; look++) expect(await indexes.unlisted([shard], '')).toEqual([]);
  expect(read).toHaveLength(3001);
});

it('names the path of an index whose list is in another form', async () => {
  const damaged = Uint8Array.from(encodeSafetensors(new Map(), { retraceShards: 'x' }));
  const { indexes } = indexesOf(new Map([[hashOf(1), damaged]]));
  await expect(indexes.shardsOf(hashOf(1))).rejects.toThrow(`directory/${hashOf(1)}: metadata.retraceShards`);
});
