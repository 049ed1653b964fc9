/** A power of two: of so many ordinals below the highest it is known which were seen. 8 KiB. */
const SIZE = 2 ** 16;

/**
 * Which episode ordinals of a run were not seen yet, for certain: new episodes come with growing ordinals, nearly, so that a bit for
 * each of the last ones is enough.
 */
export class OrdinalWindow {
  private readonly bits = new Uint32Array(SIZE / 32);
  private highest: number;

  /** @param floor everything up to it may have been seen; −1 when nothing has */
  constructor(private readonly floor: number) {
    this.highest = floor;
  }

  /** False where that is not known. */
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
