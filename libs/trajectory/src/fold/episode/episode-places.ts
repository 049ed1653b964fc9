import type { EpisodeEventKind } from '../../events/event.js';

/**
 * Why an event that is valid by itself has no place in its episode. `taken`: an earlier record at the place has other content.
 * `afterEnd`: a step behind the episode's end. `endedBefore`: a second end. `tooEarlyEnd`: an end before a recorded step.
 */
export type PlaceFault = 'taken' | 'afterEnd' | 'endedBefore' | 'tooEarlyEnd';

/** Whether a record got its place in its episode, or the reason why not. */
export type PlaceOutcome = 'placed' | PlaceFault;

/** Leading bytes of a content checksum that are compared here: two different contents count as the same with a chance of 2⁻⁴⁸. */
const FINGERPRINT_BYTES = 6;

/** Returns the beginning of a content checksum, which is given as bytes or as hex digits. */
export function toFingerprint(checksum: Buffer | string): number {
  return typeof checksum === 'string'
    ? Number.parseInt(checksum.slice(0, 2 * FINGERPRINT_BYTES), 16)
    : checksum.readUIntBE(0, FINGERPRINT_BYTES);
}

/**
 * The places of one episode and the content that holds each: a fold of its records in log order that decides which of them count.
 *
 * The first record at a place counts, and so does each later one with the same content, which is the same event again. Otherwise order does
 * not matter: a record that comes late, or before its episode's start, counts if it belongs. Needs 8 bytes per step that came in order.
 */
export class EpisodePlaces {
  /** Offset of the last record that was asked about. */
  lastOffset = -1;
  /** Fingerprints by seq, up to the first that is missing. */
  private readonly inOrder: number[] = [];
  /** Fingerprints by seq, behind a missing one. */
  private ahead: Map<number, number> | null = null;
  private rewards: Map<number, number> | null = null;
  private annotations: Map<number, number> | null = null;
  private endSeq = -1;
  private highestSeq = -1;

  /** Number of steps that the end states; null before the end. */
  get numSteps(): number | null {
    return this.endSeq < 0 ? null : this.endSeq - 1;
  }

  /** The highest recorded step; −1 when there is none. */
  get highestStep(): number {
    return this.highestSeq - 1;
  }

  /** Gives the next record in log order its place, if it has one. */
  take(kind: EpisodeEventKind, seq: number, fingerprint: number): PlaceOutcome {
    if (kind === 'RewardAssigned') return takeOwn((this.rewards ??= new Map()), seq, fingerprint);
    if (kind === 'EpisodeAnnotated') return takeOwn((this.annotations ??= new Map()), seq, fingerprint);
    const holder = seq < this.inOrder.length ? this.inOrder[seq] : this.ahead?.get(seq);
    if (holder === fingerprint) return 'placed';
    if (kind === 'StepRecorded' && this.endSeq >= 0 && seq >= this.endSeq) return 'afterEnd';
    if (kind === 'EpisodeEnded' && this.endSeq >= 0 && seq !== this.endSeq) return 'endedBefore';
    if (holder !== undefined) return 'taken';
    if (kind === 'EpisodeEnded') {
      if (this.highestSeq > seq) return 'tooEarlyEnd';
      this.endSeq = seq;
    } else if (kind === 'StepRecorded' && seq > this.highestSeq) this.highestSeq = seq;
    this.put(seq, fingerprint);
    return 'placed';
  }

  private put(seq: number, fingerprint: number): void {
    if (seq !== this.inOrder.length) {
      this.ahead ??= new Map<number, number>();
      this.ahead.set(seq, fingerprint);
      return;
    }
    this.inOrder.push(fingerprint);
    if (this.ahead === null) return;
    for (let next = seq + 1; ; next++) {
      const waiting = this.ahead.get(next);
      if (waiting === undefined) break;
      this.ahead.delete(next);
      this.inOrder.push(waiting);
    }
    if (this.ahead.size === 0) this.ahead = null;
  }
}

/** Gives a record a place among those of a kind that has its own numbers. */
function takeOwn(places: Map<number, number>, seq: number, fingerprint: number): PlaceOutcome {
  const holder = places.get(seq);
  if (holder !== undefined) return holder === fingerprint ? 'placed' : 'taken';
  places.set(seq, fingerprint);
  return 'placed';
}
