/** Questions that come while one is being answered share the next answer, which is from after they came: at most one runs and one waits. */
export class SharedAnswer<Answer> {
  private running: Promise<Answer> | null = null;
  private queued: Promise<Answer> | null = null;

  constructor(private readonly find: () => Promise<Answer>) {}

  ask(): Promise<Answer> {
    if (this.running === null) {
      this.running = this.find().finally(() => {
        this.running = null;
      });
      return this.running;
    }
    this.queued ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.queued = null;
        return this.ask();
      });
    return this.queued;
  }
}
