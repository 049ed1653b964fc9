import type { FreshContext } from './fresh-context.js';

/** The model's summary of the turns that its prompts no longer show. */
export class SummaryNotes {
  private summary = '';
  private numTurns = 0;

  /** @param length number of turns after which the next summary is due */
  constructor(
    private readonly context: Pick<FreshContext, 'forget'>,
    private readonly length: number,
  ) {}

  /** '' before the first. */
  get text(): string {
    return this.summary;
  }

  get isDue(): boolean {
    return this.numTurns >= this.length;
  }

  takeTurn(): void {
    this.numTurns += 1;
  }

  /** Takes the model's summary, which replaces the turns so far. */
  take(summary: string): void {
    this.summary = summary.trim();
    this.numTurns = 0;
    this.context.forget();
  }
}
