import type { PackLayout } from '../packing/sequence-pack.js';
import type { ContextPiece } from './new-tokens.js';
import type { Slot } from './slot.js';
import type { LiveTurn } from './turn.js';

/** A turn that waits for its next token. */
export interface LiveContext {
  readonly slot: number;
  readonly context: Slot;
  readonly turn: LiveTurn;
}

/** Tokens of one live turn's context that are computed in one pass. */
export interface Chunk extends ContextPiece, LiveContext {}

/** The tokens from `start` on, at most `maxTokens`. */
export function chunkFrom(live: LiveContext, start: number, maxTokens: number): Chunk {
  const { context } = live;
  const end = Math.min(context.length, start + maxTokens);
  return { ...live, start, tokenIds: context.tokensBetween(start, end) };
}

export function chunkEnd({ start, tokenIds }: Chunk): number {
  return start + tokenIds.length;
}

/** Whether a chunk ends its context, so that a token can be sampled after it. */
export function reachesEnd(chunk: Chunk): boolean {
  return chunkEnd(chunk) === chunk.context.length;
}

/** Splits items in their order into batches of at most `maxTokens` tokens; an item with more gets its own batch. */
export function splitByTokens<T>(
  items: readonly T[],
  numTokensOf: (item: T) => number,
  maxTokens: number,
): T[][] {
  const batches: T[][] = [];
  let numTokens = Infinity;
  for (const item of items) {
    numTokens += numTokensOf(item);
    if (numTokens > maxTokens) {
      batches.push([]);
      numTokens = numTokensOf(item);
    }
    batches[batches.length - 1].push(item);
  }
  return batches;
}

/** Packs chunks that are whole contexts; each is read at its last token. */
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

/** Groups chunks with equal tokens; groups and their members keep the order of `chunks`. */
export function groupEqual(chunks: readonly Chunk[]): [Chunk, ...Chunk[]][] {
  const groups = new Map<string, [Chunk, ...Chunk[]]>();
  for (const chunk of chunks) {
    const content = chunk.tokenIds.join(' ');
    const group = groups.get(content);
    if (group) group.push(chunk);
    else groups.set(content, [chunk]);
  }
  return [...groups.values()];
}
