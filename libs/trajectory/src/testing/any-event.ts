import fc from 'fast-check';
import type { AnyEvent, EventKind, PayloadOf } from '../events/event.js';
import { isEpisodeEventKind } from '../events/event-kinds.js';
import { newControlEvent, newEpisodeEvent } from '../ids/new-event.js';

/** Random valid events of every kind, for property tests: any content that the rules of `validation/` allow. */

/** Objects with the ordinary prototype, as from JSON. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });
const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const nonEmptyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
/** Without −0, which comes back as 0. */
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const natural = fc.maxSafeNat();
const uuid = fc.uuid();
const flag = fc.boolean();
const split = fc.constantFrom('train', 'validation', 'test');
const warningSource = fc.constantFrom('trainer', 'collector', 'validator', 'sink', 'api', 'store', 'system');
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);

const file = fc.oneof(
  { arbitrary: record({ sha256, sizeBytes: natural }), weight: 4 },
  // A trainer outside has not named it.
  { arbitrary: record({ sha256: fc.constant(''), sizeBytes: fc.constant(0) }), weight: 1 },
);
const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 3 })
  .filter((value) => !JSON.stringify(value).includes('__proto__'))
  // An object whose fields have the plain order that the codec gives them.
  .map((value) => JSON.parse(JSON.stringify(value)) as never);

const int32 = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const ids = (maxLength: number) => fc.uniqueArray(nonEmptyText, { minLength: 1, maxLength });
const int32s = (length: number) =>
  fc.array(int32, { minLength: length, maxLength: length }).map((values) => Int32Array.from(values));
const int32sUpTo = (max: number, length: number) =>
  fc.array(fc.nat(max), { minLength: length, maxLength: length }).map((values) => Int32Array.from(values));
const doubles = (length: number) =>
  fc.array(fc.double(), { minLength: length, maxLength: length }).map((values) => Float64Array.from(values));
/** Finite or NaN, without −0. */
const statistics = (length: number) =>
  fc
    .array(fc.float({ noDefaultInfinity: true }), { minLength: length, maxLength: length })
    .map((values) => Float32Array.from(values, (value) => value + 0));
const named = fc
  .array(nonEmptyText, { maxLength: 6 })
  .chain((names) => doubles(names.length).map((values) => ({ names, values })));
const versionRange = fc
  .tuple(int32, int32)
  .map(([a, b]) => ({ policyVersionMin: Math.min(a, b), policyVersionMax: Math.max(a, b) }));

/** Columns of up to 60 tokens, any of which the policy may have sampled. */
const tokenColumns = fc
  .array(
    record({
      id: int32,
      isAction: flag,
      logprob: fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }),
      raw: fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }),
      entropy: fc.float({ min: 0, noNaN: true, noDefaultInfinity: true }),
      version: int32,
    }),
    { maxLength: 60 },
  )
  // Observation tokens first.
  .map((tokens) => tokens.sort((a, b) => Number(a.isAction) - Number(b.isAction)))
  .chain((tokens) =>
    record({ hasRaw: flag, hasEntropies: flag, numExperts: fc.nat(3) }).map(
      ({ hasRaw, hasEntropies, numExperts }) => {
        const ofActions = (valueOf: (token: (typeof tokens)[number]) => number): Float32Array =>
          Float32Array.from(tokens, (token) => (token.isAction ? valueOf(token) : 0));
        return {
          tokenIds: Int32Array.from(tokens, ({ id }) => id),
          actionMask: Uint8Array.from(tokens, ({ isAction }) => Number(isAction)),
          tokenLogprobs: ofActions(({ logprob }) => logprob),
          tokenRawLogprobs: hasRaw ? ofActions(({ raw }) => raw) : null,
          tokenEntropies: hasEntropies ? ofActions(({ entropy }) => entropy) : null,
          tokenPolicyVersions: Int32Array.from(tokens, ({ version }) => version),
          tokenRoutedExperts:
            numExperts * tokens.length > 0
              ? Int32Array.from(
                  { length: numExperts * tokens.length },
                  (_, i) => tokens[i % tokens.length].id,
                )
              : null,
        };
      },
    ),
  );

const stepRewards = fc.array(nonEmptyText, { maxLength: 4 }).chain((rewardNames) =>
  fc
    .array(fc.oneof(finite, fc.constant(NaN)), {
      minLength: rewardNames.length,
      maxLength: rewardNames.length,
    })
    .map((values) => ({ rewardNames, rewardValues: Float64Array.from(values) })),
);

const milliseconds = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }));
const tags = fc.array(nonEmptyText, { maxLength: 3 });

