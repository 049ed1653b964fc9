/** Changes that made a record storable, in words: each once, however often it was made. */
export class Changes {
  private readonly noted = new Set<string>();

  get list(): readonly string[] {
    return [...this.noted];
  }

  /** @param path the field, with `[]` for any element of a list, so that records differ in few words */
  note(path: string, change: string): void {
    this.noted.add(`${path}: ${change}`);
  }
}
