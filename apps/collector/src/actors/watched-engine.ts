import type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  ScoredTokens,
  ScoreRequest,
} from '@retrace/chat';
import { EndpointError, type TokenEngine, type WeightDelivery } from '@retrace/endpoints';
import type { PausableEngine } from './pausable-engine.js';
import type { ServedPolicies } from './served-policies.js';

interface WatchedEngineOptions {
  readonly engine: PausableEngine;
  readonly policies: Pick<ServedPolicies, 'confirm' | 'foundName' | 'isInDoubt' | 'isOfRun' | 'state'>;
  readonly lossShows: WeightDelivery['lossShows'];
}

/** Attempts at one turn, where the server loses or changes its weights during each of them. */
const MAX_ATTEMPTS = 20;
const NOT_FOUND = 404;

/**
 * An engine whose server may lose its weights, for example by a restart. A turn that may have been sampled by other weights than those of the run is
 * not taken: it is requested again once the server has the weights again.
 */
export class WatchedEngine implements TokenEngine {
  constructor(private readonly options: WatchedEngineOptions) {}

  describe(signal?: AbortSignal): Promise<string> {
    return this.options.engine.describe(signal);
  }

  likeliest(request: LikeliestRequest): Promise<ReadonlyMap<string, number>> {
    return this.options.engine.likeliest(request);
  }

  score(request: ScoreRequest, signal?: AbortSignal): Promise<ScoredTokens> {
    return this.options.engine.score(request, signal);
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const turn = await this.attempt(request, signal);
      if (turn !== null) return turn;
      signal?.throwIfAborted();
    }
    throw new EndpointError(
      'WEIGHTS_NOT_TAKEN',
      `the server lost or changed its weights during each of ${MAX_ATTEMPTS} attempts at a turn`,
    );
  }

  /** null where other weights may have sampled the turn. */
  private async attempt(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens | null> {
    const { engine, policies, lossShows } = this.options;
    // Turns are held back while the weights change. Without a wait in between, no pause begins before the turn does.
    while (engine.pause !== null) await engine.pause;
    const { state } = policies;
    try {
      const turn = await engine.generate(request, signal);
      if (lossShows === 'inTurns') {
        if (!this.isForeign(turn) && !policies.isInDoubt) return turn;
        await policies.confirm();
        return null;
      }
      await policies.confirm();
      return policies.state === state ? this.named(turn) : null;
    } catch (error) {
      // The name of weights that the server has lost.
      if (!(error instanceof EndpointError && error.status === NOT_FOUND)) throw error;
      await policies.confirm();
      if (policies.state === state) throw error;
      return null;
    }
  }

  private isForeign({ versions }: GeneratedTokens): boolean {
    return (versions ?? []).some(({ version }) => !this.options.policies.isOfRun(version));
  }

  /** All tokens are of the weights that the server had before and after the turn: another collector of the run may have brought later ones. */
  private named(turn: GeneratedTokens): GeneratedTokens {
    const { foundName } = this.options.policies;
    if (foundName === null) return turn;
    return { ...turn, versions: [{ version: foundName, start: 0, end: turn.tokenIds.length }] };
  }
}
