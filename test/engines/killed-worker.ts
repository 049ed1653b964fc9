import { join } from 'node:path';
import type { Recipe } from '@retrace/config';
import { OfferFile } from '@retrace/policy';
import { expect } from 'vitest';
import { InProcessRun } from '../support/in-process-run.js';
import { killAll, workersBelow } from './processes.js';

/** Points of an update at which its worker is killed. */
export const KILL_POINTS = ['planned', 'weightsWritten', 'filesWritten', 'committed'] as const;

/**
 * Makes a run twice, once with its worker killed at a point of the second update, and expects the same weights and no process left behind. Returns the
 * run of the killed worker, which the caller closes.
 *
 * @param directory of both runs
 */
export async function expectSameWhenKilled(
  directory: string,
  recipe: Recipe,
  point: (typeof KILL_POINTS)[number],
): Promise<InProcessRun> {
  const whole = await InProcessRun.begin(join(directory, `whole-${point}`), recipe);
  await whole.work();
  const run = await InProcessRun.begin(join(directory, `killed-${point}`), recipe);
  let numKilled = 0;
  const location = { storage: null, directory: join(directory, `offers-${point}`) };
  const offerFile = OfferFile.at(location, run.id);
  if (offerFile === undefined) throw new Error('the offers are not on this machine');
  offerFile.announce = ({ policyVersion }) => {
    // Between the first save and the sync; the update is made again.
    if (point === 'weightsWritten' && policyVersion === 2 && numKilled === 0)
      numKilled += killAll(workersBelow(process.pid));
    return Promise.resolve();
  };
  await run.work({
    offerFile,
    onPoint: (reached, updateNumber) => {
      if (reached === point && updateNumber === 2) numKilled += killAll(workersBelow(process.pid));
    },
  });
  expect(numKilled).toBe(1);
  const weightsOf = async (made: InProcessRun) => (await made.updates()).map(({ weights }) => weights.sha256);
  expect(await weightsOf(run)).toEqual(await weightsOf(whole));
  expect(workersBelow(process.pid)).toEqual([]);
  await whole.close();
  return run;
}
