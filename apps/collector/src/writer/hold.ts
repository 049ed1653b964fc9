interface HoldEnds {
  /** Called when what is held may be appended. */
  readonly released: () => void;
  /** Called when it is dropped. */
  readonly dropped: () => void;
}

/** Holds the records of a writer back until it is decided whether they may be appended. */
export class Hold {
  private decision: Promise<boolean> | null = null;
  /** Whether what is written belongs to what was dropped. */
  isDropping = false;
  private awaitedSeconds = 0;

  constructor(private readonly ends: HoldEnds) {}

  get isOn(): boolean {
    return this.decision !== null;
  }

  /** @returns a signal that aborts when the records are dropped: with false, or an error, which `decided` throws */
  begin(mayAppend: Promise<boolean>): AbortSignal {
    const dropped = new AbortController();
    this.decision = mayAppend
      .then((isAllowed) => {
        if (isAllowed) {
          this.decision = null;
          this.ends.released();
        }
        return isAllowed;
      })
      .finally(() => {
        if (!this.decision) return;
        this.drop();
        dropped.abort();
      });
    this.decision.catch(() => undefined);
    return dropped.signal;
  }

  drop(): void {
    this.isDropping = true;
    this.ends.dropped();
  }

  /** Resolves with the decision, and with true where there is nothing to decide. What is written then is no longer held, or dropped. */
  async decided(): Promise<boolean> {
    if (this.decision === null) return true;
    const since = performance.now();
    try {
      return await this.decision;
    } finally {
      this.awaitedSeconds += (performance.now() - since) / 1000;
      this.decision = null;
      this.isDropping = false;
    }
  }

  /** Seconds that callers waited for decisions since the last call. */
  takeAwaitedSeconds(): number {
    const seconds = this.awaitedSeconds;
    this.awaitedSeconds = 0;
    return seconds;
  }
}
