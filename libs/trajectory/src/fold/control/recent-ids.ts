/** Remembers the last `capacity` ids in constant memory, which suffices to recognize an event that is delivered twice. */
export class RecentIds {
  private readonly ids = new Set<string>();

  constructor(private readonly capacity: number) {}

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(id: string): void {
    this.ids.add(id);
    if (this.ids.size <= this.capacity) return;
    // A set iterates in order of insertion, so the first is the oldest.
    for (const oldest of this.ids) {
      this.ids.delete(oldest);
      return;
    }
  }
}
