/** Metrics of one kind: the part of their names before the first `/`. */
export interface MetricGroup {
  readonly kind: string;
  /** Ascending. */
  readonly names: readonly string[];
}

/** Kinds that are looked at most; the others follow in the order of their names. */
const FIRST_KINDS = ['rollout', 'validation', 'test', 'train'];

/** Groups those names that have every word of the search in them, in whatever case. */
export function metricGroups(names: Iterable<string>, search: string): MetricGroup[] {
  const words = search.toLowerCase().split(/\s+/);
  const found = [...new Set(names)].filter((name) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  const kinds = [...new Set(found.map(kindOf))].sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1));
  return kinds.map((kind) => ({ kind, names: found.filter((name) => kindOf(name) === kind).sort() }));
}

function kindOf(name: string): string {
  return name.split('/', 1)[0];
}

function placeOf(kind: string): number {
  const place = FIRST_KINDS.indexOf(kind);
  return place < 0 ? FIRST_KINDS.length : place;
}
