import type { ArrayType, EventField, EventFields } from '@retrace/trajectory';
import type { ColumnBuilder } from '../arrow/column-builder.js';
import { canTellNull, MADE, refuseUnfit, UNKNOWN } from './column-fit.js';
import type { EventColumns } from './event-columns.js';
import type { EventRowReader } from './event-row-reader.js';
import { inColumns, type RowField } from './row-field.js';

type Columns = Readonly<Record<string, ColumnBuilder & { set(row: number, value: unknown): void }>>;

/** Makes the row field of a field whose column is `column`. @throws TypeError when the column can't hold every value of the field */
export function columnField(field: EventField<unknown>, column: string): RowField<unknown> {
  const { shape, isNullable, added } = field;
  if (column === 'payload') return WHOLE_JSON;
  refuseUnfit(field, column);
  const hasNull = MADE[column].isNullable;
  switch (shape.form) {
    case 'text':
    case 'word':
      if (hasNull) return inColumn(column, (row) => row.nullableText(column));
      if (isNullable) return inColumn(column, (row) => row.text(column) || null);
      return added === null ? inColumn(column, (row) => row.text(column)) : rareText(column);
    case 'flag':
      if (isNullable && !hasNull) return flagOrUnknown(column, `${column}_unknown`);
      return flagColumn(column, hasNull);
    case 'integer':
    case 'real':
      if (hasNull) return inColumn(column, (row) => row.nullableNumber(column));
      if (isNullable) return numberOrUnknown(column, UNKNOWN[shape.form]);
      return inColumn(column, (row) => row.number(column));
    case 'json':
      return rareJson(column);
    case 'list':
      return inColumn(column, (row) => row.texts(column));
    case 'array':
      return inColumn(column, (row) => READ_ARRAY[shape.type](row, column));
    case 'object':
      throw new TypeError(`an object has no column of its own, so ${column} can't have one`);
  }
}

/** The row field of an object whose every member has a column; where the object may be null, it is null where the first of these columns is. */
export function membersInColumns(members: EventFields, isNullable: boolean): RowField<unknown> {
  const columns = Object.entries(members).map(([name, member]) => [name, member.column ?? ''] as const);
  const all = inColumns<Record<string, unknown>>(
    Object.fromEntries(columns.map(([name, column]) => [name, columnField(members[name], column)])),
  );
  if (!isNullable) return all;
  const [[name, first]] = columns;
  if (!canTellNull(members[name], first))
    throw new TypeError(`column ${first} of ${name} can't tell that the object of the field is null`);
  return {
    write(target, row, value) {
      if (value !== null) all.write(target, row, value as Record<string, unknown>);
    },
    read: (row) => (row.nullableNumber(first) === null ? null : all.read(row)),
  };
}

/** Reads a column of lists. */
export const READ_ARRAY: Readonly<Record<ArrayType, (row: EventRowReader, column: string) => unknown>> = {
  Int32Array: (row, column) => row.int32s(column),
  Uint8Array: (row, column) => row.uint8s(column),
  Float32Array: (row, column) => row.float32s(column),
  Float64Array: (row, column) => row.float64s(column),
};

function set(columns: EventColumns, column: string, row: number, value: unknown): void {
  (columns as unknown as Columns)[column].set(row, value);
}

/** A value that its column has unchanged. */
function inColumn(column: string, read: (row: EventRowReader) => unknown): RowField<unknown> {
  return { write: (columns, row, value) => set(columns, column, row, value), read };
}

/** The whole JSON text of the row. */
const WHOLE_JSON: RowField<unknown> = {
  write: (columns, row, value) => columns.payload.set(row, JSON.stringify(value)),
  read: (row) => row.rest(),
};

function flagColumn(column: string, hasNull: boolean): RowField<unknown> {
  return {
    write: (columns, row, value) => set(columns, column, row, value === null ? null : Number(value)),
    read: (row) => (hasNull ? row.nullableFlag(column) : row.flag(column)),
  };
}

/** A flag that may be unknown, which column `unknown` tells. */
function flagOrUnknown(column: string, unknown: string): RowField<unknown> {
  return {
    write: (columns, row, value) => set(columns, value === null ? unknown : column, row, Number(value ?? 1)),
    read: (row) => (row.flag(unknown) ? null : row.flag(column)),
  };
}

/** A number that may be unknown, for which the column has `unknown`. */
function numberOrUnknown(column: string, unknown: number): RowField<unknown> {
  return {
    write: (columns, row, value) => set(columns, column, row, value ?? unknown),
    read(row) {
      const value = row.number(column);
      return Object.is(value, unknown) ? null : value;
    },
  };
}

/** A text that mostly is empty, and then takes no place in the insert. */
function rareText(column: string): RowField<unknown> {
  return {
    write: (columns, row, value) => set(columns, column, row, value === '' ? null : value),
    read: (row) => row.text(column),
  };
}

/** A JSON value; null is the empty text. */
function rareJson(column: string): RowField<unknown> {
  return {
    write: (columns, row, value) => set(columns, column, row, value === null ? null : JSON.stringify(value)),
    read(row) {
      const json = row.text(column);
      return json === '' ? null : (JSON.parse(json) as unknown);
    },
  };
}
