import { hash } from 'node:crypto';
import type { EpisodeOfUpdate } from '@retrace/store';
import {
  OWN_GROUPS_ONLY,
  type BatchPlanned,
  type CheckpointFile,
  type ControlEventKind,
  type PayloadOf,
  type PolicyPublished,
  type UpdateApplied,
  type UpdateTraced,
} from '@retrace/trajectory';
import type {
  RecordUpdateRequest,
  WireCheckpoint,
  WireFile,
  WireTrainedEpisode,
} from '../wire/update-requests.js';

/** An update as it is to be recorded: what was asked for, and its place in the run. */
export interface PlacedUpdate {
  readonly runId: string;
  readonly request: RecordUpdateRequest;
  readonly planId: string;
  readonly epoch: number;
  readonly updateNumber: number;
  readonly policyVersionOut: number;
  readonly modelHash: string;
  /** Episodes of the request as the store has them, in its order. */
  readonly episodes: readonly EpisodeOfUpdate[];
}

/** The payload of an event, with its kind. */
export type ControlPayload = {
  readonly [K in ControlEventKind]: { readonly kind: K; readonly payload: PayloadOf<K> };
}[ControlEventKind];

/** A file that a trainer outside has not named. */
const NO_FILE: CheckpointFile = { sha256: '', sizeBytes: 0 };

/** The events of an update, but for its metrics, which are appended together: nothing of it is ever pending. */
export function updateEvents(update: PlacedUpdate): ControlPayload[] {
  return [
    { kind: 'BatchPlanned', payload: makePlan(update) },
    { kind: 'UpdateTraced', payload: makeTrace(update) },
    { kind: 'UpdateApplied', payload: makeCommit(update) },
    {
      kind: 'PolicyPublished',
      payload: publishedPolicy(update.request, { ...update, ...listVersions(update) }),
    },
  ];
}

/** A policy that a trainer outside made. */
export function publishedPolicy(
  { weights, location = '' }: WireCheckpoint,
  place: Omit<PolicyPublished, 'weights' | 'location'>,
): PolicyPublished {
  const { policyVersion, parentVersion, updateNumber, epoch, modelHash } = place;
  return {
    ...{ policyVersion, parentVersion, updateNumber, epoch, modelHash, location },
    weights: toCheckpointFile(weights),
  };
}

function toCheckpointFile(file: WireFile | null | undefined): CheckpointFile {
  return file ? { sha256: file.sha256, sizeBytes: file.sizeBytes } : NO_FILE;
}

/** The state of its trainer that a commit carries: a digest, which tells its request from others with the same id. */
export function makeTrainerState({ id: _, ...content }: RecordUpdateRequest): { readonly request: string } {
  return { request: hash('sha256', JSON.stringify(content), 'hex') };
}

function listVersions({ request, policyVersionOut }: PlacedUpdate) {
  return { policyVersion: policyVersionOut, parentVersion: request.policyVersionIn };
}

/** Entries, each once in order of first appearance, and the place of each entry's own among them. */
function distinct<T>(entries: readonly T[], keyOf: (entry: T) => string) {
  const places = new Map<string, number>();
  const firsts: T[] = [];
  const placeOf = entries.map((entry) => {
    const key = keyOf(entry);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, firsts.length);
    return firsts.push(entry) - 1;
  });
  return { firsts, placeOf: Int32Array.from(placeOf) };
}

const groupKey = ({ runId, groupId }: EpisodeOfUpdate): string => `${runId} ${groupId}`;

