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
    try {
      return await this.decision;
    } finally {
      this.decision = null;
      this.isDropping = false;
    }
  }
}
