import {
  checkLength,
  checkResults,
  checkUnitInterval,
  checkValues,
  type NumericArray,
} from '../layout/check.js';
import { AlgorithmError } from '../errors.js';

export interface RaeInput {
  /** Return of each episode `[E]`. */
  readonly returns: NumericArray;
  /** Role (or environment) of each episode `[E]`, 0 … number of baselines − 1. */
  readonly roleIds: Int32Array;
  /** Running mean of each role; all 0 at the start of a run. Stored in checkpoints. */
  readonly baselines: Float64Array;
  /** Share of the running mean that one batch keeps, in [0, 1]. */
  readonly decay: number;
}

export interface RaeResult {
  /** `[E]`. */
  readonly advantages: Float32Array;
  /** The running means for the next batch. */
  readonly baselines: Float64Array;
}

/**
 * Role-conditioned advantage estimation (SPIRAL, arXiv:2506.24119): A_i = R_i − b_role, then
 * b_role ← decay·b_role + (1 − decay)·(mean return of the role in this batch).
 *
 * The baseline is the one from before the batch: it does not depend on the episodes it is subtracted from, so it adds no
 * bias, and the order of episodes does not matter (the paper updates it episode by episode). Roles that the batch
 * does not have keep theirs.
 */
export function rae({ returns, roleIds, baselines, decay }: RaeInput): RaeResult {
  checkValues({ returns }, returns.length);
  checkValues({ baselines }, baselines.length);
  checkUnitInterval({ decay });
  checkRoles(roleIds, returns.length, baselines.length);
  const advantages = new Float32Array(returns.length);
  const sums = new Float64Array(baselines.length);
  const counts = new Int32Array(baselines.length);
  for (let i = 0; i < returns.length; i++) {
    const role = roleIds[i];
    advantages[i] = returns[i] - baselines[role];
    sums[role] += returns[i];
    counts[role] += 1;
  }
  checkResults({ advantages });
  return {
    advantages,
    baselines: baselines.map((baseline, role) =>
      counts[role] === 0 ? baseline : decay * baseline + (1 - decay) * (sums[role] / counts[role]),
    ),
  };
}

function checkRoles(roleIds: Int32Array, numEpisodes: number, numRoles: number): void {
  checkLength({ roleIds }, numEpisodes);
  const outside = roleIds.findIndex((role) => role < 0 || role >= numRoles);
  if (outside !== -1) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `roleIds[${outside}] is ${roleIds[outside]}, must be in [0, ${numRoles}), the number of baselines`,
    );
  }
}
