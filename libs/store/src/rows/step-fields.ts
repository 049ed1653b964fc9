import type { Usage } from '@retrace/trajectory';
import type { RowField } from './row-field.js';

/** The number of a step, which column `seq` tells. */
export const step: RowField<number> = { write: () => undefined, read: (row) => row.number('seq') - 1 };

/** The places of the fields in the list that the column holds. */
const USAGE_FIELDS = [
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'reasoningTokens',
  'costUsd',
] as const satisfies readonly (keyof Usage)[];

/** A list with NaN for what is unknown; empty for null. */
export const usageField: RowField<Usage | null> = {
  write(columns, row, value) {
    if (value !== null)
      columns.usage.set(
        row,
        Float64Array.from(USAGE_FIELDS, (name) => value[name] ?? NaN),
      );
  },
  read(row) {
    const values = row.float64s('usage');
    if (values.length === 0) return null;
    const read = USAGE_FIELDS.map((name, i) => [name, Number.isNaN(values[i]) ? null : values[i]]);
    return Object.fromEntries(read) as Usage;
  },
};
