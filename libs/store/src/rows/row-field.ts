import type { EventColumns } from './event-columns.js';
import type { EventRowReader } from './event-row-reader.js';

/**
 * Writes a value to the columns of a row, and reads the same value back: `read` returns exactly what `write` was given, so that `verifyStore` can compare
 * the store with the log.
 */
export interface RowField<T> {
  write(columns: EventColumns, row: number, value: T): void;
  read(row: EventRowReader): T;
}

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
