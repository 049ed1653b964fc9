/** As many updates as a run can have. */
export const MAX_UPDATES = 10_000_000;
/** Bounds of a number of updates. */
export const UPDATES = { unit: 'updates', why: 'a run has at most as many' };
