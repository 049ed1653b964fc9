import {
  TOKEN_COLUMN_NAMES,
  TOKEN_COLUMNS,
  type StepTokenColumns,
  type TokenColumnName,
} from '@retrace/trajectory';
import { Binary, Float32, Float64, Int32, Uint16, Uint8, Utf8 } from '../arrow/apache-arrow.js';
import { DictionaryColumn, DictionaryListColumn } from '../arrow/dictionary-columns.js';
import { Binary16Column, MicrosecondColumn, NumberColumn } from '../arrow/fixed-width-columns.js';
import { BytesColumn, ListColumn } from '../arrow/ragged-columns.js';

/** A builder for every column of table `events`, under the column's name; types as in `migrations`. */
export type EventColumns = ReturnType<typeof newEventColumns>;

/** Makes builders of columns with few distinct texts. */
interface LabelMaker {
  label(): DictionaryColumn;
  labels(): DictionaryListColumn;
}

const text = () => new BytesColumn(new Utf8());
const nullableText = () => new BytesColumn(new Utf8(), true);
const uint8 = () => new NumberColumn(new Uint8(), Uint8Array);
const uint16 = () => new NumberColumn(new Uint16(), Uint16Array);
// 64-bit integers are sent as float64, which holds every integer that an event may carry; the engine converts them.
const integer = () => new NumberColumn(new Float64(), Float64Array);
const float64 = () => new NumberColumn(new Float64(), Float64Array);
const nullableFloat64 = () => new NumberColumn(new Float64(), Float64Array, true);
const nullableUint8 = () => new NumberColumn(new Uint8(), Uint8Array, true);
const int32s = () => new ListColumn<Int32Array>(new Int32(), Int32Array);
const uint8s = () => new ListColumn<Uint8Array>(new Uint8(), Uint8Array);
const float32s = () => new ListColumn<Float32Array>(new Float32(), Float32Array);
const float64s = () => new ListColumn<Float64Array>(new Float64(), Float64Array);

export function newEventColumns() {
  let numDictionaries = 0;
  const make: LabelMaker = {
    label: () => new DictionaryColumn(++numDictionaries),
    labels: () => new DictionaryListColumn(++numDictionaries),
  };
  return {
    ...envelopeColumns(make),
    ...startColumns(make),
    ...stepColumns(make),
    ...endColumns(make),
    ...otherColumns(make),
  };
}

/** The event, and its place in the log. */
function envelopeColumns(make: LabelMaker) {
  return {
    run_id: make.label(),
    episode_id: text(),
    seq: integer(),
    log_id: make.label(),
    log_stream: make.label(),
    log_partition: uint16(),
    log_offset: integer(),
    kind: make.label(),
    schema_version: uint16(),
    event_id: new Binary16Column(),
    content_checksum: new Binary16Column(),
    occurred_at: new MicrosecondColumn(),
  };
}

function startColumns(make: LabelMaker) {
  return {
    group_id: text(),
    group_size: integer(),
    group_member: integer(),
    environment: make.label(),
    environment_seed: integer(),
    sampling_seed: integer(),
    split: make.label(),
    agent: make.label(),
    external_id: text(),
    parent_episode_id: text(),
    forked_from_run_id: text(),
    tags: make.labels(),
    metadata: text(),
  };
}

function stepColumns(make: LabelMaker) {
  return {
    observation: text(),
    action: text(),
    parsed_action: nullableText(),
    action_valid: uint8(),
    anchor: nullableText(),
    reward: nullableFloat64(),
    reward_names: make.labels(),
    reward_values: float64s(),
    terminated: uint8(),
    truncated: uint8(),
    kept_prefix_tokens: integer(),
    ...tokenColumns(),
    temperature: nullableFloat64(),
    top_k: integer(),
    top_p: float64(),
    greedy: uint8(),
    max_new_tokens: integer(),
    engine: make.label(),
    model: make.label(),
    tokenizer_hash: make.label(),
    logprob_mode: make.label(),
    generation_ms: float64(),
    environment_ms: float64(),
    snapshot: nullableText(),
    action_valid_unknown: uint8(),
    messages: text(),
    usage: float64s(),
    untrainable: make.label(),
  };
}

type TokenListName = (typeof TOKEN_COLUMNS)[TokenColumnName]['column'];
type TokenFlagName = NonNullable<(typeof TOKEN_COLUMNS)[TokenColumnName]['has']>;
type TokenListColumns = {
  readonly [Name in TokenColumnName as (typeof TOKEN_COLUMNS)[Name]['column']]: ListColumn<
    NonNullable<StepTokenColumns[Name]>
  >;
};

/** The lists of the token columns, each after its flag where a flag distinguishes null from empty. */
function tokenColumns() {
  const lists = { Int32Array: int32s, Uint8Array: uint8s, Float32Array: float32s };
  const columns: Partial<Record<TokenListName | TokenFlagName, unknown>> = {};
  for (const name of TOKEN_COLUMN_NAMES) {
    const { type, column, has } = TOKEN_COLUMNS[name];
    if (has !== null) columns[has] = uint8();
    columns[column] = lists[type]();
  }
  return columns as TokenListColumns & Readonly<Record<TokenFlagName, ReturnType<typeof uint8>>>;
}

function endColumns(make: LabelMaker) {
  return {
    end_reason: make.label(),
    num_steps: integer(),
    return: nullableFloat64(),
    success: nullableUint8(),
    num_tokens: integer(),
    num_action_tokens: integer(),
    policy_version_min: integer(),
    policy_version_max: integer(),
  };
}

/** Rewards, control events and everything that has no column of its own. */
function otherColumns(make: LabelMaker) {
  return {
    reward_step: nullableFloat64(),
    reward_name: make.label(),
    plan_id: text(),
    epoch: integer(),
    update_number: integer(),
    policy_version: integer(),
    source: make.label(),
    metric_step: integer(),
    metric_names: make.labels(),
    metric_values: float64s(),
    update_token_places: int32s(),
    update_token_figures: float32s(),
    payload: text(),
    raw: new BytesColumn(new Binary()),
  };
}
