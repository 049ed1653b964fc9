import type { SequenceBatch } from './sequence-batch.js';

/**
 * Sequences end to end, without padding; no token sees one of another sequence.
 *
 * A position is *read* if the caller needs the final hidden state there. Sequences without a read, and the tokens after
 * a sequence's last read, influence no read (attention is causal), so they are left out.
 *
 * Legend: N cells · S sequences · M reads.
 */
export interface PackLayout {
  /** [N] */
  readonly tokenIds: Int32Array;
  /** [S + 1] where each sequence begins among the cells, and the end of the last. */
  readonly offsets: Int32Array;
  /** [M] cells that are read, ascending; null if all are. */
  readonly readCells: Int32Array | null;
}

/** A pack, and the positions of the batch that it reads. */
export interface SequencePack extends PackLayout {
  /** [M] the position of each read in the flat batch. */
  readonly readPositions: Int32Array;
  /** [S + 1] where each sequence's reads begin among the M, and the end of the last. */
  readonly readOffsets: Int32Array;
}

export interface PackOptions {
  /** [N] 1 where the final hidden state is wanted. */
  readonly readMask: Uint8Array;
  /** Most tokens of one pack; a longer sequence gets its own pack. */
  readonly maxTokens: number;
}

/**
 * Splits a batch into packs that together read every marked position exactly once.
 *
 * Longest sequences first; the space left in a pack is filled with the longest sequences that fit (first fit,
 * decreasing). The result depends only on the arguments.
 */
export function packSequences(batch: SequenceBatch, { readMask, maxTokens }: PackOptions): SequencePack[] {
  const lengths = readLengths(batch, readMask);
  const sequences = Array.from(lengths.keys()).filter((s) => lengths[s] > 0);
  sequences.sort((a, b) => lengths[b] - lengths[a] || a - b);
  const packs: { readonly members: number[]; room: number }[] = [];
  /** Packs before this one have no room for any remaining sequence. */
  let firstOpen = 0;
  const shortest = sequences.length === 0 ? 0 : lengths[sequences[sequences.length - 1]];
  for (const s of sequences) {
    while (firstOpen < packs.length && packs[firstOpen].room < shortest) firstOpen++;
    let pack = packs.find(({ room }, p) => p >= firstOpen && room >= lengths[s]);
    if (pack === undefined) packs.push((pack = { members: [], room: maxTokens }));
    pack.members.push(s);
    pack.room -= lengths[s];
  }
  return packs.map(({ members }) => layOut(batch, readMask, lengths, members));
}

/** [S] length of each sequence up to and including its last read; 0 if nothing of it is read. */
function readLengths({ sequenceOffsets }: SequenceBatch, readMask: Uint8Array): Int32Array {
  const lengths = new Int32Array(sequenceOffsets.length - 1);
  for (let s = 0; s < lengths.length; s++) {
    let end = sequenceOffsets[s + 1];
    while (end > sequenceOffsets[s] && readMask[end - 1] === 0) end--;
    lengths[s] = end - sequenceOffsets[s];
  }
  return lengths;
}

function layOut(
  { tokenIds, sequenceOffsets }: SequenceBatch,
  readMask: Uint8Array,
  lengths: Int32Array,
  members: readonly number[],
): SequencePack {
  const offsets = new Int32Array(members.length + 1);
  members.forEach((s, i) => {
    offsets[i + 1] = offsets[i] + lengths[s];
  });
  const cellTokens = new Int32Array(offsets[members.length]);
  const readOffsets = new Int32Array(members.length + 1);
  const cells: number[] = [];
  const positions: number[] = [];
  members.forEach((s, i) => {
    const start = sequenceOffsets[s];
    cellTokens.set(tokenIds.subarray(start, start + lengths[s]), offsets[i]);
    for (let t = 0; t < lengths[s]; t++) {
      if (readMask[start + t] === 0) continue;
      cells.push(offsets[i] + t);
      positions.push(start + t);
    }
    readOffsets[i + 1] = cells.length;
  });
  return {
    tokenIds: cellTokens,
    offsets,
    readCells: cells.length === cellTokens.length ? null : Int32Array.from(cells),
    readPositions: Int32Array.from(positions),
    readOffsets,
  };
}
