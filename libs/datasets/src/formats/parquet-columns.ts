import type { SchemaElement } from 'hyparquet-writer';

/** Column definitions of Parquet files: a nested column is its elements in depth-first order. */

export const text = (name: string): SchemaElement[] => [
  { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
];

export const float64 = (name: string): SchemaElement[] => [
  { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' },
];

export const flag = (name: string): SchemaElement[] => [
  { name, type: 'BOOLEAN', repetition_type: 'OPTIONAL' },
];

export const group = (name: string, ...fields: readonly SchemaElement[][]): SchemaElement[] => [
  { name, repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
];

/** A list of groups. */
export const groups = (name: string, ...fields: readonly SchemaElement[][]): SchemaElement[] => [
  { name, converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
];

/** A chat message's columns. Content of several parts is JSON text, as a column has one type. */
const message = (): SchemaElement[][] => [
  text('role'),
  text('content'),
  text('reasoning_content'),
  groups('tool_calls', text('id'), text('type'), group('function', text('name'), text('arguments'))),
  text('tool_call_id'),
  text('name'),
];

export const messages = (name: string): SchemaElement[] => groups(name, ...message());