const message = fc.oneof(
  record({ role: fc.constantFrom('system', 'user', 'tool'), content: text }),
  record({ role: fc.constant('assistant'), content: fc.option(text), reasoning_content: text }),
  record({
    role: nonEmptyText,
    content: fc.array(record({ type: fc.constant('text'), text, extra: json }), { maxLength: 2 }),
    tool_calls: fc.array(
      record({ id: text, type: fc.constant('function'), function: record({ name: text, arguments: text }) }),
      { maxLength: 2 },
    ),
  }),
);
const messages = record({ input: fc.array(message, { maxLength: 3 }), output: fc.option(message) }).map(
  // An object whose fields have the plain order that the codec gives them.
  (value) => JSON.parse(JSON.stringify(value)) as never,
);
const count = fc.option(natural);
const usage = record({
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  costUsd: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
});

/** Any step of that number. */
export function anyStep(step: number): fc.Arbitrary<PayloadOf<'StepRecorded'>> {
  const fields = record({
    observation: text,
    action: text,
    parsedAction: fc.option(text),
    actionValid: fc.option(flag),
    anchor: fc.option(text),
    reward: fc.option(finite),
    terminated: flag,
    truncated: flag,
    info: json,
    keptPrefixTokens: step === 0 ? fc.constant(0) : natural,
    sampling: fc.option(
      record({
        temperature: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
        topK: natural,
        topP: fc.double({ min: 0, max: 1, noNaN: true }),
        greedy: flag,
        maxNewTokens: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      }),
    ),
    engine: text,
    model: text,
    tokenizerHash: text,
    logprobMode: fc.constantFrom('processed', 'raw'),
    generationMs: milliseconds,
    environmentMs: milliseconds,
    snapshot: fc.option(text),
    messages: fc.option(messages, { nil: null as never }),
    usage: fc.option(usage),
    untrainable: text,
  });
  return fc
    .tuple(fields, tokenColumns, stepRewards)
    .map(([others, columns, rewards]) => ({ step, ...others, ...columns, ...rewards }));
}

const groupsClosed: fc.Arbitrary<PayloadOf<'GroupsClosed'>> = ids(4).chain((groupIds) => {
  const numGroups = groupIds.length;
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: numGroups, maxLength: numGroups });
  return sizes.chain((groupSizes) => {
    const offsets = Int32Array.from({ length: numGroups + 1 }, (_, g) =>
      groupSizes.slice(0, g).reduce((sum, size) => sum + size, 0),
    );
    const numMembers = offsets[numGroups];
    const ranges = fc.array(versionRange, { minLength: numGroups, maxLength: numGroups });
    return record({
      round: natural,
      split,
      reason: fc.constantFrom('complete', 'deadline', 'abandoned'),
      trainable: flag,
      episodeIds: fc.uniqueArray(uuid, { minLength: numMembers, maxLength: numMembers }),
      numSteps: int32s(numMembers),
      ranges,
    }).map(({ ranges: versions, ...others }) => ({
      ...others,
      groupIds,
      groupSizes: Int32Array.from(groupSizes),
      memberOffsets: offsets,
      policyVersionMin: Int32Array.from(versions, ({ policyVersionMin }) => policyVersionMin),
      policyVersionMax: Int32Array.from(versions, ({ policyVersionMax }) => policyVersionMax),
    }));
  });
});

const episodeList = fc
  .array(uuid, { maxLength: 6 })
  .chain((episodeIds) => int32s(episodeIds.length).map((numSteps) => ({ episodeIds, numSteps })));

const rate = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const validationRows = fc.array(
  record({
    decoding: fc.constantFrom('greedy', 'sampled'),
    family: fc.option(text),
    ...{
      numTasks: natural,
      numEpisodes: natural,
      numSuccesses: natural,
      numUnknown: natural,
      numFailed: natural,
    },
    successRate: fc.option(rate),
    ...{ successLow: rate, successHigh: rate },
    passAtK: fc.array(record({ k: fc.integer({ min: 1, max: 1e9 }), pass: rate, numTasks: natural }), {
      maxLength: 3,
    }),
    meanReturn: fc.option(finite),
  }),
  { maxLength: 3 },
);
const baselines = fc.array(
  record({
    name: nonEmptyText,
    success: fc.double({ min: 0, max: 1, noNaN: true }),
    numEpisodes: fc.integer({ min: 1, max: 1e9 }),
    split,
  }),
  { maxLength: 3 },
);

const notebookCell = record({
  kind: fc.constantFrom('sql', 'markdown'),
  text,
  view: fc.constantFrom('table', 'chart'),
  plot: fc.option(record({ x: text, ys: fc.array(text, { maxLength: 3 }), by: fc.option(text) })),
});

