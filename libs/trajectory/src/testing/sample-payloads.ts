import { episodeIdFor } from '../ids/ids.js';
import type { Json, StepRecorded } from '../events/episode-events.js';
import type { EventKind, PayloadOf } from '../events/event.js';

const RUN_ID = '01936d00-0000-7000-8000-00000000b001';
const PARENT_RUN_ID = '01936d00-0000-7000-8000-00000000b002';
const [EPISODE_ID, PEER_EPISODE_ID, THIRD_EPISODE_ID] = [0, 1, 2].map((ordinal) =>
  episodeIdFor({ runId: RUN_ID, ordinal }),
);

/** Fixed ids and times of the sample events. */
export const SAMPLE_IDS = Object.freeze({
  logId: '01936d00-0000-7000-8000-00000000a001',
  runId: RUN_ID,
  planId: '01936d00-0000-7000-8000-00000000c001',
  episodeId: EPISODE_ID,
  controlEventId: '01936d00-0000-7000-8000-00000000d001',
  occurredAtUs: 1_732_000_000_000_000,
});

/** A step of a small text environment: `numTokens` tokens, of which the policy sampled the last `numActionTokens`. */
export function sampleStep({ numTokens = 26, numActionTokens = 2, step = 0 } = {}): StepRecorded {
  const firstAction = numTokens - numActionTokens;
  const sampled = <T>(t: number, value: T, otherwise: T): T => (t < firstAction ? otherwise : value);
  const values = (valueAt: (t: number) => number): number[] =>
    Array.from({ length: numTokens }, (_, t) => valueAt(t));
  return {
    step,
    observation: 'P F F F\nF H F H\nF F F H\nH F F G\nYou are at row 1 column 1.',
    action: 'right',
    parsedAction: 'right',
    actionValid: true,
    anchor: 'map 3f2a row 1 column 1',
    reward: null,
    rewardNames: ['goal', 'stepPenalty'],
    rewardValues: Float64Array.of(0, -0.01),
    terminated: false,
    truncated: false,
    info: { slipped: false, distanceToGoal: 6 },
    keptPrefixTokens: 0,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 4 },
    engine: 'retrace',
    model: 'frozen-lake-ppo',
    tokenizerHash: '6b1f0c54d1a2',
    logprobMode: 'processed',
    generationMs: 4.25,
    environmentMs: 0.02,
    snapshot: null,
    messages: null,
    usage: null,
    untrainable: '',
    tokenIds: Int32Array.from(values((t) => (t * 7919) % (numTokens > 100 ? 32_000 : 64))),
    actionMask: Uint8Array.from(values((t) => sampled(t, 1, 0))),
    tokenLogprobs: Float32Array.from(values((t) => sampled(t, -0.1 - (t % 13) / 7, 0))),
    tokenRawLogprobs: null,
    tokenEntropies: Float32Array.from(values((t) => sampled(t, 0.3 + (t % 11) / 5, 0))),
    tokenPolicyVersions: new Int32Array(numTokens).fill(3),
  };
}

/** Chat messages with a tool call, reasoning and an image by reference. */
const CHAT: Json = {
  input: [
    { role: 'system', content: 'You cross a frozen lake.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where to?' },
        { type: 'image_url', image_url: { url: 'https://example.org/lake.png' } },
      ],
    },
  ],
  output: {
    role: 'assistant',
    content: null,
    reasoning_content: 'The goal is to the right.',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'move', arguments: '{"direction":"right"}' } },
    ],
  },
};

const WEIGHTS = { sha256: '5e'.repeat(32), sizeBytes: 1_048_576 };
const OPTIMIZER = { sha256: 'a7'.repeat(32), sizeBytes: 2_097_152 };

