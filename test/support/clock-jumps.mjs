/**
 * `node --import …/clock-jumps.mjs`: makes the wall clock jump. Every second of real time it is set back by an hour or forward by ten
 * minutes, in turn. The monotonic clock is unchanged.
 */
const JUMPS_MS = [-3_600_000, 600_000];
const RealDate = Date;
const startedMs = performance.now();

function now() {
  const numJumps = Math.floor((performance.now() - startedMs) / 1000);
  let shiftMs = 0;
  for (let i = 0; i < numJumps; i += 1) shiftMs += JUMPS_MS[i % JUMPS_MS.length];
  return RealDate.now() + shiftMs;
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }

  static now() {
    return now();
  }
};