const PAYLOADS: { readonly [K in EventKind]: fc.Arbitrary<PayloadOf<K>> } = {
  EpisodeStarted: record({
    groupId: nonEmptyText,
    sizes: fc.tuple(int32, int32).filter(([a, b]) => a !== b),
    environment: text,
    task: json,
    environmentSeed: fc.option(natural),
    samplingSeed: fc.option(natural),
    split,
    agent: nonEmptyText,
    fork: fc.option(fc.tuple(record({ episodeId: uuid, step: natural }), fc.option(uuid))),
    externalId: text,
    tags,
    metadata: json,
    parentEpisodeId: fc.option(uuid),
  }).map(({ sizes: [a, b], fork, ...others }) => ({
    ...others,
    forkedFrom: fork?.[0] ?? null,
    forkedFromRunId: fork?.[1] ?? null,
    groupMember: Math.min(a, b),
    groupSize: Math.max(a, b),
  })),
  StepRecorded: fc.oneof(anyStep(0), fc.nat(1_000).chain(anyStep)),
  EpisodeEnded: record({
    endReason: fc.constantFrom('terminated', 'truncated', 'abandoned'),
    endDetail: nonEmptyText,
    finalObservation: text,
    finalTokenIds: fc.nat(20).chain(int32s),
    numSteps: natural.map((value) => Math.floor(value / 2)),
    return: fc.option(finite),
    success: fc.option(flag),
    tokens: fc.tuple(natural, natural, natural).map((counts) => [...counts].sort((a, b) => a - b)),
    range: versionRange,
  }).map(({ tokens: [first, second, numTokens], range, ...others }) => ({
    ...others,
    ...range,
    numTokens,
    numActionTokens: first,
    finalKeptPrefixTokens: second,
  })),
  RewardAssigned: record({
    step: fc.option(natural),
    name: nonEmptyText,
    value: fc.option(finite),
    source: text,
    rationale: text,
  }),
  EpisodeAnnotated: record({ tags: fc.option(tags), metadata: json, source: text }),
  LogOpened: record({
    adapter: nonEmptyText,
    createdBy: text,
    partitions: record({
      trajectories: fc.integer({ min: 1, max: 1000 }),
      control: fc.integer({ min: 1, max: 9 }),
    }),
  }),
  RunStarted: fc.oneof(
    record({
      name: nonEmptyText,
      runKind: fc.constant('trained'),
      recipe: json,
      recipeHash: nonEmptyText,
      seed: natural,
      environment: nonEmptyText,
      codeVersion: text,
      baselines,
      tags,
      metadata: json,
    }),
    record({
      name: nonEmptyText,
      runKind: fc.constant('recorded'),
      recipe: fc.constant(null),
      recipeHash: fc.constant(''),
      seed: fc.constant(0),
      environment: text,
      codeVersion: text,
      baselines: fc.constant([]),
      tags,
      metadata: json,
    }),
  ),
  RunEnded: record({
    reason: fc.constantFrom('finished', 'stopped', 'failed'),
    detail: text,
    numUpdates: natural,
  }),
  GroupsClosed: groupsClosed,
  GroupsDiscarded: record({
    groupIds: ids(4),
    reason: fc.constantFrom('tooStale', 'zeroVariance'),
    updateNumber: natural,
  }),
  SamplingBlocked: record({
    side: fc.constantFrom('trainer', 'collector'),
    reason: nonEmptyText,
    numInserted: natural,
    numSampled: natural,
  }),
  BatchPlanned: record({
    planId: uuid,
    epoch: natural,
    updateNumber: natural,
    stage: fc.constantFrom('policy', 'imitation'),
    policyVersionIn: natural,
    rewardVersion: nonEmptyText,
    recipeHash: nonEmptyText,
    groupIds: ids(4),
    episodes: episodeList,
    samplerState: json,
    runIds: fc.uniqueArray(uuid, { minLength: 1, maxLength: 3 }),
    seed: natural,
  }).chain(({ episodes, runIds, ...others }) => {
    const plan = { ...others, ...episodes };
    const numGroups = plan.groupIds.length;
    const alone = { runIds: [], groupRuns: null, groupSources: null, groupRows: null, episodeGroups: null };
    const mixed = record({
      runIds: fc.constant(runIds),
      groupRuns: int32sUpTo(runIds.length, numGroups),
      groupSources: int32s(numGroups),
      groupRows: int32s(numGroups),
      episodeGroups: int32sUpTo(numGroups - 1, plan.episodeIds.length),
    });
    return fc
      .tuple(fc.oneof(fc.constant(alone), mixed), fc.option(doubles(numGroups)))
      .map(([from, groupWeights]) => ({ ...plan, ...from, groupWeights }));
  }),
  UpdateApplied: record({
    planId: uuid,
    epoch: natural,
    updateNumber: natural,
    policyVersionOut: natural,
    weights: file,
    optimizer: file,
    episodeRewards: fc.option(fc.nat(8).chain(doubles)),
    groupPriorities: fc.option(fc.nat(8).chain(doubles)),
    engine: fc.option(
      record({
        kind: fc.constantFrom('tensorflow', 'torch', 'tinker'),
        version: fc.string(),
        device: fc.string(),
        numProcesses: fc.integer({ min: 1, max: 64 }),
        precision: fc.constantFrom('float32', 'bfloat16'),
      }),
    ),
    trainerState: json,
    metrics: named,
  }).map(({ metrics: { names, values }, ...others }) => ({
    ...others,
    metricNames: names,
    metricValues: values,
  })),
  UpdateTraced: fc.tuple(ids(3), fc.nat(6), fc.nat(5)).chain(([groupIds, numEpisodes, numOptimizerSteps]) =>
    record({
      planId: uuid,
      epoch: natural,
      updateNumber: natural,
      policyVersionIn: natural,
      runIds: fc.constant(['01936d00-0000-7000-8000-00000000b001']),
      episodeRuns: fc.constant(new Int32Array(numEpisodes)),
      groupIds: fc.constant(groupIds),
      episodeGroups: int32s(numEpisodes).map((values) => values.map((value) => value % groupIds.length)),
      episodeIds: fc.array(uuid, { minLength: numEpisodes, maxLength: numEpisodes }),
      firstSteps: int32s(numEpisodes),
      numSteps: int32s(numEpisodes),
      episodeDigests: fc.oneof(
        fc.constant([]),
        fc.array(fc.stringMatching(/^[0-9a-f]{16}$/), { minLength: numEpisodes, maxLength: numEpisodes }),
      ),
      times: int32s(numEpisodes),
      numTokens: int32s(numEpisodes),
      weights: statistics(numEpisodes),
      advantageMeans: statistics(numEpisodes),
      advantageDeviations: statistics(numEpisodes),
      advantageMins: statistics(numEpisodes),
      advantageMaxs: statistics(numEpisodes),
      stepLosses: fc.constant(new Float64Array(numOptimizerSteps).fill(0.25)),
      stepGradientNorms: fc.constant(new Float64Array(numOptimizerSteps).fill(NaN)),
    }),
  ),
  UpdateTokensTraced: fc.nat(6).chain((numTokens) =>
    record({
      planId: uuid,
      epoch: natural,
      updateNumber: natural,
      part: natural,
      optimizerSteps: int32s(numTokens).map((values) => values.map((value) => Math.max(1, value))),
      episodes: int32s(numTokens),
      steps: int32s(numTokens),
      positions: int32s(numTokens),
      clipped: int32sUpTo(1, numTokens).map((values) => Uint8Array.from(values)),
      ratios: statistics(numTokens),
      advantages: statistics(numTokens),
      values: statistics(numTokens),
      kls: statistics(numTokens),
      entropies: statistics(numTokens),
      teacherLogprobs: numTokens === 0 ? fc.constant(null) : fc.option(statistics(numTokens)),
    }),
  ),
  PolicyPublished: record({
    versions: fc.tuple(natural, natural).filter(([a, b]) => a !== b),
    isFirst: flag,
    updateNumber: natural,
    epoch: natural,
    weights: file,
    modelHash: nonEmptyText,
    location: text,
  }).map(({ versions: [a, b], isFirst, ...others }) => ({
    ...others,
    policyVersion: Math.max(a, b),
    parentVersion: isFirst ? null : Math.min(a, b),
  })),
  PolicyValidated: record({
    policyVersion: natural,
    updateNumber: natural,
    split,
    seconds: fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value + 0),
    rows: validationRows,
  }),
  TrainerClaimed: record({ epoch: natural, trainerId: nonEmptyText }),
  CollectorClaimed: ids(4).chain((groupIds) =>
    record({
      shares: fc.tuple(fc.nat(100), fc.nat(100)).filter(([a, b]) => a !== b),
      split,
      trainable: flag,
      round: natural,
      places: fc.uniqueArray(fc.nat(50), { minLength: groupIds.length, maxLength: groupIds.length }),
      groupSize: fc.integer({ min: 1, max: 1000 }),
      firstOrdinal: natural,
    }).map(({ shares: [a, b], places, ...others }) => ({
      ...others,
      shareIndex: Math.min(a, b),
      numShares: Math.max(a, b),
      numGroups: 51,
      places: Int32Array.from(places),
      groupIds,
    })),
  ),
  MetricsLogged: record({
    source: fc.constantFrom('trainer', 'collector', 'sink', 'evaluation', 'system'),
    step: natural,
    metrics: named,
  }).map(({ metrics, ...others }) => ({ ...others, ...metrics })),
  BaselinesMeasured: record({ baselines }),
  WarningRaised: record({
    source: warningSource,
    severity: fc.constantFrom('warning', 'alarm'),
    step: fc.option(natural),
    message: nonEmptyText,
    numTimes: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    rule: text,
    advice: text,
    episodeIds: fc.array(uuid, { maxLength: 4 }),
  }),
  AlarmAcknowledged: record({
    rule: text,
    alarmSource: warningSource,
    message: nonEmptyText,
    note: text,
    source: text,
  }).map((payload) => ({ ...payload, message: payload.rule === '' ? payload.message : '' })),
  AlarmSilenced: record({ rule: text, untilUs: natural, note: text, source: text }),
  RetentionApplied: record({ scope: json, detail: text }),
  RunDeleted: record({
    controlEnd: natural,
    trajectoryEnds: fc.array(natural, { maxLength: 6 }),
    forced: flag,
    detail: text,
  }),
  RunAnnotated: record({
    tags: fc.option(tags),
    notes: fc.option(text),
    starred: fc.option(flag),
    archived: fc.option(flag),
    source: text,
  }),
  EpisodesDeleted: record({
    episodeIds: fc.uniqueArray(uuid, { minLength: 1, maxLength: 6 }),
    forced: flag,
    detail: text,
  }),
  DatasetEpisodesListed: record({
    name: nonEmptyText,
    contentHash: sha256,
    ofRunId: uuid,
    episodeIds: fc.uniqueArray(uuid, { minLength: 1, maxLength: 6 }),
  }),
  DatasetCreated: record({
    name: nonEmptyText,
    format: nonEmptyText,
    fileFormat: fc.constantFrom('jsonl', 'parquet'),
    sql: text,
    contentHash: sha256,
    splits: fc.uniqueArray(
      record({ split: nonEmptyText, numRows: fc.integer({ min: 1 }), file: nonEmptyText, sha256 }),
      { minLength: 1, maxLength: 3, selector: ({ split: name }) => name },
    ),
    runs: fc.uniqueArray(record({ runId: uuid, numEpisodes: fc.integer({ min: 1 }) }), {
      minLength: 1,
      maxLength: 3,
      selector: ({ runId }) => runId,
    }),
    contamination: json,
    settings: json,
    location: text,
    codeVersion: text,
  }).map((payload) => ({
    ...payload,
    numEpisodes: payload.runs.reduce((sum, { numEpisodes }) => sum + numEpisodes, 0),
  })),
  NotebookSaved: record({
    notebookId: uuid,
    revision: fc.integer({ min: 1 }),
    title: nonEmptyText,
    cells: fc.array(notebookCell, { maxLength: 3 }),
    source: text,
  }),
  NotebookDeleted: record({ notebookId: uuid, revision: fc.integer({ min: 2 }), source: text }),
};

