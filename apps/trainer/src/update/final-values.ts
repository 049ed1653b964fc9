import type { TokenBatch } from '@retrace/trajectory';
import type { UpdateEngine } from '../engine/update-engine.js';

/** [E] V(s_T) of the marked episodes, from their stored final observation; 0 for the others, which are not read. */
export function computeFinalValues(
  engine: UpdateEngine,
  { finalSequences: { tokenIds, sequenceOffsets } }: Pick<TokenBatch, 'finalSequences'>,
  bootstrapped: Uint8Array,
): Promise<Float32Array> {
  const kept = new Int32Array(sequenceOffsets.length);
  const parts = Array.from(bootstrapped, (isBootstrapped, e) => {
    const end = isBootstrapped ? sequenceOffsets[e + 1] : sequenceOffsets[e];
    const part = tokenIds.subarray(sequenceOffsets[e], end);
    kept[e + 1] = kept[e] + part.length;
    return part;
  });
  const joined = new Int32Array(kept[bootstrapped.length]);
  parts.forEach((part, e) => {
    joined.set(part, kept[e]);
  });
  return engine.evaluateEnds({ tokenIds: joined, sequenceOffsets: kept });
}
