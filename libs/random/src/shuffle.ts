import type { Pcg32 } from './pcg32.js';

/** Puts values into a random order, each equally likely, in place (Fisher–Yates). */
export function shuffle<T>(
  values: { readonly length: number; [index: number]: T },
  random: Pick<Pcg32, 'nextBelow'>,
): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = random.nextBelow(i + 1);
    [values[i], values[j]] = [values[j], values[i]];
  }
}
