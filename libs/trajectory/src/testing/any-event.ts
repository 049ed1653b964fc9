import fc from 'fast-check';
import type { AnyEvent, EventKind, PayloadOf } from '../events/event.js';
import { EVENT_FIELDS } from '../events/event-fields.js';
import { isEpisodeEventKind } from '../events/event-kinds.js';
import { newControlEvent, newEpisodeEvent } from '../ids/new-event.js';
import { anyObject, int32, natural, nonEmptyText, record } from './any-field.js';
import { anyStep } from './any-step.js';

/** Random valid events of every kind, for property tests: any content that the rules of fields and those between fields allow. */

const uuid = fc.uuid();

const file = fc.oneof(
  { arbitrary: record({ sha256: fc.stringMatching(/^[0-9a-f]{64}$/), sizeBytes: natural }), weight: 4 },
  // A trainer outside has not named it.
  { arbitrary: record({ sha256: fc.constant(''), sizeBytes: fc.constant(0) }), weight: 1 },
);

const ids = (maxLength: number) => fc.uniqueArray(nonEmptyText, { minLength: 1, maxLength });
const someEpisodes = fc.uniqueArray(uuid, { minLength: 1, maxLength: 6 });
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
/** A smaller and a greater number. */
const twoNumbers = (numbers: fc.Arbitrary<number>) =>
  fc
    .tuple(numbers, numbers)
    .filter(([a, b]) => a !== b)
    .map((pair) => pair.sort((a, b) => a - b));

