import type { TeacherTop } from '@retrace/policy';
import type { EpisodeColumns, TokenBatch, UpdateTokensTraced } from '@retrace/trajectory';
import { gather } from '../action-tokens.js';
import type { OptimizerStepTokens } from '../steps/mini-batches.js';

/** The tokens that an update trained, with what its losses read of each, as the log has them. */
export type TokenTrace = Omit<UpdateTokensTraced, 'planId' | 'epoch' | 'updateNumber' | 'part'>;

/** The columns of a trace, each [M], or [M·k] for the teacher's likeliest tokens. */
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
  'teacherTopIds',
  'teacherTopLogprobs',
] as const satisfies readonly (keyof TokenTrace)[];

interface TracedUpdate {
  readonly columns: Pick<EpisodeColumns, 'tokenOffsets' | 'actionMask'>;
  readonly batch: Pick<TokenBatch, 'actionStep' | 'episodeActionOffsets'>;
  /** [K] Of the optimizer steps, in order. */
  readonly stepTokens: readonly OptimizerStepTokens[];
  /** [A] KL that was charged to the rewards, at the start of the update; null where it was not. */
  readonly chargedKls: Float32Array | null;
  /** [A] logπ of the teacher; null without one. */
  readonly teacherLogprobs: Float32Array | null;
  /** At the action tokens [A]; null without them. */
  readonly teacherTop: TeacherTop | null;
}

/** Lists each token that an update trained: where it is stored, and what the loss read of it. */
export function traceTokens({
  columns,
  batch,
  stepTokens,
  chargedKls,
  teacherLogprobs,
  teacherTop,
}: TracedUpdate): TokenTrace {
  const { episodes, steps, positions } = placesOfActions(columns, batch);
  const numTokens = stepTokens.reduce((sum, { actions }) => sum + actions.length, 0);
  const hasTeacher = teacherLogprobs !== null && numTokens > 0;
  const trace = newTrace(numTokens, { hasTeacher, topK: hasTeacher ? (teacherTop?.topK ?? 0) : 0 });
  let from = 0;
  stepTokens.forEach((step, k) => {
    const { actions } = step;
    const ofActions = (column: Int32Array) => actions.map((a) => column[a]);
    trace.optimizerSteps.fill(k + 1, from, from + actions.length);
    trace.episodes.set(ofActions(episodes), from);
    trace.steps.set(ofActions(steps), from);
    trace.positions.set(ofActions(positions), from);
    trace.clipped.set(step.clipped, from);
    for (const name of ['ratios', 'advantages', 'values', 'entropies'] as const)
      trace[name].set(step[name], from);
    trace.kls.set(chargedKls ? gather(chargedKls, actions) : step.kls, from);
    if (teacherLogprobs) trace.teacherLogprobs?.set(gather(teacherLogprobs, actions), from);
    if (teacherTop) recordTop(trace, teacherTop, { actions, from });
    from += actions.length;
  });
  return trace;
}

/** Writes the rows of some action tokens from token `from` of the trace on; 0 and NaN where nothing is known. */
function recordTop(
  { teacherTopIds, teacherTopLogprobs }: TokenTrace,
  { topK, rows, ids, logprobs }: TeacherTop,
  { actions, from }: { readonly actions: Int32Array; readonly from: number },
): void {
  actions.forEach((a, m) => {
    const [place, row] = [(from + m) * topK, rows[a]];
    if (row < 0) {
      teacherTopLogprobs?.fill(Number.NaN, place, place + topK);
      return;
    }
    teacherTopIds?.set(ids.subarray(row * topK, (row + 1) * topK), place);
    teacherTopLogprobs?.set(logprobs.subarray(row * topK, (row + 1) * topK), place);
  });
}

function newTrace(
  length: number,
  { hasTeacher, topK }: { readonly hasTeacher: boolean; readonly topK: number },
): TokenTrace {
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
    teacherTopIds: topK > 0 ? new Int32Array(length * topK) : null,
    teacherTopLogprobs: topK > 0 ? new Float32Array(length * topK) : null,
  };
}

/** Where action tokens were stored, each [A]: number of the episode in the batch, of the step, and of the token in its step. */
export interface TokenPlaces {
  readonly episodes: Int32Array;
  readonly steps: Int32Array;
  readonly positions: Int32Array;
}

export function placesOfActions(columns: TracedUpdate['columns'], batch: TracedUpdate['batch']): TokenPlaces {
  return {
    episodes: episodesOfActions(batch),
    steps: batch.actionStep,
    positions: positionsInSteps(columns),
  };
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
function episodesOfActions({ actionStep, episodeActionOffsets }: TracedUpdate['batch']): Int32Array {
  const episodes = new Int32Array(actionStep.length);
  for (let e = 0; e + 1 < episodeActionOffsets.length; e++)
    episodes.fill(e, episodeActionOffsets[e], episodeActionOffsets[e + 1]);
  return episodes;
}
