import {
  type CheckedStep,
  checkStepRecorded,
  ContentBytes,
  type EpisodePlaces,
  fingerprintOf,
  type PlaceFault,
  type StableField,
  stableFields,
} from '@retrace/trajectory';
import {
  type TypedColumn,
  type FieldPlace,
  hasElementsOf,
  type StepField,
  type StepRecord,
  unpackInto,
} from '@retrace/trajectory/codec';
import type { BytesColumn, ListColumn } from '../arrow/ragged-columns.js';
import { usageField } from './episode-event-fields.js';
import type { EventColumns } from './event-columns.js';

const KIND = 'StepRecorded';

/** The column of each field that is a typed array. */
const LISTS = {
  rewardValues: 'reward_values',
  tokenIds: 'token_ids',
  actionMask: 'action_mask',
  tokenLogprobs: 'token_logprobs',
  tokenRawLogprobs: 'token_raw_logprobs',
  tokenEntropies: 'token_entropies',
  tokenPolicyVersions: 'token_policy_versions',
} as const;

const LIST_FIELDS = Object.keys(LISTS) as (keyof typeof LISTS)[];

const CHECKED_FIELDS = stableFields(KIND) as readonly (StableField & { readonly name: StepField })[];

/** A field of the checksum, with its place in a step that is read again and again. */
interface CheckedField {
  readonly nameBytes: Uint8Array;
  readonly place: FieldPlace;
  readonly list: keyof typeof LISTS;
  /** Only of a field that is a value. */
  readonly remembered: { readonly contentBytes: Uint8Array } | null;
}

/** Looking fields up by their names takes longer than hashing most of them. */
const checkedFields = new WeakMap<StepRecord, readonly CheckedField[]>();

function checkedFieldsOf(step: StepRecord): readonly CheckedField[] {
  let fields = checkedFields.get(step);
  if (fields === undefined) {
    fields = CHECKED_FIELDS.map(({ name, nameBytes }) => {
      const place = step.fields[name];
      const remembered = place.form === 'value' ? step.remembered(name as 'info') : null;
      return { nameBytes, place, list: name as keyof typeof LISTS, remembered };
    });
    checkedFields.set(step, fields);
  }
  return fields;
}

/** Used synchronously, so one buffer is shared; emptied before each use. */
const content = new ContentBytes();

/** `invalid`: the elements of the step's columns break a rule. `misplaced`: the step has no place in its episode. */
export type StepOutcome =
  | { readonly kind: 'written' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'misplaced'; readonly fault: PlaceFault };

/** Shared: one of these comes with every step. */
const WRITTEN: StepOutcome = Object.freeze({ kind: 'written' });
const INVALID: StepOutcome = Object.freeze({ kind: 'invalid' });

/**
 * Writes the row of a step directly from its record, if the step has a place in its episode: the same row as that of the decoded event.
 * No column changes unless the outcome is `written`.
 */
export function writeStepRecord(
  columns: EventColumns,
  row: number,
  step: StepRecord,
  places: EpisodePlaces,
): StepOutcome {
  const lists = unpackLists(columns, step);
  if (lists === null || checkStepRecorded({ seq: step.seq, payload: lists }) !== null) return INVALID;
  const checksum = checksumOf(step, lists);
  const placement = places.take(KIND, step.seq, fingerprintOf(checksum));
  if (placement !== 'placed') return { kind: 'misplaced', fault: placement };
  writeEnvelope(columns, row, step);
  columns.content_checksum.setBytes(row, checksum, 0);
  for (const field of LIST_FIELDS) columns[LISTS[field]].keep(row, lists[field]?.length ?? 0);
  columns.has_raw_logprobs.set(row, Number(lists.tokenRawLogprobs !== null));
  columns.has_entropies.set(row, Number(lists.tokenEntropies !== null));
  writeScalars(columns, row, step);
  writeTexts(columns, row, step);
  return WRITTEN;
}

