import type { SchemaElement } from 'hyparquet-writer';

/** Column definitions of Parquet files: a nested column is its elements in depth-first order. */

export const text = (name: string): SchemaElement[] => [
  { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
];

/**
 * A column of JSON of any value, which Arrow and Hugging Face `datasets` decode: values of one column may have different fields and types.
 * Readers that don't know the type find its text.
 */
export const jsonText = (name: string): SchemaElement[] => [
  { ...text(name)[0], logical_type: { type: 'JSON' } },
];

export const isJsonText = ({ logical_type: type }: SchemaElement): boolean => type?.type === 'JSON';

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

const CALL: readonly SchemaElement[][] = [
  text('id'),
  text('type'),
  group('function', text('name'), jsonText('arguments')),
];

/** A chat message's columns. Content of several parts is JSON text, as a column has one type. */
const message = (): SchemaElement[][] => [
  text('role'),
  text('content'),
  text('reasoning_content'),
  groups('tool_calls', ...CALL),
  text('tool_call_id'),
  text('name'),
];

/**
 * The columns of chat messages in which no message has a call. A column of calls would be null in each, and versions of `datasets` that
 * don't know JSON could not read the file.
 */
export function withoutCalls(elements: readonly SchemaElement[]): SchemaElement[] {
  const start = elements.findIndex(({ name }) => name === 'tool_calls');
  if (start < 0) return [...elements];
  const end = start + groups('tool_calls', ...CALL).length;
  return elements.flatMap((element, i) => {
    if (i >= start && i < end) return [];
    const { name, num_children: number } = element;
    return name === 'element' && number !== undefined
      ? [{ ...element, num_children: number - 1 }]
      : [element];
  });
}

export const messages = (name: string): SchemaElement[] => groups(name, ...message());
