import { TrajectoryError } from '../trajectory-error.js';
import { isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import type { AnyEvent, EventKind, PayloadOf, RetraceEvent } from '../events/event.js';
import { episodeEventId } from '../ids/ids.js';
import * as control from './control-rules.js';
import * as episode from './episode-rules.js';
import { describeProblem, type Problem } from './problem.js';
import { integerAtLeast, objectOf, uuid, type FieldRules, type Rule } from './rules.js';

const fieldRules: { readonly [K in EventKind]: FieldRules<PayloadOf<K>> } = {
  EpisodeStarted: episode.episodeStartedRules,
  StepRecorded: episode.stepRecordedRules,
  EpisodeEnded: episode.episodeEndedRules,
  RewardAssigned: episode.rewardAssignedRules,
  LogOpened: control.logOpenedRules,
  RunStarted: control.runStartedRules,
  RunEnded: control.runEndedRules,
  GroupsClosed: control.groupsClosedRules,
  BatchPlanned: control.batchPlannedRules,
  UpdateApplied: control.updateAppliedRules,
  PolicyPublished: control.policyPublishedRules,
  TrainerClaimed: control.trainerClaimedRules,
  CollectorClaimed: control.collectorClaimedRules,
  MetricsLogged: control.metricsLoggedRules,
  RetentionApplied: control.retentionAppliedRules,
  RunDeleted: control.runDeletedRules,
};

const payloadRules = Object.fromEntries(
  Object.entries(fieldRules).map(([kind, rules]) => [kind, objectOf(rules as FieldRules<object>)]),
) as Readonly<Record<EventKind, Rule>>;

/** The fields that a payload of this kind has, each of them always. */
export function payloadFields(kind: EventKind): string[] {
  return Object.keys(fieldRules[kind]);
}

/** Rules over several fields; they run after every field has passed its own. */
const crossFieldChecks: { readonly [K in EventKind]?: (event: RetraceEvent<K>) => Problem | null } = {
  EpisodeStarted: episode.checkEpisodeStarted,
  StepRecorded: episode.checkStepRecorded,
  EpisodeEnded: episode.checkEpisodeEnded,
  GroupsClosed: control.checkGroupsClosed,
  BatchPlanned: control.checkBatchPlanned,
  CollectorClaimed: control.checkCollectorClaimed,
  UpdateApplied: control.checkUpdateApplied,
  PolicyPublished: control.checkPolicyPublished,
  MetricsLogged: control.checkMetricsLogged,
};

/** Kinds that may belong to no run. */
const RUNLESS_KINDS: ReadonlySet<EventKind> = new Set<EventKind>(['LogOpened', 'RetentionApplied']);

/** The first rule that an event of the current schema version breaks; null when it is valid. */
export function findEventProblem(event: AnyEvent): Problem | null {
  const { kind } = event;
  if (!isEventKind(kind)) return { field: 'kind', value: kind, rule: 'must be a known event kind' };
  const problem = findEnvelopeProblem(event) ?? payloadRules[kind](event.payload, `${kind}.payload`);
  if (problem !== null) return problem;
  const check = crossFieldChecks[kind] as ((event: AnyEvent) => Problem | null) | undefined;
  return check?.(event) ?? null;
}

/** @throws TrajectoryError `INVALID_EVENT` naming the field, the value and the rule */
export function assertValidEvent(event: AnyEvent): void {
  const problem = findEventProblem(event);
  if (problem !== null) throw new TrajectoryError('INVALID_EVENT', describeProblem(problem));
}

const nonNegativeInteger = integerAtLeast(0);

function findEnvelopeProblem(event: AnyEvent): Problem | null {
  const { kind, schemaVersion, seq } = event;
  if (schemaVersion !== SCHEMA_VERSIONS[kind]) {
    const rule = `must be ${SCHEMA_VERSIONS[kind]}, the current version`;
    return { field: `${kind}.schemaVersion`, value: schemaVersion, rule };
  }
  return (
    uuid(event.eventId, `${kind}.eventId`) ??
    uuid(event.logId, `${kind}.logId`) ??
    (RUNLESS_KINDS.has(kind) && event.runId === '' ? null : uuid(event.runId, `${kind}.runId`)) ??
    nonNegativeInteger(seq, `${kind}.seq`) ??
    nonNegativeInteger(event.occurredAtUs, `${kind}.occurredAtUs`) ??
    (isEpisodeEventKind(kind) ? findEpisodeKeyProblem(event) : findControlKeyProblem(event))
  );
}

function findEpisodeKeyProblem(event: AnyEvent): Problem | null {
  const { kind, runId, episodeId, seq, eventId } = event;
  if (!isEpisodeEventKind(kind)) return null;
  const problem = uuid(episodeId, `${kind}.episodeId`);
  if (problem !== null) return problem;
  const expected = episodeEventId({ runId, episodeId, seq, kind });
  if (eventId === expected) return null;
  const rule = `must be ${expected}, the id derived from runId, episodeId, seq and kind`;
  return { field: `${kind}.eventId`, value: eventId, rule };
}

function findControlKeyProblem({ kind, episodeId, seq }: AnyEvent): Problem | null {
  if (episodeId !== '')
    return { field: `${kind}.episodeId`, value: episodeId, rule: "must be '' in a control event" };
  if (seq !== 0) return { field: `${kind}.seq`, value: seq, rule: 'must be 0 in a control event' };
  return null;
}