/** Unpacks the typed arrays of the step after the rows before it; null where one has another type than its field. */
function unpackLists(columns: EventColumns, step: StepRecord): CheckedStep | null {
  let isTyped = true;
  const unpack = <A extends TypedColumn>(field: keyof typeof LISTS): A | null => {
    const { packed } = step.fields[field];
    if (packed === null) return null;
    const items = (columns[LISTS[field]] as unknown as ListColumn<A>).room(packed.length);
    if (hasElementsOf(packed, items)) unpackInto(items, packed);
    else isTyped = false;
    return items;
  };
  const lists = {
    step: step.fields.step.number,
    keptPrefixTokens: step.fields.keptPrefixTokens.number,
    logprobMode: step.logprobMode.value as CheckedStep['logprobMode'],
    rewardNames: step.rewardNames.value,
    rewardValues: unpack('rewardValues'),
    tokenIds: unpack('tokenIds'),
    actionMask: unpack('actionMask'),
    tokenLogprobs: unpack('tokenLogprobs'),
    tokenRawLogprobs: unpack('tokenRawLogprobs'),
    tokenEntropies: unpack('tokenEntropies'),
    tokenPolicyVersions: unpack('tokenPolicyVersions'),
  };
  return isTyped ? (lists as CheckedStep) : null;
}

function writeEnvelope(columns: EventColumns, row: number, step: StepRecord): void {
  columns.run_id.set(row, step.runId);
  columns.episode_id.set(row, step.episodeId);
  columns.seq.set(row, step.seq);
  columns.kind.set(row, KIND);
  columns.schema_version.set(row, step.schemaVersion);
  columns.event_id.setBytes(row, step.body, step.eventIdAt);
  columns.occurred_at.set(row, step.occurredAtUs);
}

function writeScalars(columns: EventColumns, row: number, { fields, sampling }: StepRecord): void {
  if (fields.actionValid.isNull) columns.action_valid_unknown.set(row, 1);
  else columns.action_valid.set(row, fields.actionValid.number);
  columns.reward.set(row, fields.reward.isNull ? null : fields.reward.number);
  columns.terminated.set(row, fields.terminated.number);
  columns.truncated.set(row, fields.truncated.number);
  columns.kept_prefix_tokens.set(row, fields.keptPrefixTokens.number);
  columns.generation_ms.set(row, fields.generationMs.isNull ? NaN : fields.generationMs.number);
  columns.environment_ms.set(row, fields.environmentMs.isNull ? NaN : fields.environmentMs.number);
  const { value } = sampling;
  if (value === null) return;
  columns.temperature.set(row, value.temperature);
  columns.top_k.set(row, value.topK);
  columns.top_p.set(row, value.topP);
  columns.greedy.set(row, Number(value.greedy));
  columns.max_new_tokens.set(row, value.maxNewTokens);
}

function writeTexts(columns: EventColumns, row: number, step: StepRecord): void {
  const { fields } = step;
  copyText(columns.observation, row, fields.observation);
  copyText(columns.action, row, fields.action);
  copyText(columns.parsed_action, row, fields.parsedAction);
  copyText(columns.anchor, row, fields.anchor);
  copyText(columns.snapshot, row, fields.snapshot);
  columns.engine.set(row, step.engine.value);
  columns.model.set(row, step.model.value);
  columns.tokenizer_hash.set(row, step.tokenizerHash.value);
  columns.logprob_mode.set(row, step.logprobMode.value);
  columns.reward_names.set(row, step.rewardNames.value);
  columns.payload.set(row, step.info.json);
  columns.untrainable.set(row, step.untrainable.value);
  if (step.messages.value !== null) columns.messages.set(row, step.messages.json);
  usageField.write(columns, row, step.usage.value);
}

function copyText(column: BytesColumn, row: number, { isNull, source, start, end }: FieldPlace): void {
  if (!isNull) column.setBytes(row, source, start, end);
}

/** Computes the `contentChecksum` of the event; 32 bytes, of which the first 16 are used. */
function checksumOf(step: StepRecord, lists: CheckedStep): Buffer {
  content.clear();
  content.text(KIND);
  content.text(step.runId);
  content.text(step.episodeId);
  content.number(step.seq);
  for (const { nameBytes, place, list, remembered } of checkedFieldsOf(step)) {
    if (place.isNull) continue;
    if (remembered !== null) {
      const { contentBytes } = remembered;
      if (contentBytes.length === 0) continue;
      content.append(nameBytes);
      content.append(contentBytes);
      continue;
    }
    content.append(nameBytes);
    if (place.form === 'column') content.value(lists[list]);
    else if (place.form === 'number') content.number(place.number);
    else if (place.form === 'flag') content.flag(place.number === 1);
    else content.utf8(place.source, place.start, place.end);
  }
  return content.digest();
}
