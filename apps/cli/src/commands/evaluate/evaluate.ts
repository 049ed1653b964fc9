import { nearNames } from '@retrace/algorithms/registry';
import { POLICY_ESTIMATORS, type PolicyEstimator } from '@retrace/trainer';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { BackendChoice } from '@retrace/process';
import { withStore } from '../../services/store-session.js';
import { evaluateStoredPolicy } from './evaluate-stored-policy.js';
import { printEvaluation } from './print-evaluation.js';

interface EvaluateOptions extends CommonOptions {
  readonly run: string;
  readonly policy: string;
  readonly rewardVersion?: string;
  readonly behaviorVersion?: number | 'latest';
  readonly estimators?: readonly string[];
  readonly gamma: number;
  readonly minEffective: number;
  readonly episodes: number;
  readonly seed: number;
  readonly backend?: BackendChoice;
}

/**
 * Evaluates a stored policy on stored episodes and prints the estimates.
 *
 * @throws CliError `EVALUATION_REFUSED` when the data is insufficient, `ESTIMATOR_UNKNOWN`
 */
export async function evaluate({
  dataDir,
  json,
  estimators: names,
  minEffective,
  episodes,
  ...request
}: EvaluateOptions): Promise<void> {
  const estimators = listEstimators(names);
  const report = await withStore({ dataDir }, (session) =>
    evaluateStoredPolicy(session, {
      ...request,
      estimators,
      minEffectiveEpisodes: minEffective,
      maxEpisodes: episodes,
    }),
  );
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else printEvaluation(report);
  if (report.refusal !== null) throw new CliError('EVALUATION_REFUSED', `evaluate: ${report.refusal}`);
}

/** @throws CliError `ESTIMATOR_UNKNOWN`, naming the near ones */
function listEstimators(names: readonly string[] | undefined): readonly PolicyEstimator[] {
  if (names === undefined) return POLICY_ESTIMATORS;
  return names.map((name) => {
    const known = POLICY_ESTIMATORS.find((estimator) => estimator === name);
    if (known !== undefined) return known;
    const near = nearNames(name, POLICY_ESTIMATORS);
    const hint =
      near.length > 0 ? `did you mean ${near.join(', ')}?` : `choose from ${POLICY_ESTIMATORS.join(', ')}`;
    throw new CliError('ESTIMATOR_UNKNOWN', `unknown estimator "${name}"; ${hint}`);
  });
}