function makePlan({ runId, request, planId, epoch, updateNumber, episodes }: PlacedUpdate): BatchPlanned {
  const groups = distinct(episodes, groupKey);
  const runIds = [...new Set(episodes.map((episode) => episode.runId))].filter((id) => id !== runId);
  const { policyVersionIn, stage = 'policy', rewardVersion = 'recorded', batch = null } = request;
  return {
    ...{ planId, epoch, updateNumber, stage, policyVersionIn, rewardVersion },
    recipeHash: hash('sha256', JSON.stringify(batch), 'hex'),
    groupIds: groups.firsts.map(({ groupId }) => groupId),
    episodeIds: episodes.map(({ episodeId }) => episodeId),
    numSteps: Int32Array.from(episodes, ({ numSteps }) => numSteps),
    samplerState: batch,
    ...OWN_GROUPS_ONLY,
    ...(runIds.length > 0 && {
      runIds,
      groupRuns: Int32Array.from(groups.firsts, (first) => runIds.indexOf(first.runId) + 1),
      episodeGroups: groups.placeOf,
    }),
    // What drew at random in a trainer outside is not known.
    seed: 0,
  };
}

function makeTrace({ request, planId, epoch, updateNumber, episodes }: PlacedUpdate): UpdateTraced {
  const runs = distinct(episodes, ({ runId }) => runId);
  const groups = distinct(episodes, groupKey);
  const { stepLosses = [], stepGradientNorms = stepLosses.map(() => NaN) } = request;
  const floats = (valueOf: (episode: WireTrainedEpisode) => number | undefined | null) =>
    Float32Array.from(request.episodes, (episode) => valueOf(episode) ?? NaN);
  const counts = (valueOf: (episode: WireTrainedEpisode) => number) =>
    Int32Array.from(request.episodes, valueOf);
  return {
    ...{ planId, epoch, updateNumber, policyVersionIn: request.policyVersionIn },
    runIds: runs.firsts.map(({ runId }) => runId),
    episodeRuns: runs.placeOf,
    groupIds: groups.firsts.map(({ groupId }) => groupId),
    episodeGroups: groups.placeOf,
    episodeIds: episodes.map(({ episodeId }) => episodeId),
    firstSteps: new Int32Array(episodes.length),
    numSteps: Int32Array.from(episodes, ({ numSteps }) => numSteps),
    episodeDigests: listDigests(request.episodes),
    times: counts(({ times = 1 }) => times),
    numTokens: counts(({ numTokens = 0 }) => numTokens),
    weights: floats(({ weight = 1 }) => weight),
    advantageMeans: floats(({ advantage }) => advantage?.mean),
    advantageDeviations: floats(({ advantage }) => advantage?.deviation),
    advantageMins: floats(({ advantage }) => advantage?.min),
    advantageMaxs: floats(({ advantage }) => advantage?.max),
    stepLosses: Float64Array.from(stepLosses, (loss) => loss ?? NaN),
    stepGradientNorms: Float64Array.from(stepGradientNorms, (norm) => norm ?? NaN),
  };
}

/** Digests say something only where each episode has one. */
function listDigests(episodes: readonly WireTrainedEpisode[]): string[] {
  const known = episodes.flatMap(({ digest }) => digest ?? []);
  return known.length === episodes.length ? known : [];
}

function makeCommit({ request, planId, epoch, updateNumber, policyVersionOut }: PlacedUpdate): UpdateApplied {
  const { engine, weights, optimizer, episodes, metrics = {} } = request;
  const rewards = Float64Array.from(episodes, ({ reward }) => reward ?? NaN);
  return {
    ...{ planId, epoch, updateNumber, policyVersionOut },
    weights: toCheckpointFile(weights),
    optimizer: toCheckpointFile(optimizer),
    episodeRewards: rewards.every(Number.isNaN) ? null : rewards,
    groupPriorities: null,
    engine: { version: '', device: '', numProcesses: 1, precision: '', ...engine },
    trainerState: makeTrainerState(request),
    metricNames: Object.keys(metrics),
    metricValues: Float64Array.from(Object.values(metrics), (value) => value ?? NaN),
  };
}

/** The event that draws the metrics of an update; its commit has them, too. */
export function metricsEvent({ request: { metrics = {} }, updateNumber }: PlacedUpdate): ControlPayload {
  const names = Object.keys(metrics);
  const values = Float64Array.from(names, (name) => metrics[name] ?? NaN);
  return { kind: 'MetricsLogged', payload: { source: 'trainer', step: updateNumber, names, values } };
}
