/** How many ordinals below the highest are tracked; a power of two. They take 8 KiB. */
const SIZE = 2 ** 16;

/**
 * Tells which episode ordinals of a run have certainly not been seen yet. The ordinals of new episodes nearly always grow, so one bit
 * for each of the latest is enough.
 */
export class OrdinalWindow {
  private readonly bits = new Uint32Array(SIZE / 32);
  private highest: number;

  /** @param floor the highest ordinal that may have been seen already; −1 when none has */
  constructor(private readonly floor: number) {
    this.highest = floor;
  }

  /** Whether the ordinal was certainly not seen; false also where that is not known. */
  isNew(ordinal: number): boolean {
    if (ordinal > this.highest) return true;
    if (ordinal <= this.floor || ordinal <= this.highest - SIZE) return false;
    return (this.bits[(ordinal % SIZE) >>> 5] & (1 << (ordinal & 31))) === 0;
  }

  add(ordinal: number): void {
    if (ordinal <= this.floor || ordinal <= this.highest - SIZE) return;
    if (ordinal - this.highest >= SIZE) this.bits.fill(0);
    else for (let passed = this.highest + 1; passed < ordinal; passed++) this.clear(passed);
    this.highest = Math.max(this.highest, ordinal);
    this.bits[(ordinal % SIZE) >>> 5] |= 1 << (ordinal & 31);
  }

  private clear(ordinal: number): void {
    this.bits[(ordinal % SIZE) >>> 5] &= ~(1 << (ordinal & 31));
  }
}
