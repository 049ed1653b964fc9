/** The shortest part of an id that names something. */
const MIN_PART_LENGTH = 4;
/** How many candidates a message names. */
export const MAX_ID_CANDIDATES = 10;

/** Result of looking for what an id, or a part of one, names. */
export type FoundById<Item> =
  | { readonly kind: 'found'; readonly item: Item }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ambiguous'; readonly items: readonly Item[] };

/**
 * Finds what is named by an id, or by 4 or more characters of its beginning or end, as pages show the last 8. A whole id counts even where it is part of
 * another.
 */
export function findByPartOfId<Item>(
  items: readonly Item[],
  wanted: string,
  idOf: (item: Item) => string,
): FoundById<Item> {
  const exact = items.find((item) => idOf(item) === wanted);
  if (exact !== undefined) return { kind: 'found', item: exact };
  const isPart = (id: string) => id.startsWith(wanted) || id.endsWith(wanted);
  const found = wanted.length < MIN_PART_LENGTH ? [] : items.filter((item) => isPart(idOf(item)));
  if (found.length > 1) return { kind: 'ambiguous', items: found };
  return found.length === 1 ? { kind: 'found', item: found[0] } : { kind: 'unknown' };
}

/** Says which candidates a part of an id names: the last 10 of them, and how many more there are in `total`. */
export function describeAmbiguousId(
  subject: string,
  candidates: readonly string[],
  total = candidates.length,
): string {
  const shown = candidates.slice(-MAX_ID_CANDIDATES);
  const numOthers = total - shown.length;
  const others = numOthers > 0 ? ` and ${numOthers} more` : '';
  return `${subject} is ambiguous; use more characters of one of ${shown.join(', ')}${others}`;
}
