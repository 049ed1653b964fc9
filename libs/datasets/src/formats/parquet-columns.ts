import type { SchemaElement } from 'hyparquet-writer';

/** Column definitions of Parquet files: a nested column is its elements in depth-first order. */

export const text = (name: string): SchemaElement[] => [
  { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
];

/** Columns whose text is the JSON of any value, a text too. */
const JSON_TEXTS = new WeakSet<SchemaElement>();

/** A column of JSON, which Hugging Face `datasets` decodes: values of one column may have different fields and types. */
export const jsonText = (name: string): SchemaElement[] => {
  const elements = text(name);
  elements.forEach((element) => JSON_TEXTS.add(element));
  return elements;
};

export const isJsonText = (element: SchemaElement): boolean => JSON_TEXTS.has(element);

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
  groups('tool_calls', text('id'), text('type'), group('function', text('name'), jsonText('arguments'))),
  text('tool_call_id'),
  text('name'),
];

export const messages = (name: string): SchemaElement[] => groups(name, ...message());
