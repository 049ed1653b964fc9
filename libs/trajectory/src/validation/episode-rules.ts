import type {
  EpisodeEnded,
  EpisodeStarted,
  RetraceEvent,
  RewardAssigned,
  SamplingParameters,
  StepRecorded,
  TokenColumns,
} from '../events/event.js';
import type { Problem } from './problem.js';
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
  type FieldRules,
} from './rules.js';
import { findTokenColumnProblem } from './token-columns.js';

export const episodeStartedRules: FieldRules<EpisodeStarted> = {
  groupId: nonEmptyText,
  groupSize: integerAtLeast(1),
  groupMember: integerAtLeast(0),
  environment: nonEmptyText,
  task: json,
  environmentSeed: integerAtLeast(0),
  samplingSeed: integerAtLeast(0),
  split: oneOf('train', 'validation', 'test'),
  agent: nonEmptyText,
  forkedFrom: nullable(objectOf({ episodeId: uuid, step: integerAtLeast(0) })),
};

const samplingRules: FieldRules<SamplingParameters> = {
  temperature: numberAtLeast(0),
  topK: integerAtLeast(0),
  topP: numberBetween(0, 1),
  greedy: flag,
  maxNewTokens: integerAtLeast(1),
};

export const stepRecordedRules: FieldRules<StepRecorded> = {
  step: integerAtLeast(0),
  observation: text,
  action: text,
  parsedAction: nullable(text),
  actionValid: flag,
  anchor: nullable(text),
  reward: nullable(finiteNumber),
  rewardNames: listOf(nonEmptyText),
  rewardValues: typedArray(Float64Array),
  terminated: flag,
  truncated: flag,
  info: json,
  keptPrefixTokens: integerAtLeast(0),
  sampling: nullable(objectOf(samplingRules)),
  engine: text,
  model: text,
  tokenizerHash: text,
  logprobMode: oneOf('processed', 'raw', 'none'),
  generationMs: numberAtLeast(0),
  environmentMs: numberAtLeast(0),
  snapshot: nullable(text),
  tokenIds: typedArray(Int32Array),
  actionMask: typedArray(Uint8Array),
  tokenLogprobs: typedArray(Float32Array),
  tokenRawLogprobs: nullable(typedArray(Float32Array)),
  tokenEntropies: nullable(typedArray(Float32Array)),
  tokenPolicyVersions: typedArray(Int32Array),
};

export const episodeEndedRules: FieldRules<EpisodeEnded> = {
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
};

export const rewardAssignedRules: FieldRules<RewardAssigned> = {
  step: nullable(integerAtLeast(0)),
  name: nonEmptyText,
  value: nullable(finiteNumber),
  source: text,
  rationale: text,
};

export function checkEpisodeStarted({ seq, payload }: RetraceEvent<'EpisodeStarted'>): Problem | null {
  const { groupMember, groupSize } = payload;
  if (seq !== 0) return { field: 'EpisodeStarted.seq', value: seq, rule: 'must be 0' };
  if (groupMember >= groupSize) {
    const rule = `must be < groupSize, which is ${groupSize}`;
    return { field: 'EpisodeStarted.payload.groupMember', value: groupMember, rule };
  }
  return null;
}

/** What of a step the rules over several fields, and over the elements of columns, look at. */
export type CheckedStep = TokenColumns &
  Pick<StepRecorded, 'step' | 'rewardNames' | 'rewardValues' | 'keptPrefixTokens' | 'logprobMode'>;

export function checkStepRecorded({
  seq,
  payload,
}: {
  readonly seq: number;
  readonly payload: CheckedStep;
}): Problem | null {
  const field = 'StepRecorded.payload';
  if (seq !== payload.step + 1) {
    return { field: 'StepRecorded.seq', value: seq, rule: `must be step + 1 = ${payload.step + 1}` };
  }
  if (payload.rewardValues.length !== payload.rewardNames.length) {
    const rule = `must be the number of rewardNames, ${payload.rewardNames.length}`;
    return { field: `${field}.rewardValues.length`, value: payload.rewardValues.length, rule };
  }
  const infinite = payload.rewardValues.findIndex((value) => value === Infinity || value === -Infinity);
  if (infinite >= 0) {
    const rule = 'must be a finite number, or NaN for missing';
    return { field: `${field}.rewardValues[${infinite}]`, value: payload.rewardValues[infinite], rule };
  }
  if (payload.step === 0 && payload.keptPrefixTokens !== 0) {
    const rule = 'must be 0 in step 0: there is no context to keep yet';
    return { field: `${field}.keptPrefixTokens`, value: payload.keptPrefixTokens, rule };
  }
  return findTokenColumnProblem(payload, field) ?? findLogprobModeProblem(payload, field);
}

function findLogprobModeProblem(step: CheckedStep, field: string): Problem | null {
  if (step.logprobMode !== 'none') return null;
  const at = step.tokenLogprobs.findIndex((value, t) => step.actionMask[t] === 1 && !Number.isNaN(value));
  if (at < 0) return null;
  const rule = 'must be NaN where actionMask is 1, because logprobMode is none';
  return { field: `${field}.tokenLogprobs[${at}]`, value: step.tokenLogprobs[at], rule };
}

export function checkEpisodeEnded({ seq, payload }: RetraceEvent<'EpisodeEnded'>): Problem | null {
  const field = 'EpisodeEnded.payload';
  if (seq !== payload.numSteps + 1) {
    return { field: 'EpisodeEnded.seq', value: seq, rule: `must be numSteps + 1 = ${payload.numSteps + 1}` };
  }
  if (payload.endReason === 'abandoned' && payload.endDetail === '') {
    return { field: `${field}.endDetail`, value: '', rule: 'must say why the episode was abandoned' };
  }
  if (payload.numActionTokens > payload.numTokens) {
    const rule = `must be ≤ numTokens, which is ${payload.numTokens}`;
    return { field: `${field}.numActionTokens`, value: payload.numActionTokens, rule };
  }
  if (payload.finalKeptPrefixTokens > payload.numTokens) {
    const rule = `must be ≤ numTokens, which is ${payload.numTokens}`;
    return { field: `${field}.finalKeptPrefixTokens`, value: payload.finalKeptPrefixTokens, rule };
  }
  const negative = payload.finalTokenIds.findIndex((id) => id < 0);
  if (negative >= 0) {
    return {
      field: `${field}.finalTokenIds[${negative}]`,
      value: payload.finalTokenIds[negative],
      rule: 'must be ≥ 0',
    };
  }
  return findVersionRangeProblem(payload, field);
}

/** −1 says that no policy of this run sampled, so it can't be one end of a range. */
export function findVersionRangeProblem(
  {
    policyVersionMin,
    policyVersionMax,
  }: { readonly policyVersionMin: number; readonly policyVersionMax: number },
  field: string,
): Problem | null {
  if (policyVersionMin > policyVersionMax) {
    const rule = `must be ≤ policyVersionMax, which is ${policyVersionMax}`;
    return { field: `${field}.policyVersionMin`, value: policyVersionMin, rule };
  }
  if (policyVersionMin === -1 && policyVersionMax !== -1) {
    return { field: `${field}.policyVersionMin`, value: -1, rule: 'must be ≥ 0, as policyVersionMax is' };
  }
  return null;
}
