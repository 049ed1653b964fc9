import { ProblemError } from '../problems/problem.js';

/**
 * A cursor names the last row of a page by its sort key, so that pages stay right while rows are added.
 * Opaque to clients: base64url of a JSON array of strings and numbers.
 */
export type CursorKey = readonly (string | number)[];

export function encodeCursor(key: CursorKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * @param shape the types the key must have, in order
 * @throws ProblemError `INVALID_REQUEST` when the text is not a cursor of this shape
 */
export function decodeCursor<const Shape extends readonly ('string' | 'number')[]>(
  cursor: string,
  shape: Shape,
): { [I in keyof Shape]: Shape[I] extends 'string' ? string : number } {
  const key = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (
    !Array.isArray(key) ||
    key.length !== shape.length ||
    !shape.every((type, i) => isOfType(key[i], type))
  ) {
    throw foreignCursor(cursor);
  }
  return key as never;
}

/** The error for a text that no page of the list had as its cursor. */
export function foreignCursor(cursor: string): ProblemError {
  const rule = 'cursor must be the nextCursor of an earlier page of this list';
  return new ProblemError('INVALID_REQUEST', rule, [{ field: 'cursor', value: cursor.slice(0, 200), rule }]);
}

/** Numbers of cursors are counts. */
function isOfType(value: unknown, type: 'string' | 'number'): boolean {
  return type === 'number' ? Number.isSafeInteger(value) && Number(value) >= 0 : typeof value === 'string';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