const groupsClosed = ids(4).chain((groupIds) => {
  const numGroups = groupIds.length;
  const sizes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: numGroups, maxLength: numGroups });
  return sizes.chain((groupSizes) => {
    const offsets = Int32Array.from({ length: numGroups + 1 }, (_, g) =>
      groupSizes.slice(0, g).reduce((sum, size) => sum + size, 0),
    );
    const numMembers = offsets[numGroups];
    const ranges = fc.array(versionRange, { minLength: numGroups, maxLength: numGroups });
    return record({
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

const batchPlanned = fc.tuple(ids(4), fc.array(uuid, { maxLength: 6 })).chain(([groupIds, episodeIds]) => {
  const numGroups = groupIds.length;
  const alone = { runIds: [], groupRuns: null, groupSources: null, groupRows: null, episodeGroups: null };
  const mixed = fc.uniqueArray(uuid, { minLength: 1, maxLength: 3 }).chain((runIds) =>
    record({
      runIds: fc.constant(runIds),
      groupRuns: int32sUpTo(runIds.length, numGroups),
      groupSources: int32s(numGroups),
      groupRows: int32s(numGroups),
      episodeGroups: int32sUpTo(numGroups - 1, episodeIds.length),
    }),
  );
  return fc
    .tuple(fc.oneof(fc.constant(alone), mixed), fc.option(doubles(numGroups)), int32s(episodeIds.length))
    .map(([from, groupWeights, numSteps]) => ({ groupIds, episodeIds, numSteps, ...from, groupWeights }));
});

const updateTraced = fc
  .tuple(ids(3), fc.nat(6), fc.nat(5))
  .chain(([groupIds, numEpisodes, numOptimizerSteps]) =>
    record({
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
  );

/** Of no tokens there is none; with the likeliest tokens there is one. */
function makeTeacher(numTokens: number, topK: number) {
  const hasTop = numTokens > 0 && topK > 0;
  const none = fc.constant(null);
  return {
    teacherLogprobs:
      numTokens === 0 ? none : hasTop ? statistics(numTokens) : fc.option(statistics(numTokens)),
    teacherTopIds: hasTop ? int32s(numTokens * topK) : none,
    teacherTopLogprobs: hasTop ? statistics(numTokens * topK) : none,
  };
}

const updateTokensTraced = fc.tuple(fc.nat(6), fc.nat(3)).chain(([numTokens, topK]) =>
  record({
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
    ...makeTeacher(numTokens, topK),
  }),
);

const collectorClaimed = fc
  .tuple(ids(4), twoNumbers(fc.nat(100)))
  .chain(([groupIds, [shareIndex, numShares]]) =>
    fc.uniqueArray(fc.nat(50), { minLength: groupIds.length, maxLength: groupIds.length }).map((places) => ({
      ...{ shareIndex, numShares, numGroups: 51, groupIds, places: Int32Array.from(places) },
    })),
  );

const datasetCreated = record({
  splits: fc.uniqueArray(
    record({
      split: nonEmptyText,
      numRows: fc.integer({ min: 1 }),
      file: nonEmptyText,
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
    }),
    { minLength: 1, maxLength: 3, selector: ({ split: name }) => name },
  ),
  runs: fc.uniqueArray(record({ runId: uuid, numEpisodes: fc.integer({ min: 1 }) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ runId }) => runId,
  }),
}).map(({ splits, runs }) => ({
  ...{ splits, runs, numEpisodes: runs.reduce((sum, { numEpisodes }) => sum + numEpisodes, 0) },
}));

/** The fields of a kind that depend on each other, or whose declaration allows more than their rule does. */
const DEPENDENT: { readonly [K in EventKind]?: fc.Arbitrary<Partial<PayloadOf<K>>> } = {
  EpisodeStarted: fc
    .tuple(
      twoNumbers(int32),
      fc.option(fc.tuple(record({ episodeId: uuid, step: natural }), fc.option(uuid))),
    )
    .map(([[groupMember, groupSize], fork]) => ({
      ...{ groupMember, groupSize, forkedFrom: fork?.[0] ?? null, forkedFromRunId: fork?.[1] ?? null },
    })),
  StepRecorded: fc.oneof(anyStep(0), fc.nat(1_000).chain(anyStep)),
  EpisodeEnded: record({
    endDetail: nonEmptyText,
    finalTokenIds: fc.nat(20).chain(int32s),
    numSteps: natural.map((value) => Math.floor(value / 2)),
    tokens: fc.tuple(natural, natural, natural).map((counts) => [...counts].sort((a, b) => a - b)),
    range: versionRange,
  }).map(({ tokens: [numActionTokens, finalKeptPrefixTokens, numTokens], range, ...others }) => ({
    ...{ ...others, ...range, numTokens, numActionTokens, finalKeptPrefixTokens },
  })),
  RunStarted: fc.oneof(
    record({ runKind: fc.constant('trained'), recipeHash: nonEmptyText, environment: nonEmptyText }),
    record({ runKind: fc.constant('recorded'), recipeHash: fc.constant(''), recipe: fc.constant(null) }),
  ),
  GroupsClosed: groupsClosed,
  GroupsDiscarded: record({ groupIds: ids(4) }),
  BatchPlanned: batchPlanned,
  UpdateApplied: record({ weights: file, optimizer: file, metrics: named }).map(
    ({ metrics: { names, values }, ...others }) => ({ ...others, metricNames: names, metricValues: values }),
  ),
  UpdateTraced: updateTraced,
  UpdateTokensTraced: updateTokensTraced,
  PolicyPublished: record({ versions: twoNumbers(natural), isFirst: fc.boolean(), weights: file }).map(
    ({ versions: [parentVersion, policyVersion], isFirst, weights }) => ({
      ...{ policyVersion, parentVersion: isFirst ? null : parentVersion, weights },
    }),
  ),
  CollectorClaimed: collectorClaimed,
  MetricsLogged: named,
  AlarmAcknowledged: fc.oneof(
    record({ rule: nonEmptyText, message: fc.constant('') }),
    record({ rule: fc.constant(''), message: nonEmptyText }),
  ),
  EpisodesDeleted: record({ episodeIds: someEpisodes }),
  DatasetEpisodesListed: record({ episodeIds: someEpisodes }),
  DatasetCreated: datasetCreated,
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
  const dependent = (DEPENDENT[kind] ?? fc.constant({})) as fc.Arbitrary<object>;
  return fc
    .tuple(envelope, anyObject(EVENT_FIELDS[kind]), dependent)
    .map(([{ logId, runId, episodeId, eventId, occurredAtUs, seq }, independent, chosen]) => {
      const payload = { ...independent, ...chosen };
      const common = { logId, runId: kind === 'LogOpened' ? '' : runId, occurredAtUs, payload };
      if (!isEpisodeEventKind(kind))
        return newControlEvent({ ...common, kind, eventId } as never) as AnyEvent;
      return newEpisodeEvent({
        ...common,
        kind,
        episodeId,
        seq: choosePlace(kind, payload, seq),
      } as never) as AnyEvent;
    });
}

/** Place in the episode of an event with this content. */
function choosePlace(kind: EventKind, payload: object, otherwise: number): number {
  if (kind === 'EpisodeStarted') return 0;
  if ('step' in payload && kind === 'StepRecorded') return Number(payload.step) + 1;
  return 'numSteps' in payload ? Number(payload.numSteps) + 1 : otherwise;
}
