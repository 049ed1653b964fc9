interface Waiting<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits work in groups: what is submitted during a commit shares the next one. Groups commit one after the other, in the order of
 * submission; each succeeds or fails as a whole.
 */
export class GroupCommit<Work, Result> {
  private waiting: Waiting<Work, Result>[] = [];
  private running: Promise<void> | null = null;

  /**
   * @param commit resolves with one result for each work, in order, once all of them are durable
   * @param sizeOfGroup how many of the waiting works form the next group, at least one; by default all
   */
  constructor(
    private readonly commit: (group: readonly Work[]) => Promise<readonly Result[]>,
    private readonly sizeOfGroup: (waiting: readonly Work[]) => number = (waiting) => waiting.length,
  ) {}

  submit(work: Work): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ work, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when everything submitted so far has settled. */
  async drain(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Work that is submitted in the same tick belongs to the first group too.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const works = this.waiting.map(({ work }) => work);
      const group = this.waiting.splice(0, this.sizeOfGroup(works));
      try {
        const results = await this.commit(works.slice(0, group.length));
        group.forEach(({ resolve }, i) => resolve(results[i]));
      } catch (error) {
        group.forEach(({ reject }) => reject(error));
      }
    }
    this.running = null;
  }
}
