/** Plans and priorities of the groups of a source by row: 12 bytes a row, up to the highest that was sampled. */
export class RowRecord {
  private plans = new Int32Array(0);
  private priorities = new Float64Array(0);
  private sampled = 0;
  private highest: number | null = null;

  /** All samples, over all rows. */
  get numSampled(): number {
    return this.sampled;
  }

  /** The highest priority so far; null before the first. */
  get highestPriority(): number | null {
    return this.highest;
  }

  /** Plans that sampled the row, applied or pending. */
  numPlans(row: number): number {
    return row < this.plans.length ? this.plans[row] : 0;
  }

  /** Priority that the last update of the group gave it; null before any did. */
  priority(row: number): number | null {
    const priority = row < this.priorities.length ? this.priorities[row] : NaN;
    return Number.isNaN(priority) ? null : priority;
  }

  sample(row: number): void {
    this.makeRoom(row);
    this.plans[row] += 1;
    this.sampled += 1;
  }

  prioritize(row: number, priority: number): void {
    this.makeRoom(row);
    this.priorities[row] = priority;
    this.highest = Math.max(this.highest ?? priority, priority);
  }

  private makeRoom(row: number): void {
    if (row < this.plans.length) return;
    const length = Math.max(row + 1, Math.ceil(1.5 * this.plans.length));
    const plans = new Int32Array(length);
    plans.set(this.plans);
    const priorities = new Float64Array(length).fill(NaN);
    priorities.set(this.priorities);
    [this.plans, this.priorities] = [plans, priorities];
  }
}
