/** The contexts that slots hold in the cache, also after their answers have ended. */
export class SlotBook {
  /** Tokens of each slot's last context. */
  private readonly contexts: Int32Array[];
  /** Free slots, the longest unused first. */
  private readonly free: number[];

  constructor(numSlots: number) {
    this.contexts = Array.from({ length: numSlots }, () => new Int32Array(0));
    this.free = [...this.contexts.keys()];
  }

  get numFree(): number {
    return this.free.length;
  }

  /** Takes the free slot whose context shares the longest beginning with a prompt, which is then not computed again; null if none is free. */
  take(prompt: Int32Array): number | null {
    let [best, longest] = [0, -1];
    this.free.forEach((slot, place) => {
      const shared = sharedPrefix(this.contexts[slot], prompt);
      if (shared > longest) [best, longest] = [place, shared];
    });
    return this.free.splice(best, 1)[0] ?? null;
  }

  /** Gives a slot back with the context that it holds. */
  giveBack(slot: number, context: Int32Array): void {
    this.contexts[slot] = context;
    this.free.push(slot);
  }
}

function sharedPrefix(a: Int32Array, b: Int32Array): number {
  const end = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < end && a[shared] === b[shared]) shared++;
  return shared;
}
