import type { EpisodeColumns, TokenBatch, UpdateTokensTraced } from '@retrace/trajectory';
import type { OptimizerStepTokens } from './step-tokens.js';

/** The tokens that an update trained, with what its losses read of each, as the log has them. */
export type TokenTrace = Omit<UpdateTokensTraced, 'planId' | 'epoch' | 'updateNumber' | 'part'>;

/** The columns of a trace, each [M]. */
export const TRACE_COLUMNS = [
  'optimizerSteps',
  'episodes',
  'steps',
  'positions',
  'clipped',
  'ratios',
  'advantages',
  'values',
  'kls',
  'entropies',
  'teacherLogprobs',
] as const satisfies readonly (keyof TokenTrace)[];

interface TracedUpdate {
  readonly columns: Pick<EpisodeColumns, 'tokenOffsets' | 'actionMask'>;
  readonly batch: Pick<TokenBatch, 'tokenIds' | 'actionTokens' | 'actionStep' | 'episodeActionOffsets'>;
  /** [K] Of the optimizer steps, in order. */
  readonly stepTokens: readonly OptimizerStepTokens[];
  /** [A] KL that was charged to the rewards, at the start of the update; null where it was not. */
  readonly chargedKls: Float32Array | null;
  /** [A] logπ of the teacher; null without one. */
  readonly teacherLogprobs: Float32Array | null;
}

/** Lists each token that an update trained: where it is stored, and what the loss read of it. */
export function traceTokens({
  columns,
  batch,
  stepTokens,
  chargedKls,
  teacherLogprobs,
}: TracedUpdate): TokenTrace {
  const actions = actionsAt(batch);
  const { episodes, steps, positions } = placesOfActions(columns, batch);
  const numTokens = stepTokens.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const trace = newTrace(numTokens, teacherLogprobs !== null && numTokens > 0);
  let from = 0;
  stepTokens.forEach((step, k) => {
    const ofTokens = step.tokens.map((n) => actions[n]);
    trace.optimizerSteps.fill(k + 1, from, from + ofTokens.length);
    trace.episodes.set(
      ofTokens.map((action) => episodes[action]),
      from,
    );
    trace.steps.set(
      ofTokens.map((action) => steps[action]),
      from,
    );
    trace.positions.set(
      ofTokens.map((action) => positions[action]),
      from,
    );
    trace.clipped.set(step.clipped, from);
    for (const name of ['ratios', 'advantages', 'values', 'entropies'] as const)
      trace[name].set(step[name], from);
    trace.kls.set(chargedKls ? Float32Array.from(ofTokens, (action) => chargedKls[action]) : step.kls, from);
    if (teacherLogprobs)
      trace.teacherLogprobs?.set(
        Float32Array.from(ofTokens, (action) => teacherLogprobs[action]),
        from,
      );
    from += ofTokens.length;
  });
  return trace;
}

function newTrace(length: number, hasTeacher: boolean): TokenTrace {
  return {
    optimizerSteps: new Int32Array(length),
    episodes: new Int32Array(length),
    steps: new Int32Array(length),
    positions: new Int32Array(length),
    clipped: new Uint8Array(length),
    ratios: new Float32Array(length),
    advantages: new Float32Array(length),
    values: new Float32Array(length),
    kls: new Float32Array(length),
    entropies: new Float32Array(length),
    teacherLogprobs: hasTeacher ? new Float32Array(length) : null,
  };
}

/** Where action tokens were stored, each [A]: number of the episode in the batch, of the step, and of the token in its step. */
export interface TokenPlaces {
  readonly episodes: Int32Array;
  readonly steps: Int32Array;
  readonly positions: Int32Array;
}

export function placesOfActions(
  columns: TracedUpdate['columns'],
  batch: Pick<TracedUpdate['batch'], 'actionTokens' | 'actionStep' | 'episodeActionOffsets'>,
): TokenPlaces {
  return {
    episodes: episodesOfActions(batch),
    steps: batch.actionStep,
    positions: positionsInSteps(columns),
  };
}

/** [N] Number of the action token at each position; −1 elsewhere. */
function actionsAt({ tokenIds, actionTokens }: TracedUpdate['batch']): Int32Array {
  const actions = new Int32Array(tokenIds.length).fill(-1);
  actionTokens.forEach((n, action) => {
    actions[n] = action;
  });
  return actions;
}

/** [A] Place of each action token among the tokens of its step. Batch and columns have the action tokens in the same order. */
function positionsInSteps({ tokenOffsets, actionMask }: TracedUpdate['columns']): Int32Array {
  const positions: number[] = [];
  for (let row = 0; row + 1 < tokenOffsets.length; row++) {
    for (let t = tokenOffsets[row]; t < tokenOffsets[row + 1]; t++)
      if (actionMask[t] === 1) positions.push(t - tokenOffsets[row]);
  }
  return Int32Array.from(positions);
}

/** [A] */
function episodesOfActions({
  actionTokens,
  episodeActionOffsets,
}: Pick<TracedUpdate['batch'], 'actionTokens' | 'episodeActionOffsets'>): Int32Array {
  const episodes = new Int32Array(actionTokens.length);
  for (let e = 0; e + 1 < episodeActionOffsets.length; e++)
    episodes.fill(e, episodeActionOffsets[e], episodeActionOffsets[e + 1]);
  return episodes;
}
