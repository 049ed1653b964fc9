import { inPresentShape } from './moved-fields.js';
import { isRecord, type PlainObject } from './plain-object.js';
import type { Recipe } from './recipe.js';

/** One field in which two recipes differ. */
export interface RecipeDifference {
  /** Dotted path, as `--set` takes it. */
  readonly field: string;
  /** Value in the first recipe; undefined where it leaves the field out. */
  readonly first: unknown;
  readonly second: unknown;
}

/**
 * The fields in which two recipes differ, in the order of the first recipe's fields, then of those that only the second has. Objects are compared
 * field by field, lists as a whole. A field that is null and one that is left out count as equal, since null is what leaving out means. A field in its
 * former place is compared as the one that it is now, and a recipe without a KL as one with a coefficient of 0.
 */
export function recipeDifferences(
  first: Recipe | Readonly<Record<string, unknown>>,
  second: Recipe | Readonly<Record<string, unknown>>,
): RecipeDifference[] {
  return listDifferences(inPresentShape(first as PlainObject), inPresentShape(second as PlainObject), '');
}

function listDifferences(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
  prefix: string,
): RecipeDifference[] {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return [...names].flatMap((name): RecipeDifference[] => {
    const [a, b] = [first[name], second[name]];
    const field = `${prefix}${name}`;
    if (isRecord(a) && isRecord(b)) return listDifferences(a, b, `${field}.`);
    return isEqual(a ?? null, b ?? null) ? [] : [{ field, first: a, second: b }];
  });
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((entry, i) => isEqual(entry, b[i]));
  if (isRecord(a) && isRecord(b)) return listDifferences(a, b, '').length === 0;
  return Object.is(a, b);
}
