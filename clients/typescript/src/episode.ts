import type {
  AnnotationRecord,
  EndRecord,
  EpisodeRecord,
  RewardRecord,
  RunRecord,
  StepRecord,
} from './wire/records.js';

/** Takes records of a run: whether each was taken in. */
export interface RecordTaker {
  take(record: RunRecord): boolean;
  countDropped(): void;
}

export type EpisodeOptions = Omit<EpisodeRecord, 'type' | 'episode'> & {
  /** Default: a new UUID. */
  readonly id?: string;
};
export type StepFields = Omit<StepRecord, 'type' | 'episode' | 'step'>;
export type EndFields = Omit<EndRecord, 'type' | 'episode' | 'numSteps'>;
export type RewardFields = Omit<RewardRecord, 'type' | 'episode'>;
export type AnnotationFields = Omit<AnnotationRecord, 'type' | 'episode'>;

/**
 * One episode of an agent. Its methods return at once and never throw: records are sent later, in order.
 *
 * When a step finds no room, those after it could not be stored either: they are counted as dropped, and the episode ends as
 * `abandoned`, which says so.
 */
export class Episode {
  /** Number of the next step. */
  private nextStep = 0;
  private numLost = 0;
  /** Tokens of the context after the last step that had any. */
  private numContextTokens = 0;
  private hasEnded = false;

  constructor(
    readonly runId: string,
    readonly id: string,
    private readonly records: RecordTaker,
  ) {}

  get numSteps(): number {
    return this.nextStep;
  }

  get isEnded(): boolean {
    return this.hasEnded;
  }

  /** @internal Begins the episode. */
  begin(fields: Omit<EpisodeRecord, 'type' | 'episode'>): void {
    if (!this.records.take({ type: 'episode', episode: this.id, occurredAt: nowUs(), ...fields }))
      this.numLost++;
  }

  /** @returns the step's number, which `reward` takes */
  step(given: StepFields): number {
    const step = this.nextStep++;
    const fields = this.withKeptPrefix(given);
    if (this.numLost > 0 || this.hasEnded) {
      this.numLost++;
      this.records.countDropped();
    } else if (!this.records.take({ type: 'step', episode: this.id, step, occurredAt: nowUs(), ...fields })) {
      this.numLost++;
    }
    return step;
  }

  /** Says which tokens a step keeps where it keeps all: the server may lack some, if a step before it could not be stored whole. */
  private withKeptPrefix(fields: StepFields): StepFields {
    const { tokens } = fields;
    if (!tokens) return fields;
    const { keptPrefix = this.numContextTokens, ids } = tokens;
    this.numContextTokens = keptPrefix + ids.length;
    return { ...fields, tokens: { ...tokens, keptPrefix } };
  }

  /** Rewards the episode, or one step of it; may come after `end`, too. The same name and source again replaces the value. */
  reward(fields: RewardFields): void {
    this.records.take({
      type: 'reward',
      id: crypto.randomUUID(),
      episode: this.id,
      occurredAt: nowUs(),
      ...fields,
    });
  }

  /** Replaces tags or metadata; may come after `end`, too. */
  annotate(fields: AnnotationFields): void {
    const id = crypto.randomUUID();
    this.records.take({ type: 'annotation', id, episode: this.id, occurredAt: nowUs(), ...fields });
  }

  /** Ends the episode (default: `terminated`). A second call does nothing. */
  end(fields: EndFields = {}): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const lost = this.numLost;
    const ending =
      lost === 0
        ? { ...fields, numSteps: this.nextStep }
        : {
            endReason: 'abandoned' as const,
            detail: `${lost} records found no room in the client and were dropped`,
          };
    this.records.take({ type: 'end', episode: this.id, occurredAt: nowUs(), ...ending });
  }
}

/** Now, as whole microseconds since the Unix epoch. */
export function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}
