/**
 * `count` of the choices, each subset equally likely, by seed; all of them when there are no more. Partial Fisher–Yates
 * shuffle on a splitmix32 generator (Steele, Lea & Flood 2014, 32-bit constants).
 */
export function sampleWithoutReplacement(choices: readonly number[], count: number, seed: number): number[] {
  const shuffled = [...choices];
  const numChosen = Math.min(count, shuffled.length);
  let state = seed >>> 0;
  for (let i = 0; i < numChosen; i++) {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    const uniform = ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
    const j = i + Math.floor(uniform * (shuffled.length - i));
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled.slice(0, numChosen);
}
