import type { AnyEvent, EpisodeEventKind, EventKind, Payloads } from '../events/event.js';
import { isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import { episodeEventId } from '../ids/ids.js';
import { TrajectoryError } from '../trajectory-error.js';
import { CONTROL_CHECKS, CONTROL_RULES } from './control-rules.js';
import { EPISODE_CHECKS, EPISODE_RULES } from './episode-rules.js';
import { describeProblem, type Problem } from './problem.js';
import { integerAtLeast, objectOf, uuid, type FieldRules, type PayloadRules, type Rule } from './rules.js';

const FIELD_RULES: PayloadRules<Payloads> = { ...EPISODE_RULES, ...CONTROL_RULES };

const payloadRules = Object.fromEntries(
  Object.entries(FIELD_RULES).map(([kind, rules]) => [kind, objectOf(rules as FieldRules<object>)]),
) as Readonly<Record<EventKind, Rule>>;

const checks = { ...EPISODE_CHECKS, ...CONTROL_CHECKS } as Readonly<
  Partial<Record<EventKind, (event: AnyEvent) => Problem | null>>
>;

/** Names of the fields that every payload of this kind has. */
export function payloadFields(kind: EventKind): string[] {
  return Object.keys(FIELD_RULES[kind]);
}

/** Kinds that may belong to no run. */
const RUNLESS_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
  'LogOpened',
  'RetentionApplied',
  'WarningRaised',
  'DatasetEpisodesListed',
  'DatasetCreated',
]);

/** Finds the first rule that an event of the current schema version breaks; null when it is valid. */
export function findEventProblem(event: AnyEvent): Problem | null {
  const { kind, payload } = event;
  if (!isEventKind(kind)) return { field: 'kind', value: kind, rule: 'must be a known event kind' };
  const problem =
    findEnvelopeProblem(event) ?? payloadRules[kind](payload, 'payload') ?? checks[kind]?.(event) ?? null;
  return problem && { ...problem, field: `${kind}.${problem.field}` };
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
    return { field: 'schemaVersion', value: schemaVersion, rule };
  }
  return (
    uuid(event.eventId, 'eventId') ??
    uuid(event.logId, 'logId') ??
    (RUNLESS_KINDS.has(kind) && event.runId === '' ? null : uuid(event.runId, 'runId')) ??
    nonNegativeInteger(seq, 'seq') ??
    nonNegativeInteger(event.occurredAtUs, 'occurredAtUs') ??
    (isEpisodeEventKind(kind) ? findEpisodeKeyProblem(event, kind) : findControlKeyProblem(event))
  );
}

function findEpisodeKeyProblem(
  { eventId, runId, episodeId, seq }: AnyEvent,
  kind: EpisodeEventKind,
): Problem | null {
  const problem = uuid(episodeId, 'episodeId');
  if (problem !== null) return problem;
  const expected = episodeEventId({ runId, episodeId, seq, kind });
  if (eventId === expected) return null;
  const rule = `must be ${expected}, the id derived from runId, episodeId, seq and kind`;
  return { field: 'eventId', value: eventId, rule };
}

function findControlKeyProblem({ episodeId, seq }: AnyEvent): Problem | null {
  if (episodeId !== '')
    return { field: 'episodeId', value: episodeId, rule: "must be '' in a control event" };
  return seq === 0 ? null : { field: 'seq', value: seq, rule: 'must be 0 in a control event' };
}
