/** An episode that is stored otherwise than it was recorded. */
export interface DamagedEpisode {
  readonly run: string;
  readonly episode: string;
  /** `poorer`: a part of a record is missing, but no record. `brokenOff`: records are missing. */
  readonly outcome: 'poorer' | 'brokenOff';
  /** Each change or loss once, in words. */
  readonly reasons: readonly string[];
}

const MAX_REMEMBERED = 100;
const MAX_REASONS = 10;

/** The episodes that were damaged, of which the newest are remembered by name. */
export class DamagedEpisodes {
  private readonly newest = new Map<string, DamagedEpisode>();
  numPoorer = 0;
  numBrokenOff = 0;

  /** The newest damaged episodes, oldest first. */
  get list(): readonly DamagedEpisode[] {
    return [...this.newest.values()];
  }

  note(run: string, episode: string, outcome: DamagedEpisode['outcome'], reasons: readonly string[]): void {
    const key = `${run}/${episode}`;
    const known = this.newest.get(key);
    const isBroken = outcome === 'brokenOff' || known?.outcome === 'brokenOff';
    if (known === undefined || (isBroken && known.outcome === 'poorer')) {
      if (known !== undefined) this.numPoorer--;
      if (isBroken) this.numBrokenOff++;
      else this.numPoorer++;
    }
    const all = [...new Set([...(known?.reasons ?? []), ...reasons])].slice(0, MAX_REASONS);
    this.newest.delete(key);
    this.newest.set(key, { run, episode, outcome: isBroken ? 'brokenOff' : 'poorer', reasons: all });
    const [oldest] = this.newest.keys();
    if (this.newest.size > MAX_REMEMBERED) this.newest.delete(oldest);
  }
}
