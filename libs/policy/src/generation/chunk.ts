import type { PackLayout } from '../packing/sequence-pack.js';
import type { ContextPiece } from './new-tokens.js';
import type { Slot } from './slot.js';
import type { LiveTurn } from './turn.js';

/** Tokens of one live turn's context that are computed in one pass. */
export interface Chunk extends ContextPiece {
  readonly context: Slot;
  readonly turn: LiveTurn;
}

/** The tokens from `start` on, at most `maxTokens`. */
export function chunkFrom(
  slot: number,
  context: Slot,
  turn: LiveTurn,
  { start, maxTokens }: { readonly start: number; readonly maxTokens: number },
): Chunk {
  const end = Math.min(context.length, start + maxTokens);
  return { slot, context, turn, start, tokenIds: context.tokensBetween(start, end) };
}

export function endOf({ start, tokenIds }: Chunk): number {
  return start + tokenIds.length;
}

/** Whether a token can be sampled after it. */
export function reachesEnd(chunk: Chunk): boolean {
  return endOf(chunk) === chunk.context.length;
}

/** Chunks in their order, as many at once as have at most `maxTokens` together; one that has more is alone. */
export function splitChunks(chunks: readonly Chunk[], maxTokens: number): Chunk[][] {
  const groups: Chunk[][] = [];
  let numTokens = Infinity;
  for (const chunk of chunks) {
    numTokens += chunk.tokenIds.length;
    if (numTokens > maxTokens) {
      groups.push([]);
      numTokens = chunk.tokenIds.length;
    }
    groups[groups.length - 1].push(chunk);
  }
  return groups;
}

/** A pack of chunks that are whole contexts, each read at its last token. */
export function freshPack(chunks: readonly Chunk[]): PackLayout {
  const offsets = new Int32Array(chunks.length + 1);
  chunks.forEach(({ tokenIds }, i) => {
    offsets[i + 1] = offsets[i] + tokenIds.length;
  });
  const cellTokens = new Int32Array(offsets[chunks.length]);
  chunks.forEach(({ tokenIds }, i) => {
    cellTokens.set(tokenIds, offsets[i]);
  });
  return { tokenIds: cellTokens, offsets, readCells: offsets.subarray(1).map((end) => end - 1) };
}

/** Each different context once, and which of those each chunk is. */
export function distinctContexts(chunks: readonly Chunk[]): {
  readonly distinct: readonly Chunk[];
  readonly indices: readonly number[];
} {
  const distinct: Chunk[] = [];
  const indexByContent = new Map<string, number>();
  const indices = chunks.map((chunk) => {
    const content = chunk.tokenIds.join(' ');
    const known = indexByContent.get(content);
    if (known !== undefined) return known;
    indexByContent.set(content, distinct.length);
    return distinct.push(chunk) - 1;
  });
  return { distinct, indices };
}
