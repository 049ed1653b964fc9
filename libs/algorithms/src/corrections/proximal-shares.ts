import { AlgorithmError } from '../errors.js';
import { checkCounts } from '../layout/check.js';

/**
 * How far the policy at the start of an update is from the one that sampled a token towards the one being trained `[N]`, counted in
 * versions: α = (v − v_b)/(v + 1 − v_b), v the version that the update starts from. log π_prox ≈ (1 − α)·log π_b + α·log π saves the
 * forward pass that would compute it (AReaL, `loglinear`). 0 for tokens of version v itself.
 *
 * @param policyVersions that each token was sampled by `[N]`
 * @throws AlgorithmError `INVALID_ARGUMENT` for a version below 0 or over v
 */
export function proximalShares(policyVersions: Int32Array, policyVersionIn: number): Float32Array {
  checkCounts('policyVersions', policyVersions, policyVersions.length);
  return Float32Array.from(policyVersions, (version, t) => {
    const age = policyVersionIn - version;
    if (age >= 0) return age / (age + 1);
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `policyVersions[${t}] is ${version}, must be at most policyVersionIn, ${policyVersionIn}`,
    );
  });
}
