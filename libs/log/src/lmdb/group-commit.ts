/** Work that runs inside a write transaction and gives its caller a result after the commit. */
interface Waiting<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects what is submitted while a commit is on its way to disk into the next one: one fsync for all of them.
 * A group commits or fails as a whole, in the order of submission.
 */
export class GroupCommit<Work, Result> {
  private readonly commit: (group: readonly Work[]) => Promise<readonly Result[]>;
  private waiting: Waiting<Work, Result>[] = [];
  private running: Promise<void> | null = null;

  /** @param commit resolves with one result per work, in order, once all of them are durable */
  constructor(commit: (group: readonly Work[]) => Promise<readonly Result[]>) {
    this.commit = commit;
  }

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
    // Submissions of this very turn belong to the first group too.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      try {
        const results = await this.commit(group.map(({ work }) => work));
        group.forEach(({ resolve }, i) => resolve(results[i]));
      } catch (error) {
        group.forEach(({ reject }) => reject(error));
      }
    }
    this.running = null;
  }
}