/** A valid payload of every kind. */
export const SAMPLE_PAYLOADS: { readonly [K in EventKind]: PayloadOf<K> } = {
  EpisodeStarted: {
    groupId: 'round-0/task-0',
    groupSize: 2,
    groupMember: 0,
    environment: 'frozen-lake',
    task: { map: ['SFFF', 'FHFH', 'FFFH', 'HFFG'], slippery: false },
    environmentSeed: 17,
    samplingSeed: 4_294_967_311,
    split: 'train',
    agent: 'policy',
    forkedFrom: { episodeId: PEER_EPISODE_ID, step: 2 },
    forkedFromRunId: PARENT_RUN_ID,
    externalId: 'ticket 4711',
    tags: ['night', 'retried'],
    metadata: { customer: 'ACME', attempt: 2 },
    parentEpisodeId: THIRD_EPISODE_ID,
  },
  StepRecorded: {
    ...sampleStep(),
    messages: CHAT,
    usage: {
      inputTokens: 812,
      cachedInputTokens: 640,
      outputTokens: 31,
      reasoningTokens: null,
      costUsd: 0.00123,
    },
  },
  EpisodeEnded: {
    endReason: 'truncated',
    endDetail: '',
    finalObservation: 'S F F F\nF H F H\nF F F H\nH F P G',
    finalTokenIds: Int32Array.of(5, 9, 2, 11),
    finalKeptPrefixTokens: 26,
    numSteps: 1,
    return: -0.01,
    success: false,
    numTokens: 26,
    numActionTokens: 2,
    policyVersionMin: 3,
    policyVersionMax: 3,
  },
  RewardAssigned: {
    step: null,
    name: 'judge',
    value: 0.75,
    source: 'rubric-v2',
    rationale: 'Reached the “goal” late 🙂',
  },
  EpisodeAnnotated: { tags: ['checked'], metadata: { thumbs: 'up' }, source: 'ann' },
  LogOpened: { adapter: 'lmdb', createdBy: 'retrace 0.1.0', partitions: { trajectories: 4, control: 1 } },
  RunStarted: {
    name: 'frozen-lake-ppo',
    recipe: { algorithm: 'ppo', gamma: 0.99, stages: ['policy'], limits: { updates: null } },
    recipeHash: 'c0ffee',
    seed: 7,
    environment: 'frozen-lake',
    codeVersion: '0.1.0',
    baselines: [{ name: 'random', success: 0.03, numEpisodes: 1000, split: 'test' }],
    runKind: 'trained',
    tags: ['sweep 3'],
    metadata: { owner: 'lab' },
  },
  RunEnded: { reason: 'finished', detail: '', numUpdates: 120 },
  GroupsClosed: {
    round: 0,
    split: 'train',
    reason: 'complete',
    trainable: true,
    groupIds: ['round-0/task-0', 'round-0/task-1'],
    groupSizes: Int32Array.of(2, 1),
    memberOffsets: Int32Array.of(0, 2, 3),
    episodeIds: [EPISODE_ID, PEER_EPISODE_ID, THIRD_EPISODE_ID],
    numSteps: Int32Array.of(1, 4, 2),
    policyVersionMin: Int32Array.of(3, -1),
    policyVersionMax: Int32Array.of(4, -1),
  },
  BatchPlanned: {
    planId: SAMPLE_IDS.planId,
    epoch: 2,
    updateNumber: 9,
    stage: 'policy',
    policyVersionIn: 3,
    rewardVersion: 'environment',
    recipeHash: 'c0ffee',
    groupIds: ['round-0/task-0'],
    episodeIds: [EPISODE_ID, PEER_EPISODE_ID],
    numSteps: Int32Array.of(1, 4),
    samplerState: { nextGroup: 1 },
    seed: 1234,
  },
  UpdateApplied: {
    planId: SAMPLE_IDS.planId,
    epoch: 2,
    updateNumber: 9,
    policyVersionOut: 4,
    weights: WEIGHTS,
    optimizer: OPTIMIZER,
    episodeRewards: Float64Array.of(0.75, NaN),
    trainerState: { learningRate: 0.0003 },
    metricNames: ['train/loss', 'train/explainedVariance'],
    metricValues: Float64Array.of(0.125, NaN),
  },
  PolicyPublished: {
    policyVersion: 4,
    parentVersion: 3,
    updateNumber: 9,
    epoch: 2,
    weights: WEIGHTS,
    modelHash: 'beef',
  },
  TrainerClaimed: { epoch: 2, trainerId: 'trainer-1' },
  CollectorClaimed: {
    shareIndex: 1,
    numShares: 2,
    split: 'train',
    trainable: true,
    round: 5,
    numGroups: 4,
    places: Int32Array.of(1, 3),
    groupIds: ['round-5/task-1', 'round-5/task-3'],
    groupSize: 8,
    firstOrdinal: 160,
  },
  MetricsLogged: {
    source: 'collector',
    step: 12,
    names: ['rollout/success', 'rollout/return'],
    values: Float64Array.of(0.5, NaN),
  },
  BaselinesMeasured: { baselines: [{ name: 'expert', success: 1, numEpisodes: 1000, split: 'validation' }] },
  WarningRaised: {
    source: 'trainer',
    severity: 'alarm',
    step: 12,
    message: 'nothing was trained: 0 of 64 episodes have a reward',
    numTimes: 4,
  },
  RetentionApplied: {
    scope: { runId: SAMPLE_IDS.runId, beforeUs: SAMPLE_IDS.occurredAtUs },
    detail: 'older than 30 days',
  },
  RunDeleted: { controlEnd: 120, trajectoryEnds: [4_294_967_311, 0], forced: false, detail: 'by request' },
  EpisodesDeleted: { episodeIds: [EPISODE_ID, PEER_EPISODE_ID], forced: false, detail: 'by request' },
  DatasetEpisodesListed: {
    name: 'solved',
    contentHash: 'c4'.repeat(32),
    ofRunId: SAMPLE_IDS.runId,
    episodeIds: [EPISODE_ID, PEER_EPISODE_ID],
  },
  DatasetCreated: {
    name: 'solved',
    format: 'sft',
    fileFormat: 'jsonl',
    sql: 'SELECT run_id, episode_id FROM episodes WHERE success',
    contentHash: 'c4'.repeat(32),
    splits: [
      { split: 'train', numRows: 2, file: 'data/train-00000-of-00001.jsonl', sha256: 'd1'.repeat(32) },
    ],
    numEpisodes: 2,
    runs: [{ runId: SAMPLE_IDS.runId, numEpisodes: 2 }],
    contamination: { nGramWords: 13, splits: [] },
    settings: { score: 'return', seed: 0, splitShares: null },
    location: '/data/datasets/solved',
    codeVersion: '0.1.0',
  },
};