const envelope = record({
  logId: uuid,
  runId: uuid,
  episodeId: uuid,
  eventId: uuid,
  occurredAtUs: natural,
  seq: natural,
});

/** Any valid event of that kind. */
export function anyEvent(kind: EventKind): fc.Arbitrary<AnyEvent> {
  const payloads = PAYLOADS[kind] as fc.Arbitrary<PayloadOf<typeof kind>>;
  return fc
    .tuple(envelope, payloads)
    .map(([{ logId, runId, episodeId, eventId, occurredAtUs, seq }, payload]) => {
      const common = { logId, runId: kind === 'LogOpened' ? '' : runId, occurredAtUs, payload };
      if (!isEpisodeEventKind(kind))
        return newControlEvent({ ...common, kind, eventId } as never) as AnyEvent;
      return newEpisodeEvent({
        ...common,
        kind,
        episodeId,
        seq: placeOf(kind, payload, seq),
      } as never) as AnyEvent;
    });
}

/** Place in the episode of an event with this content. */
function placeOf(kind: EventKind, payload: object, otherwise: number): number {
  if (kind === 'EpisodeStarted') return 0;
  if ('step' in payload && kind === 'StepRecorded') return Number(payload.step) + 1;
  return 'numSteps' in payload ? Number(payload.numSteps) + 1 : otherwise;
}
