import { contentChecksum } from '../../checksum/content-checksum.js';
import { TrajectoryError } from '../../trajectory-error.js';
import { isEpisodeEventKind } from '../../events/event-kinds.js';
import type {
  EpisodeAnnotated,
  EpisodeEnded,
  EpisodeStarted,
  RewardAssigned,
} from '../../events/episode-events.js';
import type { Json } from '../../json/json.js';
import type { AnyEvent } from '../../events/event.js';
import { episodeTotals, stepTotals, type EpisodeTotals, type StepTotals } from './episode-totals.js';

/** Steps from `from` to `end` − 1. */
export interface StepRange {
  readonly from: number;
  readonly end: number;
}

/** The state of an episode that its events add up to. */
export interface EpisodeState {
  readonly runId: string;
  readonly episodeId: string;
  readonly started: EpisodeStarted | null;
  readonly ended: EpisodeEnded | null;
  readonly rewards: readonly RewardAssigned[];
  /** The tags that the episode started with, or those of the newest annotation that has some. */
  readonly tags: readonly string[];
  readonly metadata: Json;
  /** Totals of the steps themselves, up to the first that is missing. */
  readonly totals: EpisodeTotals;
  /** Started, ended, and no step is missing. */
  readonly sealed: boolean;
  /** Gaps below the highest recorded step, or below the number of steps that the end states. */
  readonly missingSteps: readonly StepRange[];
  /** Contradictions between its events, one sentence each: steps after the end, a seal that doesn't add up … */
  readonly faults: readonly string[];
}

interface Step extends StepTotals {
  readonly keptPrefixTokens: number;
}

interface Annotation extends EpisodeAnnotated {
  readonly occurredAtUs: number;
}

/** Kinds that have their own numbers in an episode. */
const HAS_OWN_NUMBERS: ReadonlySet<string> = new Set(['RewardAssigned', 'EpisodeAnnotated']);

/** Tolerance: sums of doubles that were added in another order differ in the last digits. */
const RETURN_TOLERANCE = 1e-9;

/**
 * The pure fold of one episode's events, in log order, kept small: counts of steps, not their tokens.
 *
 * The first event at a place (seq, counted separately for rewards and for annotations) counts. A later one with the same content is
 * the same event delivered again; one with other content is a conflict.
 */
export class EpisodeFold {
  private readonly runId: string;
  private readonly episodeId: string;
  /** Content checksum of the event at each place. */
  private readonly places = new Map<string, string>();
  private readonly steps = new Map<number, Step>();
  private readonly rewards: RewardAssigned[] = [];
  /** In log order. */
  private readonly annotations: Annotation[] = [];
  private started: EpisodeStarted | null = null;
  private ended: EpisodeEnded | null = null;
  private numEnds = 0;

  constructor({ runId, episodeId }: Pick<AnyEvent, 'runId' | 'episodeId'>) {
    this.runId = runId;
    this.episodeId = episodeId;
  }

  /** @throws TrajectoryError `INVALID_ARGUMENT` when the event belongs to another episode */
  apply(event: AnyEvent): 'applied' | 'duplicate' | 'conflict' {
    const { runId, episodeId, kind, seq } = event;
    if (runId !== this.runId || episodeId !== this.episodeId || !isEpisodeEventKind(kind)) {
      const message = `${kind} of episode '${episodeId}' was passed to the fold of episode ${this.episodeId}`;
      throw new TrajectoryError('INVALID_ARGUMENT', `${message}; pass only events of that episode`);
    }
    const key = HAS_OWN_NUMBERS.has(kind) ? `${kind} ${seq}` : String(seq);
    const checksum = contentChecksum(event);
    const existing = this.places.get(key);
    if (existing !== undefined) return existing === checksum ? 'duplicate' : 'conflict';
    this.places.set(key, checksum);
    this.add(event);
    return 'applied';
  }

