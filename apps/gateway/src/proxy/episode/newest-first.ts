interface Link<Value> {
  readonly value: Value;
  older: Link<Value> | null;
  newer: Link<Value> | null;
}

/**
 * Values by a key, of which the newest is asked for: independent agents that are given the same task have the same keys, so that one key may have many
 * thousands of values. Each operation takes constant time.
 */
export class NewestFirst<Value> {
  private readonly newestByKey = new Map<string, Link<Value>>();
  private readonly links = new Map<Value, Link<Value>>();

  newest(key: string): Value | undefined {
    return this.newestByKey.get(key)?.value;
  }

  /** Adds a value, which must not be there yet. */
  add(key: string, value: Value): void {
    const older = this.newestByKey.get(key) ?? null;
    const link = { value, older, newer: null };
    if (older) older.newer = link;
    this.newestByKey.set(key, link);
    this.links.set(value, link);
  }

  /** Removes a value, if it is there. @param key the key that it was added with */
  remove(key: string, value: Value): void {
    const link = this.links.get(value);
    if (!link) return;
    this.links.delete(value);
    const { older, newer } = link;
    if (older) older.newer = newer;
    if (newer) newer.older = older;
    else if (older) this.newestByKey.set(key, older);
    else this.newestByKey.delete(key);
  }
}
