/** Counts what gave no row, by reason. */
export class SkipCounts {
  private readonly counts = new Map<string, number>();

  /** Counts one, and returns no row. */
  skip(reason: string): readonly never[] {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    return [];
  }

  /** The reasons, the most frequent first. */
  list(): { readonly reason: string; readonly count: number }[] {
    return [...this.counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
  }
}
