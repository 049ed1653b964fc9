import type { AnyEvent, EventKind } from '../events/event.js';
import { EVENT_FIELDS } from '../events/event-fields.js';
import { isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import { toRules, type EventFields } from '../fields/field.js';
import { kindsMarked } from '../fields/kind-marks.js';
import { describeProblem, type Problem } from '../fields/problem.js';
import { integerAtLeast, objectOf, uuid, type Rule } from '../fields/rules.js';
import { episodeEventId } from '../ids/ids.js';
import { TrajectoryError } from '../trajectory-error.js';
import { CONTROL_CHECKS } from './control-checks.js';
import { EPISODE_CHECKS } from './episode-checks.js';

const payloadRules = Object.fromEntries(
  Object.entries<EventFields>(EVENT_FIELDS).map(([kind, fields]) => [kind, objectOf(toRules(fields))]),
) as Readonly<Record<EventKind, Rule>>;

const checks = { ...EPISODE_CHECKS, ...CONTROL_CHECKS } as Readonly<
  Partial<Record<EventKind, (event: AnyEvent) => Problem | null>>
>;

/** Kinds that may belong to no run. */
const RUNLESS_KINDS: ReadonlySet<EventKind> = new Set(kindsMarked(EVENT_FIELDS, 'runless'));

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

/** Most events share their log and their run with the event before. */
const sharedLogId = rememberValid(uuid);
const sharedRunId = rememberValid(uuid);

/** Makes a rule that skips its check when the value is the one that it last found valid. */
function rememberValid(inner: Rule): Rule {
  let valid: unknown = Symbol('none yet');
  return (value, field) => {
    if (value === valid) return null;
    const problem = inner(value, field);
    if (problem === null) valid = value;
    return problem;
  };
}

function findEnvelopeProblem(event: AnyEvent): Problem | null {
  const { kind, schemaVersion, seq } = event;
  if (schemaVersion !== SCHEMA_VERSIONS[kind]) {
    const rule = `must be ${SCHEMA_VERSIONS[kind]}, the current version`;
    return { field: 'schemaVersion', value: schemaVersion, rule };
  }
  const expectedId = isEpisodeEventKind(kind)
    ? episodeEventId({ kind, runId: event.runId, episodeId: event.episodeId, seq })
    : null;
  return (
    // A derived id is always a UUID, so its form need not be checked.
    (event.eventId === expectedId ? null : uuid(event.eventId, 'eventId')) ??
    sharedLogId(event.logId, 'logId') ??
    (RUNLESS_KINDS.has(kind) && event.runId === '' ? null : sharedRunId(event.runId, 'runId')) ??
    nonNegativeInteger(seq, 'seq') ??
    nonNegativeInteger(event.occurredAtUs, 'occurredAtUs') ??
    (expectedId === null ? findControlKeyProblem(event) : findEpisodeKeyProblem(event, expectedId))
  );
}

function findEpisodeKeyProblem({ eventId, episodeId }: AnyEvent, expectedId: string): Problem | null {
  const problem = uuid(episodeId, 'episodeId');
  if (problem !== null) return problem;
  if (eventId === expectedId) return null;
  const rule = `must be ${expectedId}, the id derived from runId, episodeId, seq and kind`;
  return { field: 'eventId', value: eventId, rule };
}

function findControlKeyProblem({ episodeId, seq }: AnyEvent): Problem | null {
  if (episodeId !== '')
    return { field: 'episodeId', value: episodeId, rule: "must be '' in a control event" };
  return seq === 0 ? null : { field: 'seq', value: seq, rule: 'must be 0 in a control event' };
}
