/** How many ranks below the highest are tracked; a power of two. They take 16 KiB. */
const SIZE = 2 ** 17;

/**
 * Tells which episode ranks of a run (`episodeRank`) have certainly not been seen yet. The ranks of new episodes nearly always grow, so one bit
 * for each of the latest is enough.
 */
export class RankWindow {
  private readonly bits = new Uint32Array(SIZE / 32);
  private highest: number;

  /** @param floor the highest rank that may have been seen already; −1 when none has */
  constructor(private readonly floor: number) {
    this.highest = floor;
  }

  /** Whether the rank was certainly not seen; false also where that is not known. */
  isNew(rank: number): boolean {
    if (rank > this.highest) return true;
    if (rank <= this.floor || rank <= this.highest - SIZE) return false;
    return (this.bits[(rank % SIZE) >>> 5] & (1 << (rank & 31))) === 0;
  }

  add(rank: number): void {
    if (rank <= this.floor || rank <= this.highest - SIZE) return;
    if (rank - this.highest >= SIZE) this.bits.fill(0);
    else for (let passed = this.highest + 1; passed < rank; passed++) this.clear(passed);
    this.highest = Math.max(this.highest, rank);
    this.bits[(rank % SIZE) >>> 5] |= 1 << (rank & 31);
  }

  private clear(rank: number): void {
    this.bits[(rank % SIZE) >>> 5] &= ~(1 << (rank & 31));
  }
}
