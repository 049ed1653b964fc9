import type { OutboxEntry } from './outbox-entry.js';
import type { RunRecord } from '../wire/records.js';
import { Changes } from './changes.js';
import { fitFields, fitSchema, IMPOSSIBLE, type OwnFields, type RecordSchema } from './fit-schema.js';
import { fitSize, RECORD_LIMITS, REQUEST_LIMITS, type SizeLimits } from './fit-size.js';
import { RECORD_SCHEMAS } from './record-schemas.generated.js';
import { storableMessages } from './storable-messages.js';
import { NO_TOKENS, storableTokens } from './storable-tokens.js';
import { LIST_COLUMNS } from './token-columns.js';

/** A content that the server takes, and what had to be changed for that. */
export interface Storable<Content> {
  /** null: nothing of it can be stored. */
  readonly content: Content | null;
  /** Each change in words, such as `usage.inputTokens: an impossible value was left out`. */
  readonly changes: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const SCHEMAS: Readonly<Record<string, RecordSchema>> = RECORD_SCHEMAS;

/** Fields without which a record would be another one. */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'episode', 'step', 'id', 'name', 'value', 'source', 'occurredAt'],
  ...['endReason', 'detail', 'numSteps', 'reason', 'untrainable'],
]);
/** Begins the reason why a step that was changed is not trained on. */
export const MADE_STORABLE = 'made storable: ';
const MAX_SHOWN_CHANGES = 10;
const MAX_REASON_CHARACTERS = 1_000;

/** Makes an entry of an outbox storable, as `storableRecord` does with records. */
export function storableEntry(entry: OutboxEntry): Storable<OutboxEntry> {
  const { content, changes } =
    entry.kind === 'record'
      ? storableRecord(entry.content)
      : storableFields(entry.content, entry.kind === 'start' ? 'runStart' : 'runEnd', REQUEST_LIMITS);
  return { content: content && ({ ...entry, content } as OutboxEntry), changes };
}

/**
 * Makes a record one that the server takes, whatever is in it: texts are well-formed, impossible values are left out, what is too large is
 * cut with its length kept, what is nested too deep or has a name that is refused is replaced. A step that was changed is not trained on,
 * and says why. A record that needs no change stays equal, also when it is made storable again.
 *
 * A record that has no place in an episode without what is impossible in it has no content: a reward of a step -1.
 */
export function storableRecord(record: RunRecord, limits = RECORD_LIMITS): Storable<RunRecord> {
  return storableFields(record, record.type, limits);
}

function storableFields<Content extends object>(
  given: Content,
  kind: string,
  limits: SizeLimits,
): Storable<Content> {
  const changes = new Changes();
  try {
    const fitted = Object.hasOwn(SCHEMAS, kind) ? fitKind(given as Fields, kind, changes) : IMPOSSIBLE;
    if (fitted === IMPOSSIBLE) return { content: null, changes: changes.list };
    const without = kind === 'step' ? { tokens: NO_TOKENS } : {};
    const small = fitSize(fitted, limits, changes, { kept: KEPT, without });
    const isChanged = kind === 'step' && changes.list.length > 0;
    const content = isChanged ? withReason(small, changes.list) : small;
    return { content: content as Content, changes: changes.list };
  } catch (error) {
    // A getter, or `toJSON`, of the caller's.
    changes.note(
      'record',
      `it could not be read: ${error instanceof Error ? error.message : 'unknown error'}`,
    );
    return { content: poorest(given as Fields, changes.list) as Content | null, changes: changes.list };
  }
}

function fitKind(given: Fields, kind: string, changes: Changes): Fields | typeof IMPOSSIBLE {
  const { step } = given;
  if (
    kind === 'reward' &&
    fitSchema(step ?? null, SCHEMAS.reward.properties?.step ?? {}, changes, 'step') === IMPOSSIBLE
  ) {
    // Without its step, it would reward the whole episode.
    changes.note('step', 'an impossible value');
    return IMPOSSIBLE;
  }
  const own: OwnFields = {
    messages: (value) => (value === null ? null : (storableMessages(value, changes) ?? IMPOSSIBLE)),
    tokens: (value) => (value === null ? null : storableTokens(value, step, changes)),
  };
  const fitted = fitFields(given, SCHEMAS[kind], changes, '', kind === 'step' ? own : {});
  return fitted === IMPOSSIBLE ? fitted : withRules(fitted, kind, changes);
}

