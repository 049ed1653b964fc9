import type { ControlEventKind, EpisodeEventKind, EventKind, Json, PayloadOf } from '@retrace/trajectory';
import type { EventColumns } from './event-columns.js';
import type { EventRowReader } from './event-row-reader.js';

/** Writes a value to the columns of a row, and reads the same value back. */
export interface RowField<T> {
  write(columns: EventColumns, row: number, value: T): void;
  read(row: EventRowReader): T;
}

/**
 * Maps the payload of each kind to the columns of a row and back. `read` returns exactly what `write` was given, so that `verifyStore` can
 * compare the store with the log.
 */
export type PayloadFieldsOf<Kind extends EventKind> = { readonly [K in Kind]: RowField<PayloadOf<K>> };
export type EpisodeFields = PayloadFieldsOf<EpisodeEventKind>;
export type ControlFields = PayloadFieldsOf<ControlEventKind>;

interface Settable<T> {
  readonly set: (row: number, value: T) => void;
}

/** Names of the columns that a value of type `T` can be written to. */
type ColumnFor<T> = {
  [C in keyof EventColumns]: EventColumns[C] extends Settable<T> ? C : never;
}[keyof EventColumns];

/** Makes fields that are stored unchanged in one column. `S` is the part of `T` that the field can hold, such as a union of texts. */
const inColumn =
  <T>(read: (row: EventRowReader, column: string) => T) =>
  <S extends T = T>(column: ColumnFor<T>): RowField<S> => ({
    write: (columns, row, value) => (columns[column] as Settable<T>).set(row, value),
    read: (row) => read(row, column) as S,
  });

export const number = inColumn<number>((row, column) => row.number(column));
export const nullableNumber = inColumn<number | null>((row, column) => row.nullableNumber(column));
export const text = inColumn<string>((row, column) => row.text(column));
export const nullableText = inColumn<string | null>((row, column) => row.nullableText(column));
export const texts = inColumn<readonly string[]>((row, column) => row.texts(column));
export const int32s = inColumn<Int32Array>((row, column) => row.int32s(column));
export const float64s = inColumn<Float64Array>((row, column) => row.float64s(column));

export const flag = (column: ColumnFor<number>): RowField<boolean> => ({
  write: (columns, row, value) => columns[column].set(row, Number(value)),
  read: (row) => row.flag(column),
});

export const nullableFlag = (column: ColumnFor<number | null>): RowField<boolean | null> => ({
  write: (columns, row, value) => columns[column].set(row, value === null ? null : Number(value)),
  read: (row) => row.nullableFlag(column),
});

/** A flag that may be unknown, which column `unknown` tells. */
export const flagOrUnknown = (
  column: ColumnFor<number>,
  unknown: ColumnFor<number>,
): RowField<boolean | null> => ({
  write(columns, row, value) {
    if (value === null) columns[unknown].set(row, 1);
    else columns[column].set(row, Number(value));
  },
  read: (row) => (row.flag(unknown) ? null : row.flag(column)),
});

/** A number that may be unknown, for which the column has `unknown`, a value that the field can't have: −1 or NaN. */
export const numberOrUnknown = (column: ColumnFor<number>, unknown: number): RowField<number | null> => ({
  write: (columns, row, value) => columns[column].set(row, value ?? unknown),
  read(row) {
    const value = row.number(column);
    return Object.is(value, unknown) ? null : value;
  },
});

/** A text that mostly is empty, and then takes no place in the insert. */
export const rareText = (column: ColumnFor<string | null>): RowField<string> => ({
  write: (columns, row, value) => columns[column].set(row, value === '' ? null : value),
  read: (row) => row.text(column),
});

/** An id or null, for which the column has the empty text. */
export const rareId = (column: ColumnFor<string | null>): RowField<string | null> => ({
  write: (columns, row, value) => columns[column].set(row, value),
  read: (row) => row.text(column) || null,
});

/** A JSON value; null is the empty text. */
export const rareJson = (column: ColumnFor<string | null>): RowField<Json> => ({
  write: (columns, row, value) => columns[column].set(row, value === null ? null : JSON.stringify(value)),
  read(row) {
    const json = row.text(column);
    return json === '' ? null : (JSON.parse(json) as Json);
  },
});

/** Maps an object whose every field has columns. */
export function inColumns<P extends object>(fields: {
  readonly [F in keyof P]: RowField<P[F]>;
}): RowField<P> {
  const entries = Object.entries(fields) as [keyof P, RowField<unknown>][];
  return {
    write(columns, row, value) {
      for (const [name, field] of entries) field.write(columns, row, value[name]);
    },
    read: (row) => Object.fromEntries(entries.map(([name, field]) => [name, field.read(row)])) as P,
  };
}

/** Converts a field to JSON and back. */
export interface JsonField<T> {
  /** Undefined leaves the field out. */
  toJson(value: T): Json | undefined;
  /** @param json undefined where it was left out, and in rows that were written before the field existed */
  fromJson(json: Json | undefined): T;
}

/**
 * Maps a payload whose `fields` have columns. Its other fields are one JSON text in column `payload`: first those that are JSON already,
 * in the order of the payload, then those of `json`. The order counts, because the hash of a row covers the text.
 */
export function inColumnsAndJson<P extends object>(
  fields: { readonly [F in keyof P]?: RowField<P[F]> },
  json: { readonly [F in keyof P]?: JsonField<P[F]> } = {},
): RowField<P> {
  const typed = inColumns(fields as Record<string, RowField<unknown>>);
  const converted = Object.entries(json) as [string, JsonField<unknown>][];
  return {
    write(columns, row, payload) {
      const values = payload as Readonly<Record<string, unknown>>;
      typed.write(columns, row, values);
      const rest: Record<string, unknown> = {};
      for (const name in values) if (!(name in fields) && !(name in json)) rest[name] = values[name];
      for (const [name, { toJson }] of converted) rest[name] = toJson(values[name]);
      columns.payload.set(row, JSON.stringify(rest));
    },
    read(row) {
      const rest = row.rest<Record<string, Json>>();
      const read = converted.map(([name, { fromJson }]) => [name, fromJson(rest[name])]);
      return { ...rest, ...Object.fromEntries(read), ...typed.read(row) } as P;
    },
  };
}
