import type { EventKind, Payloads } from './event.js';

/** Values that fields get in events of schema versions that did not have them. */
export type AddedFields = { readonly [K in EventKind]?: Readonly<Partial<Payloads[K]>> };

/**
 * The fields that a later schema version added, with the value that tells nothing new. Upcasters give it to events of earlier versions, and
 * the content checksum skips it, so an event has the same checksum before and after it was lifted.
 */
export const ADDED_FIELDS = {
  BatchPlanned: {
    runIds: [],
    groupRuns: null,
    groupSources: null,
    groupRows: null,
    episodeGroups: null,
    groupWeights: null,
  },
  UpdateApplied: { episodeRewards: null, groupPriorities: null, engine: null },
  UpdateTraced: { episodeDigests: [] },
  UpdateTokensTraced: { teacherLogprobs: null },
  RunStarted: { runKind: 'trained', tags: [], metadata: null },
  EpisodeStarted: {
    externalId: '',
    tags: [],
    metadata: null,
    parentEpisodeId: null,
    forkedFromRunId: null,
  },
  PolicyPublished: { location: '' },
  WarningRaised: { rule: '', advice: '', episodeIds: [] },
  StepRecorded: { messages: null, usage: null, tokenRoutedExperts: null },
} as const satisfies AddedFields;

/** Whether a field of a payload is one that a later version added, and has the value that it has in events of earlier versions. */
export function isAddedDefault(kind: EventKind, name: string, value: unknown): boolean {
  const added: Readonly<Record<string, unknown>> = (ADDED_FIELDS as AddedFields)[kind] ?? {};
  if (!Object.hasOwn(added, name)) return false;
  return Array.isArray(value) ? value.length === 0 : value === added[name];
}
