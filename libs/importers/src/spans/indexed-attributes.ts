import type { Attributes } from './otel-span.js';

/** Most entries of one list; a forged index costs no memory. */
const MAX_ENTRIES = 10_000;

/**
 * Reads a list that was flattened into attributes: `prefix.0.role`, `prefix.0.content`, `prefix.1.role` … Each entry has the rest of
 * the names as keys, in order of the index.
 */
export function indexedEntries(attributes: Attributes, prefix: string): readonly Attributes[] {
  const entries = new Map<number, Record<string, unknown>>();
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue;
    const match = /^(\d{1,6})\.(.+)$/.exec(name.slice(prefix.length + 1));
    if (match === null) continue;
    const index = Number(match[1]);
    const entry = entries.get(index) ?? {};
    if (!entries.has(index)) {
      if (entries.size === MAX_ENTRIES) continue;
      entries.set(index, entry);
    }
    entry[match[2]] = value;
  }
  return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry);
}
