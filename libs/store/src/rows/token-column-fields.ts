import { ofTokenColumns, type StepTokenColumns, type TokenColumnName } from '@retrace/trajectory';
import { READ_ARRAY } from './column-field.js';
import type { EventColumns } from './event-columns.js';
import type { RowField } from './row-field.js';

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
      const values = READ_ARRAY[type](row, column) as ArrayLike<number>;
      return isNullable && has === null && values.length === 0 ? null : values;
    },
  }),
) as { readonly [Name in TokenColumnName]: RowField<StepTokenColumns[Name]> };
