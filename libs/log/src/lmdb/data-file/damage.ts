/** Collects what is damaged in a data file: keeps the first finding and counts all. */
export class Damage {
  private first: string | null = null;
  private numFound = 0;

  get isAny(): boolean {
    return this.first !== null;
  }

  add(finding: string): void {
    this.first ??= finding;
    this.numFound++;
  }

  /** @param page its bytes; null where the file has none of it */
  addPage(number: number, tree: string, page: Buffer | null): void {
    if (page === null) this.add(`page ${number} of its data file, of ${tree}, lies beyond the file's end`);
    else if (page.every((byte) => byte === 0))
      this.add(`page ${number} of its data file, of ${tree}, is all zeros`);
    else this.add(`page ${number} of its data file, of ${tree}, holds something else`);
  }

  describe(): string {
    return this.numFound > 1 ? `${this.first} (and ${this.numFound - 1} more)` : (this.first ?? '');
  }
}