/** Rules between fields. */
function withRules(record: Fields, kind: string, changes: Changes): Fields {
  const { groupMember = 0, groupSize = 1, ...ungrouped } = record;
  if (kind === 'episode' && (groupMember as number) >= (groupSize as number)) {
    changes.note('groupMember', 'an impossible value was left out');
    return { ...ungrouped, ...(record.groupSize !== undefined && { groupSize }) };
  }
  if (kind === 'end' && record.endReason === 'abandoned' && (record.detail ?? '') === '') {
    changes.note('detail', 'a reason was missing');
    return { ...record, detail: 'no reason was given' };
  }
  const { tokens } = record as { readonly tokens?: { readonly logprobs?: readonly unknown[] } | null };
  if (record.logprobMode === 'none' && tokens?.logprobs?.some((value) => value !== null)) {
    changes.note('logprobMode', 'an impossible value was left out');
    const { logprobMode: _, ...others } = record;
    return others;
  }
  return record;
}

/** A step that says why it is not trained on. */
function withReason(step: Fields, changes: readonly string[]): Fields {
  const more = changes.length - MAX_SHOWN_CHANGES;
  const shown = changes.slice(0, MAX_SHOWN_CHANGES).join('; ') + (more > 0 ? `; ${more} more` : '');
  const given =
    typeof step.untrainable === 'string' && step.untrainable !== '' ? `${step.untrainable}; ` : '';
  return { ...step, untrainable: `${given}${MADE_STORABLE}${shown}` };
}

/** The least that a record consists of, by its type; that of the start of a run is ''. */
const LEAST: Readonly<Record<string, readonly string[]>> = {
  episode: ['type', 'episode', 'occurredAt'],
  step: ['type', 'episode', 'step', 'occurredAt', 'tokens', 'untrainable'],
  end: ['type', 'episode', 'endReason', 'detail', 'occurredAt'],
  '': ['id', 'name'],
};

/**
 * A record with nothing but its place in its episode: a step says why, and an end becomes one that abandons the episode.
 *
 * @returns null for records without such a place, and for one that has nothing else already
 */
export function poorest(record: Fields, reasons: readonly string[]): Fields | null {
  const { type = '', episode, step, id, occurredAt } = record as Readonly<Record<string, string>>;
  const isPoorest = Object.keys(record).every((name) => LEAST[type]?.includes(name));
  if (!Object.hasOwn(LEAST, type) || (isPoorest && hasNoTokens(record))) return null;
  const at = Number.isSafeInteger(occurredAt) ? { occurredAt } : {};
  const why = reasons.join('; ').slice(0, MAX_REASON_CHARACTERS);
  switch (type) {
    case 'step':
      return withReason({ type, episode, step, ...at, tokens: NO_TOKENS }, [why]);
    case 'end':
      return { type, episode, endReason: 'abandoned', detail: why, ...at };
    case 'episode':
      return { type, episode, ...at };
    default:
      return { id, name: 'unnamed' };
  }
}

/** A record without a field, where it can be without it; else null. */
function withoutField(record: Fields, field: string, reason: string): Fields | null {
  const isStep = record.type === 'step';
  if (record[field] === undefined || KEPT.has(field) !== (field === 'occurredAt')) return null;
  if (isStep && field === 'tokens' && hasNoTokens(record)) return null;
  const { [field]: _, ...others } = record;
  if (!isStep) return others;
  return withReason(field === 'tokens' ? { ...others, tokens: NO_TOKENS } : others, [reason]);
}

/**
 * A record after the server has refused a field of it: without that field, or with nothing but its place in its episode.
 *
 * @param fault `field` is the path of the field at fault, such as `tokens.mask[3]`, or '' for the record as a whole
 * @returns null when no poorer record helps
 */
export function poorerRecord(record: RunRecord, fault: { field: string; reason: string }): RunRecord | null {
  const fields = record as unknown as Fields;
  const [, field = '', column = ''] = /^(\w+)(?:\.(\w+))?/.exec(fault.field) ?? [];
  if (field === 'tokens' && LIST_COLUMNS.includes(column)) {
    const { [column]: refused, ...tokens } = (fields.tokens ?? {}) as Fields;
    if (refused !== undefined) return { ...fields, tokens } as unknown as RunRecord;
  }
  const poorer = withoutField(fields, field, fault.reason) ?? poorest(fields, [fault.reason]);
  return poorer as RunRecord | null;
}

function hasNoTokens({ tokens }: Fields): boolean {
  const { ids = [] } = (tokens ?? {}) as { readonly ids?: readonly unknown[] };
  return ids.length === 0;
}
