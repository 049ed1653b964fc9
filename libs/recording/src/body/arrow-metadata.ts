import type { TableField, TableLayout } from './check-flatbuffer.js';

const number = (bytes: number): TableField => ({ kind: 'number', bytes });
const vector = (itemBytes: number): TableField => ({ kind: 'vector', itemBytes });
const table = (of: () => TableLayout): TableField => ({ kind: 'table', of });
const tables = (of: () => TableLayout): TableField => ({ kind: 'tables', of });
const TEXT: TableField = { kind: 'text' };

const KEY_VALUE: TableLayout = { name: 'KeyValue', slots: [TEXT, TEXT] };

const CUSTOM_METADATA = tables(() => KEY_VALUE);

const INT: TableLayout = { name: 'Int', slots: [number(4), number(1)] };

/** The types of columns and items that records are made of, by the number of the type. Nested fields come as JSON text, not as structs or maps. */
const TYPES: ReadonlyMap<number, TableLayout> = new Map([
  [1, { name: 'Null', slots: [] }],
  [2, INT],
  [3, { name: 'FloatingPoint', slots: [number(2)] }],
  [5, { name: 'Utf8', slots: [] }],
  [6, { name: 'Bool', slots: [] }],
  [8, { name: 'Date', slots: [number(2)] }],
  [9, { name: 'Time', slots: [number(2), number(4)] }],
  [10, { name: 'Timestamp', slots: [number(2), TEXT] }],
  [12, { name: 'List', slots: [] }],
  [16, { name: 'FixedSizeList', slots: [number(4)] }],
  [18, { name: 'Duration', slots: [number(2)] }],
  [20, { name: 'LargeUtf8', slots: [] }],
  [21, { name: 'LargeList', slots: [] }],
  [24, { name: 'Utf8View', slots: [] }],
]);

const DICTIONARY_ENCODING: TableLayout = {
  name: 'DictionaryEncoding',
  slots: [number(8), table(() => INT), number(1), number(2)],
};

const FIELD: TableLayout = {
  name: 'Field',
  slots: [
    TEXT,
    number(1),
    number(1),
    { kind: 'union', of: (tag) => TYPES.get(tag) },
    table(() => DICTIONARY_ENCODING),
    tables(() => FIELD),
    CUSTOM_METADATA,
  ],
};

const SCHEMA: TableLayout = {
  name: 'Schema',
  slots: [number(2), tables(() => FIELD), CUSTOM_METADATA, vector(8)],
};

const BODY_COMPRESSION: TableLayout = { name: 'BodyCompression', slots: [number(1), number(1)] };

const PAIR_BYTES = 16;

const RECORD_BATCH: TableLayout = {
  name: 'RecordBatch',
  slots: [number(8), vector(PAIR_BYTES), vector(PAIR_BYTES), table(() => BODY_COMPRESSION), vector(8)],
};

const DICTIONARY_BATCH: TableLayout = {
  name: 'DictionaryBatch',
  slots: [number(8), table(() => RECORD_BATCH), number(1)],
};

const HEADERS: ReadonlyMap<number, TableLayout> = new Map([
  [1, SCHEMA],
  [2, DICTIONARY_BATCH],
  [3, RECORD_BATCH],
]);

/**
 * The metadata of a message of an Arrow stream. Source: `Message.fbs` and `Schema.fbs` of Apache Arrow's columnar format 1.5.
 */
export const MESSAGE: TableLayout = {
  name: 'Message',
  slots: [number(2), number(1), { kind: 'union', of: (tag) => HEADERS.get(tag) }, number(8), CUSTOM_METADATA],
};
