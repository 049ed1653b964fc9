import type { EpisodePayloads, SamplingParameters, StepRecorded, Usage } from '../events/episode-events.js';
import { ofTokenColumns, type StepTokenColumns } from '../events/token-columns.js';
import { stepMessages } from './message-rules.js';
import { findLengthProblem, findVersionRangeProblem, type Checks, type Problem } from './problem.js';
import {
  finiteNumber,
  flag,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  text,
  typedArray,
  uuid,
  type PayloadRules,
} from './rules.js';
import { findTokenColumnProblem } from './token-columns.js';

const sampling = objectOf<SamplingParameters>({
  temperature: numberAtLeast(0),
  topK: integerAtLeast(0),
  topP: numberBetween(0, 1),
  greedy: flag,
  maxNewTokens: integerAtLeast(1),
});

const count = nullable(integerAtLeast(0));

const usage = objectOf<Usage>({
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  costUsd: nullable(numberAtLeast(0)),
});

const milliseconds = nullable(numberAtLeast(0));

const ARRAYS = { Int32Array, Uint8Array, Float32Array };

const tokenColumnRules = ofTokenColumns((_, { type, isNullable }) =>
  isNullable ? nullable(typedArray(ARRAYS[type])) : typedArray(ARRAYS[type]),
);

/** A rule for each field of each episode event. */
export const EPISODE_RULES: PayloadRules<EpisodePayloads> = {
  EpisodeStarted: {
    groupId: nonEmptyText,
    groupSize: integerAtLeast(1),
    groupMember: integerAtLeast(0),
    environment: text,
    task: json,
    environmentSeed: nullable(integerAtLeast(0)),
    samplingSeed: nullable(integerAtLeast(0)),
    split: oneOf('train', 'validation', 'test'),
    agent: nonEmptyText,
    forkedFrom: nullable(objectOf({ episodeId: uuid, step: integerAtLeast(0) })),
    forkedFromRunId: nullable(uuid),
    externalId: text,
    tags: listOf(nonEmptyText),
    metadata: json,
    parentEpisodeId: nullable(uuid),
  },
  StepRecorded: {
    step: integerAtLeast(0),
    observation: text,
    action: text,
    parsedAction: nullable(text),
    actionValid: nullable(flag),
    anchor: nullable(text),
    reward: nullable(finiteNumber),
    rewardNames: listOf(nonEmptyText),
    rewardValues: typedArray(Float64Array),
    terminated: flag,
    truncated: flag,
    info: json,
    keptPrefixTokens: integerAtLeast(0),
    sampling: nullable(sampling),
    engine: text,
    model: text,
    tokenizerHash: text,
    logprobMode: oneOf('processed', 'raw', 'none'),
    generationMs: milliseconds,
    environmentMs: milliseconds,
    snapshot: nullable(text),
    messages: stepMessages,
    usage: nullable(usage),
    untrainable: text,
    ...tokenColumnRules,
  },
  EpisodeEnded: {
    endReason: oneOf('terminated', 'truncated', 'abandoned'),
    endDetail: text,
    finalObservation: text,
    finalTokenIds: typedArray(Int32Array),
    finalKeptPrefixTokens: integerAtLeast(0),
    numSteps: integerAtLeast(0),
    return: nullable(finiteNumber),
    success: nullable(flag),
    numTokens: integerAtLeast(0),
    numActionTokens: integerAtLeast(0),
    policyVersionMin: integerAtLeast(-1),
    policyVersionMax: integerAtLeast(-1),
  },
  RewardAssigned: {
    step: nullable(integerAtLeast(0)),
    name: nonEmptyText,
    value: nullable(finiteNumber),
    source: text,
    rationale: text,
  },
  EpisodeAnnotated: {
    tags: nullable(listOf(nonEmptyText)),
    metadata: json,
    source: text,
  },
};

/** Rules between fields of episode events. */
export const EPISODE_CHECKS: Checks<EpisodePayloads> = {
  EpisodeStarted: ({ seq, payload: { groupMember, groupSize, forkedFrom, forkedFromRunId } }) => {
    if (seq !== 0) return { field: 'seq', value: seq, rule: 'must be 0' };
    if (groupMember >= groupSize) {
      const rule = `must be < groupSize, which is ${groupSize}`;
      return { field: 'payload.groupMember', value: groupMember, rule };
    }
    if (forkedFrom !== null || forkedFromRunId === null) return null;
    return {
      field: 'payload.forkedFromRunId',
      value: forkedFromRunId,
      rule: 'must be null without forkedFrom',
    };
  },

  StepRecorded: checkStepRecorded,

  EpisodeEnded: ({ seq, payload }) => {
    const { numSteps, endReason, endDetail, numTokens, finalTokenIds } = payload;
    if (seq !== numSteps + 1)
      return { field: 'seq', value: seq, rule: `must be numSteps + 1 = ${numSteps + 1}` };
    if (endReason === 'abandoned' && endDetail === '')
      return { field: 'payload.endDetail', value: '', rule: 'must say why the episode was abandoned' };
    for (const name of ['numActionTokens', 'finalKeptPrefixTokens'] as const) {
      const rule = `must be ≤ numTokens, which is ${numTokens}`;
      if (payload[name] > numTokens) return { field: `payload.${name}`, value: payload[name], rule };
    }
    const at = finalTokenIds.findIndex((id) => id < 0);
    if (at >= 0)
      return { field: `payload.finalTokenIds[${at}]`, value: finalTokenIds[at], rule: 'must be ≥ 0' };
    return findVersionRangeProblem(payload, 'payload');
  },
};

/** The fields of a step that are checked together, or element by element. */
export type CheckedStep = StepTokenColumns &
  Pick<StepRecorded, 'step' | 'rewardNames' | 'rewardValues' | 'keptPrefixTokens' | 'logprobMode'>;

/** Finds the first broken rule between fields of a step, or among the elements of its columns; null when there is none. */
export function checkStepRecorded(event: {
  readonly seq: number;
  readonly payload: CheckedStep;
}): Problem | null {
  const { seq, payload } = event;
  const { step, rewardNames, rewardValues, keptPrefixTokens } = payload;
  if (seq !== step + 1) return { field: 'seq', value: seq, rule: `must be step + 1 = ${step + 1}` };
  if (rewardValues.length !== rewardNames.length) return findLengthProblem({ rewardValues }, { rewardNames });
  const infinite = rewardValues.findIndex((value) => value === Infinity || value === -Infinity);
  if (infinite >= 0) {
    const rule = 'must be a finite number, or NaN for missing';
    return { field: `payload.rewardValues[${infinite}]`, value: rewardValues[infinite], rule };
  }
  if (step === 0 && keptPrefixTokens !== 0) {
    const rule = 'must be 0 in step 0: there is no context to keep yet';
    return { field: 'payload.keptPrefixTokens', value: keptPrefixTokens, rule };
  }
  return findTokenColumnProblem(payload) ?? findLogprobModeProblem(payload);
}

function findLogprobModeProblem({ logprobMode, tokenLogprobs, actionMask }: CheckedStep): Problem | null {
  if (logprobMode !== 'none') return null;
  const at = tokenLogprobs.findIndex((value, t) => actionMask[t] === 1 && !Number.isNaN(value));
  if (at < 0) return null;
  const rule = 'must be NaN where actionMask is 1, because logprobMode is none';
  return { field: `payload.tokenLogprobs[${at}]`, value: tokenLogprobs[at], rule };
}
