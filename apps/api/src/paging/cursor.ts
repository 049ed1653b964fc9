import { createHash } from 'node:crypto';
import { parsedJson } from '@retrace/trajectory';
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
  const key = parsedJson(Buffer.from(cursor, 'base64url').toString());
  if (
    !Array.isArray(key) ||
    key.length !== shape.length ||
    !shape.every((type, i) => isOfType(key[i], type))
  ) {
    throw foreignCursor(cursor);
  }
  return key as never;
}

/** Marks the cursors of one list: the same for the same filters and sort, short however long those are. */
export function listMark(asked: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url').slice(0, 16);
}

/**
 * Decodes a cursor that begins with the mark of its list.
 *
 * @param mark of the list that is asked for
 * @param shape the types of what follows the mark, in order
 * @throws ProblemError `INVALID_REQUEST` for the cursor of another list
 */
export function decodeListCursor<const Shape extends readonly ('string' | 'number')[]>(
  cursor: string,
  mark: string,
  shape: Shape,
): { [I in keyof Shape]: Shape[I] extends 'string' ? string : number } {
  const key = decodeCursor(cursor, ['string', ...shape]) as readonly (string | number)[];
  if (key[0] !== mark) throw foreignCursor(cursor);
  return key.slice(1) as never;
}

/** The error for a text that no page of the list had as its cursor. */
function foreignCursor(cursor: string): ProblemError {
  const rule = 'cursor must be the nextCursor of an earlier page of this list';
  return new ProblemError('INVALID_REQUEST', rule, [{ field: 'cursor', value: cursor.slice(0, 200), rule }]);
}

/** Numbers of cursors are counts. */
function isOfType(value: unknown, type: 'string' | 'number'): boolean {
  return type === 'number' ? Number.isSafeInteger(value) && Number(value) >= 0 : typeof value === 'string';
}
