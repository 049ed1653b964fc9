/** Metrics of one kind: the part of their names before the first `/`. */
export interface MetricGroup {
  readonly kind: string;
  /** Ascending, except for pinned ones. */
  readonly names: readonly string[];
}

/** Kinds that are looked at most; the others follow in the order of their names. */
const FIRST_KINDS = ['sql', 'rollout', 'validation', 'test', 'train'];

/** The kind of the charts that stand first; those of metrics begin with a small letter. */
export const PINNED = 'Pinned';

/** Groups those names that have every word of the search in them, in whatever case; pinned ones are a group of their own, in their order. */
export function metricGroups(
  names: Iterable<string>,
  search: string,
  pins: readonly string[] = [],
): MetricGroup[] {
  const all = new Set([...names].filter((name) => isFound(name, search)));
  const pinned = pins.filter((name) => all.has(name));
  const found = [...all].filter((name) => !pinned.includes(name));
  return [...(pinned.length === 0 ? [] : [{ kind: PINNED, names: pinned }]), ...listKinds(found)];
}

/** Whether a name has every word of the search in it, in whatever case. */
export function isFound(name: string, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => name.toLowerCase().includes(word));
}

/** The group in which a metric is drawn. */
export function findGroup(name: string, pins: readonly string[]): string {
  return pins.includes(name) ? PINNED : toKind(name);
}

function listKinds(found: readonly string[]): MetricGroup[] {
  const kinds = [...new Set(found.map(toKind))].sort(
    (a, b) => findPlace(a) - findPlace(b) || (a < b ? -1 : 1),
  );
  return kinds.map((kind) => ({ kind, names: found.filter((name) => toKind(name) === kind).sort() }));
}

function toKind(name: string): string {
  return name.split('/', 1)[0];
}

function findPlace(kind: string): number {
  const place = FIRST_KINDS.indexOf(kind);
  return place < 0 ? FIRST_KINDS.length : place;
}
