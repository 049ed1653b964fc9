import { RECORD_SCHEMAS } from './record-schemas.generated.js';

interface ColumnSchema {
  readonly items?: { readonly type: string; readonly minimum?: number };
  readonly nullable?: boolean;
}

const SCHEMAS: Readonly<Record<string, ColumnSchema>> = RECORD_SCHEMAS.step.properties.tokens.properties;

/** The fields of `tokens`. */
export const TOKEN_FIELDS = Object.keys(SCHEMAS);

/** Columns of one number a token, null where it is unknown. */
export const REAL_COLUMNS = TOKEN_FIELDS.filter((name) => SCHEMAS[name].items?.type === 'number');

/** Columns of several integers a token, which an earlier server may not know, and which no update of Retrace reads. */
export const LIST_COLUMNS = TOKEN_FIELDS.filter((name) => {
  const { items, nullable } = SCHEMAS[name];
  return items?.type === 'integer' && items.minimum === 0 && nullable === true;
});
