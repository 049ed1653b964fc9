import type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  ScoredTokens,
  ScoreRequest,
} from '@retrace/chat';
import type { TokenEngine } from '@retrace/endpoints';

/** An engine whose server may change its weights between turns: while it is paused, turns under way end and no other begins. */
export class PausableEngine implements TokenEngine {
  private readonly underWay = new Set<Promise<unknown>>();
  private paused: Promise<void> | null = null;

  constructor(private readonly engine: TokenEngine) {}

  describe(signal?: AbortSignal): Promise<string> {
    return this.engine.describe(signal);
  }

  likeliest(request: LikeliestRequest): Promise<ReadonlyMap<string, number>> {
    return this.engine.likeliest(request);
  }

  /** Works also while the engine is paused, because new weights are checked before turns go on. */
  score(request: ScoreRequest, signal?: AbortSignal): Promise<ScoredTokens> {
    return this.engine.score(request, signal);
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    // Without a pause the turn begins at once, so that a pause that follows waits for it.
    while (this.paused !== null) await this.paused;
    signal?.throwIfAborted();
    const turn = this.engine.generate(request, signal);
    this.underWay.add(turn);
    try {
      return await turn;
    } finally {
      this.underWay.delete(turn);
    }
  }

  /** Resolves when the present pause ends; null where turns may begin at once. */
  get pause(): Promise<void> | null {
    return this.paused;
  }

  /** Calls `change` once no turn is under way; the turns that are asked for meanwhile begin after it. */
  whilePaused(change: () => Promise<void>): Promise<void> {
    return this.whileHeld(async () => {
      await Promise.allSettled(this.underWay);
      await change();
    });
  }

  /** Calls `change` without waiting for turns under way; turns that are asked for meanwhile begin after it. */
  async whileHeld(change: () => Promise<void>): Promise<void> {
    let resume = (): void => undefined;
    this.paused = new Promise((resolve) => {
      resume = resolve;
    });
    try {
      await change();
    } finally {
      this.paused = null;
      resume();
    }
  }
}
