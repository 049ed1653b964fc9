import { ofTokenColumns, type StepTokenColumns, type TokenColumnName } from '@retrace/trajectory';
import type { EventColumns } from './event-columns.js';
import type { RowField } from './row-field.js';
import type { EventRowReader } from './event-row-reader.js';

const READ = {
  Int32Array: (row: EventRowReader, column: string) => row.int32s(column),
  Uint8Array: (row: EventRowReader, column: string) => row.uint8s(column),
  Float32Array: (row: EventRowReader, column: string) => row.float32s(column),
};

type ListsAndFlags = Readonly<Record<string, { set(row: number, value: unknown): void }>>;

/** The token columns of a step, each in its column. A flag distinguishes null from empty, or null is a list without elements. */
export const tokenColumnFields = ofTokenColumns(
  (_, { type, column, has, isNullable }): RowField<unknown> => ({
    write(columns: EventColumns, row, value) {
      const lists = columns as unknown as ListsAndFlags;
      if (has !== null) lists[has].set(row, Number(value !== null));
      lists[column].set(row, value);
    },
    read(row) {
      if (has !== null && !row.flag(has)) return null;
      const values = READ[type](row, column);
      return isNullable && has === null && values.length === 0 ? null : values;
    },
  }),
) as { readonly [Name in TokenColumnName]: RowField<StepTokenColumns[Name]> };
