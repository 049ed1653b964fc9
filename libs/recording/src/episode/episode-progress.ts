import { type EpisodeTotals, episodeTotals, type StepTotals } from '@retrace/trajectory';

/** Kinds of places in an episode: one for start, steps and end, and one each for rewards and annotations. */
export type PlaceKind = 'inOrder' | 'reward' | 'annotation';

/** Why a state may differ from the log: another process wrote to the episode, or the outcome of an append is unknown. */
export type StaleReason = 'overtaken' | 'lost';

const PLACE_BYTES = 16;
const STATE_BYTES = 500;

/** The content at each place of one recorded episode, what its steps add up to, and how long its context is after each of them. */
export class EpisodeProgress {
  /** Once set, nothing may be planned on the state, nor appended that was. */
  stale: StaleReason | null = null;
  /** Batches that are being planned or appended on it; it may be forgotten when there is none. */
  numPins = 0;
  /** Offset after the last of its records that is in the log. */
  endOffset = 0;
  isEnded = false;
  private totalsSoFar: EpisodeTotals = episodeTotals([]);
  /** Fingerprints of start, steps and end, by seq. */
  private readonly inOrder: number[] = [];
  private readonly contexts: number[] = [];
  private readonly own: Partial<Record<PlaceKind, Map<number, number>>> = {};

  constructor(
    readonly runId: string,
    readonly episodeId: string,
    readonly partition: number,
  ) {}

  get isStarted(): boolean {
    return this.inOrder.length > 0;
  }

  get numSteps(): number {
    return this.contexts.length;
  }

  get totals(): EpisodeTotals {
    return this.totalsSoFar;
  }

  /** Rough size in memory. */
  get sizeBytes(): number {
    const numOwn = (this.own.reward?.size ?? 0) + (this.own.annotation?.size ?? 0);
    return STATE_BYTES + PLACE_BYTES * (this.inOrder.length + 3 * numOwn);
  }

  /** Tokens of the context before a step that is recorded, or the next one. */
  contextBefore(step: number): number {
    return step === 0 ? 0 : this.contexts[step - 1];
  }

  fingerprintAt(kind: PlaceKind, seq: number): number | undefined {
    return kind === 'inOrder' ? this.inOrder[seq] : this.own[kind]?.get(seq);
  }

  /** Records the start; returns a function that undoes it. */
  start(fingerprint: number): () => void {
    this.inOrder.push(fingerprint);
    return () => {
      this.inOrder.pop();
    };
  }

  /** Records the next step; returns a function that undoes it. */
  addStep(fingerprint: number, step: StepTotals, contextTokens: number): () => void {
    const before = this.totalsSoFar;
    this.inOrder.push(fingerprint);
    this.contexts.push(contextTokens);
    this.totalsSoFar = addTotals(before, step);
    return () => {
      this.inOrder.pop();
      this.contexts.pop();
      this.totalsSoFar = before;
    };
  }

  /** Records the end; returns a function that undoes it. */
  end(fingerprint: number): () => void {
    this.inOrder.push(fingerprint);
    this.isEnded = true;
    return () => {
      this.inOrder.pop();
      this.isEnded = false;
    };
  }

  /** Records a reward or an annotation; returns a function that undoes it. */
  add(kind: Exclude<PlaceKind, 'inOrder'>, seq: number, fingerprint: number): () => void {
    const places = (this.own[kind] ??= new Map<number, number>());
    places.set(seq, fingerprint);
    return () => {
      places.delete(seq);
    };
  }
}

/** The totals with one more step behind the others, as `episodeTotals` of all of them. */
function addTotals(totals: EpisodeTotals, step: StepTotals): EpisodeTotals {
  const { reward, policyVersionMin: min } = step;
  const knownMin = totals.policyVersionMin;
  return {
    numSteps: totals.numSteps + 1,
    return: reward === null ? totals.return : (totals.return ?? 0) + reward,
    numTokens: totals.numTokens + step.numTokens,
    numActionTokens: totals.numActionTokens + step.numActionTokens,
    policyVersionMin: min < 0 || knownMin < 0 ? Math.max(min, knownMin) : Math.min(min, knownMin),
    policyVersionMax: Math.max(totals.policyVersionMax, step.policyVersionMax),
  };
}
