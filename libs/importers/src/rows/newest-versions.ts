/**
 * Leaves out all but the newest version of each item that was exported more than once, in the same file or in several. It has the place
 * of the first one; of versions with the same time, or without one, the last counts.
 *
 * @param keyOf items with the same key are versions of one
 * @param timeOf when a version was made; undefined = unknown, which is before all others
 */
export function newestVersions<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  timeOf: (item: T) => number | undefined,
): readonly T[] {
  const newest = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    const earlier = newest.get(key);
    if (earlier === undefined || (timeOf(item) ?? -Infinity) >= (timeOf(earlier) ?? -Infinity)) {
      newest.set(key, item);
    }
  }
  return [...newest.values()];
}
