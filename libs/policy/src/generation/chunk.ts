import type { PackLayout } from '../packing/sequence-pack.js';
import type { NewTokens } from './cached-forward.js';
import type { Slot } from './slot.js';
import type { LiveTurn } from './turn.js';

/** What one live turn needs computed before its next token: the tokens of its context from `start` on. */
export interface Chunk {
  readonly index: number;
  readonly slot: Slot;
  readonly turn: LiveTurn;
  readonly start: number;
  readonly tokenIds: Int32Array;
}

export function chunkOf(index: number, slot: Slot, turn: LiveTurn): Chunk {
  const start = turn.isSingleShot ? 0 : slot.firstUncached;
  return { index, slot, turn, start, tokenIds: slot.tokensFrom(start) };
}

export interface GroupingOptions {
  /** Most cells (rows × columns) of a group with more than one row. */
  readonly maxCells: number;
  /** Cells of padding that cost as much as another pass. */
  readonly passCost: number;
}

/**
 * Groups chunks that are computed in one pass, each padded to the longest of its group: longest first, and a new
 * group as soon as the padding it saves is worth a pass. Inside a group chunks keep the order of their slots.
 */
export function groupChunks(chunks: readonly Chunk[], { maxCells, passCost }: GroupingOptions): Chunk[][] {
  const sorted = chunks.toSorted((a, b) => b.tokenIds.length - a.tokenIds.length || a.index - b.index);
  const groups: Chunk[][] = [];
  let group: Chunk[] = [];
  sorted.forEach((chunk, i) => {
    const longest = group.length === 0 ? 0 : group[0].tokenIds.length;
    const savedCells = (longest - chunk.tokenIds.length) * (sorted.length - i);
    if (group.length === 0 || savedCells > passCost || (group.length + 1) * longest > maxCells) {
      group = [];
      groups.push(group);
    }
    group.push(chunk);
  });
  for (const members of groups) members.sort((a, b) => a.index - b.index);
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

export function newTokens(chunks: readonly Chunk[]): NewTokens {
  return {
    slots: Int32Array.from(chunks, (chunk) => chunk.index),
    starts: Int32Array.from(chunks, (chunk) => chunk.start),
    lengths: Int32Array.from(chunks, (chunk) => chunk.tokenIds.length),
    ...padded(chunks),
  };
}

function padded(chunks: readonly Chunk[]): { numColumns: number; tokenIds: Int32Array } {
  const numColumns = chunks.reduce((max, chunk) => Math.max(max, chunk.tokenIds.length), 0);
  const tokenIds = new Int32Array(chunks.length * numColumns);
  chunks.forEach((chunk, row) => {
    tokenIds.set(chunk.tokenIds, row * numColumns);
  });
  return { numColumns, tokenIds };
}
