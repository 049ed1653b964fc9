import type { EndedEpisode } from '../episode/episode-recorder.js';

/** Sums over one round; a quantity that was never observed is NaN, not 0. */
export class RoundMetrics {
  private numEpisodes = 0;
  private numWithReturn = 0;
  private numWithSuccess = 0;
  private numSuccesses = 0;
  private returnSum = 0;
  private numSteps = 0;
  private numInvalidActions = 0;
  private numActionTokens = 0;
  private readonly numFailures = { environment: 0, model: 0, agent: 0 };
  private readonly startedAt = performance.now();
  generationMs = 0;
  environmentMs = 0;
  /** How long rollouts waited for the log. */
  logSeconds = 0;
  /** How long a round that was played waited for the publication of its policy. */
  heldSeconds = 0;
  /** Largest size of the spool on disk. */
  spoolBytes = 0;

  /** @param idleSeconds how long the collector waited before this round for a policy or for room in the store */
  constructor(private readonly idleSeconds: number) {}

  add(summary: EndedEpisode): void {
    this.numEpisodes++;
    this.numSteps += summary.numSteps;
    this.numInvalidActions += summary.numInvalidActions;
    this.numActionTokens += summary.numActionTokens;
    if (summary.failure !== null) this.numFailures[summary.failure.of]++;
    if (summary.return !== null) {
      this.numWithReturn++;
      this.returnSum += summary.return;
    }
    if (summary.success !== null) {
      this.numWithSuccess++;
      if (summary.success) this.numSuccesses++;
    }
  }

  get success(): number {
    return this.numSuccesses / this.numWithSuccess;
  }

  get meanReturn(): number {
    return this.returnSum / this.numWithReturn;
  }

  /** Names and values of a `MetricsLogged` of source `collector`. */
  entries(): readonly (readonly [string, number])[] {
    const seconds = (performance.now() - this.startedAt) / 1000;
    return [
      ['rollout/success', this.success],
      ['rollout/return', this.meanReturn],
      ['rollout/numSteps', this.numSteps / this.numEpisodes],
      ['rollout/invalidActionFraction', this.numInvalidActions / this.numSteps],
      ['rollout/environmentFailureFraction', this.numFailures.environment / this.numEpisodes],
      ['rollout/modelFailureFraction', this.numFailures.model / this.numEpisodes],
      ['rollout/agentFailureFraction', this.numFailures.agent / this.numEpisodes],
      ['rollout/environmentStepsPerSecond', this.numSteps / seconds],
      ['rollout/generatedTokensPerSecond', this.numActionTokens / (this.generationMs / 1000)],
      ['time/generation', this.generationMs / 1000],
      ['time/environment', this.environmentMs / 1000],
      ['time/log', this.logSeconds],
      ['time/held', this.heldSeconds],
      ['time/idle', this.idleSeconds],
      ['log/spoolBytes', this.spoolBytes],
    ];
  }
}
