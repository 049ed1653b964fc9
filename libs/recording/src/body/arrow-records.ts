import type { DataType, Vector } from 'apache-arrow';
import { RecordingError } from '../recording-error.js';
import { TOKEN_FIELDS } from '../wire/token-fields.js';
import { apacheArrow } from './apache-arrow.js';
import { checkArrowStream } from './check-arrow.js';
import { ValueBudget } from './value-budget.js';

/** Columns that hold JSON as text. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'messages',
  'info',
  'usage',
  'sampling',
  'metadata',
  'task',
  'rewards',
  'forked_from',
  'tokens',
  'final_tokens',
]);

/** Columns of a step's tokens, with their fields in `tokens`. */
const TOKEN_LISTS = new Map<string, string>([
  ...TOKEN_FIELDS.map(({ arrow, field }) => [arrow, field] as const),
  ['kept_prefix', 'keptPrefix'],
]);

type Fields = Record<string, unknown>;

/** Writes a column's value into the record of its row. */
type PutValue = (record: Fields, value: unknown) => void;

/**
 * Takes records out of the rows of an Arrow stream: columns are named like the fields of a step in snake case, tokens and their logprobs are
 * lists in columns of their own, nested fields are JSON text. Without a column `type` all rows are steps. Null is a field that was left out.
 *
 * @throws RecordingError `MALFORMED_RECORDS`
 */
export function arrowRecords(bytes: Uint8Array, maxRecords: number): Fields[] {
  try {
    const table = apacheArrow().tableFromIPC(checkArrowStream(bytes));
    const budget = new ValueBudget(bytes.length);
    const numRows = Math.min(table.numRows, maxRecords);
    const records: Fields[] = Array.from({ length: numRows }, () => ({ type: 'step' }));
    for (const { name } of table.schema.fields) {
      const column = table.getChild(name);
      if (column === null) continue;
      const put = choosePutter(name);
      for (let row = 0; row < numRows; row++) {
        const value = plain(column.get(row) as unknown, column.type, budget);
        if (value !== null) put(records[row], value);
        // Null says something only here: it retracts.
        else if (name === 'value') records[row].value = null;
      }
    }
    for (const record of records) if (record.type !== 'reward') delete record.value;
    return records;
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordingError('MALFORMED_RECORDS', `The body is no readable Arrow stream: ${reason}`, {
      cause: error,
    });
  }
}

function choosePutter(name: string): PutValue {
  const tokenField = TOKEN_LISTS.get(name);
  if (tokenField !== undefined) {
    return (record, value) => {
      const tokens = (record.tokens ??= {}) as Fields;
      tokens[tokenField] = value;
    };
  }
  if (name === 'final_token_ids') {
    return (record, value) => {
      record.finalTokens = { ids: value };
    };
  }
  const field = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (!JSON_COLUMNS.has(name)) {
    return (record, value) => {
      record[field] = value;
    };
  }
  return (record, value) => {
    record[field] = typeof value === 'string' ? parseText(value, name) : value;
  };
}

function parseText(text: string, column: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `Column ${column} of the Arrow stream holds text that is no JSON: ${(error as Error).message}`;
    throw new RecordingError('MALFORMED_RECORDS', message, { cause: error });
  }
}

const MICROSECONDS_PER_MS = 1000;

/** The value as JSON would have it: lists as arrays, wide integers as numbers, times in microseconds. */
function plain(value: unknown, type: DataType, budget: ValueBudget): unknown {
  if (value === null || value === undefined) return null;
  const arrow = apacheArrow();
  if (arrow.DataType.isTimestamp(type)) return Math.round(Number(value) * MICROSECONDS_PER_MS);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isNaN(value) ? null : value;
  if (typeof value === 'string') budget.takeText(value);
  if (value instanceof arrow.Vector) {
    const items = value as Vector<DataType>;
    budget.takeItems(items.length);
    return Array.from({ length: items.length }, (_, i) => plain(items.get(i) as unknown, items.type, budget));
  }
  return value;
}
