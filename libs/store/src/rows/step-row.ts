import {
  type CheckedStep,
  checkStepRecorded,
  ContentBytes,
  type EpisodePlaces,
  toFingerprint,
  type PlaceFault,
  stableFields,
  TOKEN_COLUMN_NAMES,
  TOKEN_COLUMNS,
  type TokenColumnName,
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
import { usageField } from './step-fields.js';
import type { EventColumns } from './event-columns.js';

const KIND = 'StepRecorded';

type TokenColumns = typeof TOKEN_COLUMNS;
type ListField = 'rewardValues' | TokenColumnName;

/** A typed array of a step that is read again and again, and its columns. */
interface StepList {
  readonly field: ListField;
  readonly column: 'reward_values' | TokenColumns[TokenColumnName]['column'];
  /** The column that tells null from empty, where there is one. */
  readonly has: TokenColumns[TokenColumnName]['has'];
  readonly place: FieldPlace;
  items: TypedColumn | null;
}

/** A field of the checksum, with its place in the step. */
interface CheckedField {
  readonly nameBytes: Uint8Array;
  readonly place: FieldPlace;
  /** Only of a field that is a typed array. */
  readonly list: StepList | null;
  /** Only of a field that is a value. */
  readonly remembered: { readonly contentBytes: Uint8Array } | null;
}

/** The parts of the steps of one reader. Looking fields up by their names takes longer than hashing most of them. */
interface StepParts {
  readonly lists: readonly StepList[];
  readonly checked: readonly CheckedField[];
  /** The step that is checked, with the items of the lists. */
  readonly values: Record<string, unknown>;
}

const partsOfSteps = new WeakMap<StepRecord, StepParts>();

function toParts(step: StepRecord): StepParts {
  const known = partsOfSteps.get(step);
  if (known !== undefined) return known;
  const listOf = (field: ListField, column: StepList['column'], has: StepList['has']): StepList => ({
    ...{ field, column, has, place: step.fields[field], items: null },
  });
  const lists = [
    listOf('rewardValues', 'reward_values', null),
    ...TOKEN_COLUMN_NAMES.map((name) => listOf(name, TOKEN_COLUMNS[name].column, TOKEN_COLUMNS[name].has)),
  ];
  const checked = stableFields(KIND).map(({ name, nameBytes }) => {
    const place = step.fields[name as StepField];
    const remembered = place.form === 'value' ? step.remembered(name as 'info') : null;
    return { nameBytes, place, list: lists.find(({ field }) => field === name) ?? null, remembered };
  });
  const values = Object.fromEntries(lists.map(({ field }) => [field, null]));
  const parts = { lists, checked, values };
  partsOfSteps.set(step, parts);
  return parts;
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
  const { lists, checked, values } = toParts(step);
  const isTyped = unpackLists(columns, lists, values);
  if (!isTyped || checkStepRecorded({ seq: step.seq, payload: checkedStep(step, values) }) !== null)
    return INVALID;
  const checksum = computeChecksum(step, checked);
  const placement = places.take(KIND, step.seq, toFingerprint(checksum));
  if (placement !== 'placed') return { kind: 'misplaced', fault: placement };
  writeEnvelope(columns, row, step);
  columns.content_checksum.setBytes(row, checksum, 0);
  for (const { column, has, items } of lists) {
    columns[column].keep(row, items?.length ?? 0);
    if (has !== null) columns[has].set(row, Number(items !== null));
  }
  writeScalars(columns, row, step);
  writeTexts(columns, row, step);
  return WRITTEN;
}

/** Unpacks the typed arrays of the step after the rows before it; false where one has another type than its field. */
function unpackLists(
  columns: EventColumns,
  lists: readonly StepList[],
  values: Record<string, unknown>,
): boolean {
  for (const list of lists) {
    const { packed } = list.place;
    let items: TypedColumn | null = null;
    if (packed !== null) {
      items = (columns[list.column] as ListColumn<TypedColumn>).room(packed.length);
      if (!hasElementsOf(packed, items)) return false;
      unpackInto(items, packed);
    }
    list.items = items;
    values[list.field] = items;
  }
  return true;
}

function checkedStep({ fields, logprobMode, rewardNames }: StepRecord, values: Record<string, unknown>) {
  values.step = fields.step.number;
  values.keptPrefixTokens = fields.keptPrefixTokens.number;
  values.logprobMode = logprobMode.value;
  values.rewardNames = rewardNames.value;
  return values as unknown as CheckedStep;
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
function computeChecksum(step: StepRecord, checked: readonly CheckedField[]): Buffer {
  content.clear();
  content.text(KIND);
  content.text(step.runId);
  content.text(step.episodeId);
  content.number(step.seq);
  for (const { nameBytes, place, list, remembered } of checked) {
    if (place.isNull) continue;
    if (remembered !== null) {
      const { contentBytes } = remembered;
      if (contentBytes.length === 0) continue;
      content.append(nameBytes);
      content.append(contentBytes);
      continue;
    }
    content.append(nameBytes);
    if (list !== null) content.value(list.items);
    else if (place.form === 'number') content.number(place.number);
    else if (place.form === 'flag') content.flag(place.number === 1);
    else content.utf8(place.source, place.start, place.end);
  }
  return content.digest();
}