  state(): EpisodeState {
    const missingSteps = this.missingSteps();
    const steps = this.stepsFromStart();
    return {
      runId: this.runId,
      episodeId: this.episodeId,
      started: this.started,
      ended: this.ended,
      rewards: [...this.rewards],
      tags: this.newest('tags') ?? this.started?.tags ?? [],
      metadata: this.newest('metadata') ?? this.started?.metadata ?? null,
      totals: episodeTotals(steps),
      sealed: this.started !== null && this.ended !== null && missingSteps.length === 0,
      missingSteps,
      faults: [...this.findContextFaults(steps), ...this.findSealFaults(steps, missingSteps)],
    };
  }

  private add(event: AnyEvent): void {
    if (event.kind === 'EpisodeStarted') this.started = event.payload;
    else if (event.kind === 'RewardAssigned') this.rewards.push(event.payload);
    else if (event.kind === 'EpisodeAnnotated')
      this.annotations.push({ ...event.payload, occurredAtUs: event.occurredAtUs });
    else if (event.kind === 'EpisodeEnded') {
      this.ended ??= event.payload;
      this.numEnds += 1;
    } else if (event.kind === 'StepRecorded') {
      const { step, keptPrefixTokens } = event.payload;
      this.steps.set(step, { ...stepTotals(event.payload), keptPrefixTokens });
    }
  }

  /** The newest value, by time and then by place in the log, that an annotation gave; null when none did. */
  private newest<F extends 'tags' | 'metadata'>(field: F): EpisodeAnnotated[F] | null {
    let newest: Annotation | null = null;
    for (const annotation of this.annotations) {
      if (annotation[field] === null) continue;
      if (newest === null || annotation.occurredAtUs >= newest.occurredAtUs) newest = annotation;
    }
    return newest?.[field] ?? null;
  }

  private missingSteps(): StepRange[] {
    const missing: StepRange[] = [];
    let next = 0;
    for (const step of [...this.steps.keys()].sort((a, b) => a - b)) {
      if (step > next) missing.push({ from: next, end: step });
      next = step + 1;
    }
    const numSteps = this.ended?.numSteps ?? 0;
    if (numSteps > next) missing.push({ from: next, end: numSteps });
    return missing;
  }

  private stepsFromStart(): Step[] {
    const steps: Step[] = [];
    for (let step = this.steps.get(0); step !== undefined; step = this.steps.get(steps.length))
      steps.push(step);
    return steps;
  }

  /** Follows the length of the context, since no prompt can keep more tokens than it had. */
  private findContextFaults(steps: readonly Step[]): string[] {
    const faults: string[] = [];
    let context = 0;
    steps.forEach(({ keptPrefixTokens, numTokens }, step) => {
      if (keptPrefixTokens > context) {
        faults.push(`step ${step} keeps ${keptPrefixTokens} tokens of a context of ${context}`);
      }
      context = keptPrefixTokens + numTokens;
    });
    const kept = this.ended?.finalKeptPrefixTokens ?? 0;
    if (this.ended?.numSteps === steps.length && kept > context) {
      faults.push(`the final observation keeps ${kept} tokens of a context of ${context}`);
    }
    return faults;
  }

  private findSealFaults(steps: readonly Step[], missingSteps: readonly StepRange[]): string[] {
    const ended = this.ended;
    if (ended === null) return [];
    const faults = this.numEnds > 1 ? [`it ends ${this.numEnds} times; the first end counts`] : [];
    const numAfter = [...this.steps.keys()].filter((step) => step >= ended.numSteps).length;
    if (numAfter > 0)
      faults.push(`${numAfter} steps come after the end, which states ${ended.numSteps} steps`);
    if (missingSteps.length > 0 || numAfter > 0) return faults;
    const counted = episodeTotals(steps);
    for (const field of Object.keys(counted) as (keyof EpisodeTotals)[]) {
      if (!agrees(ended[field], counted[field])) {
        faults.push(`the end states ${field} ${ended[field]}; its steps add up to ${counted[field]}`);
      }
    }
    return faults;
  }
}

function agrees(stated: number | null, counted: number | null): boolean {
  if (stated === null || counted === null) return stated === counted;
  return Math.abs(stated - counted) <= RETURN_TOLERANCE * Math.max(1, Math.abs(stated));
}
