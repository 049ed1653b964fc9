import type { ControlEventKind, EpisodeEventKind, EventKind } from './event.js';

const EPISODE_VERSIONS: Readonly<Record<EpisodeEventKind, number>> = {
  EpisodeStarted: 3,
  StepRecorded: 4,
  EpisodeEnded: 1,
  RewardAssigned: 1,
  EpisodeAnnotated: 1,
};

const CONTROL_VERSIONS: Readonly<Record<ControlEventKind, number>> = {
  LogOpened: 1,
  RunStarted: 2,
  RunEnded: 1,
  GroupsClosed: 1,
  GroupsDiscarded: 1,
  SamplingBlocked: 1,
  BatchPlanned: 2,
  UpdateApplied: 4,
  UpdateTraced: 2,
  UpdateTokensTraced: 2,
  PolicyPublished: 2,
  PolicyValidated: 1,
  TrainerClaimed: 1,
  CollectorClaimed: 1,
  MetricsLogged: 1,
  BaselinesMeasured: 1,
  WarningRaised: 2,
  AlarmAcknowledged: 1,
  AlarmSilenced: 1,
  RunAnnotated: 1,
  RetentionApplied: 1,
  RunDeleted: 1,
  EpisodesDeleted: 1,
  DatasetEpisodesListed: 1,
  DatasetCreated: 1,
  NotebookSaved: 1,
  NotebookDeleted: 1,
};

/**
 * The schema version that this code writes, per kind. Any change of a payload's fields raises its kind's version and adds
 * an upcaster in `codec/upcast.ts`.
 */
export const SCHEMA_VERSIONS: Readonly<Record<EventKind, number>> = {
  ...EPISODE_VERSIONS,
  ...CONTROL_VERSIONS,
};

/** Kinds by which people say something of a run, whenever that is: they are no activity of it. */
export const REMARK_KINDS: readonly ControlEventKind[] = [
  'RunAnnotated',
  'AlarmAcknowledged',
  'AlarmSilenced',
];

export const EVENT_KINDS = Object.keys(SCHEMA_VERSIONS) as readonly EventKind[];

export function isEventKind(kind: unknown): kind is EventKind {
  return typeof kind === 'string' && Object.hasOwn(SCHEMA_VERSIONS, kind);
}

export function isEpisodeEventKind(kind: EventKind): kind is EpisodeEventKind {
  return Object.hasOwn(EPISODE_VERSIONS, kind);
}
