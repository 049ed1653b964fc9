import type { EvaluationReport } from './evaluate-stored-policy.js';
import { renderTable } from '../../terminal/table.js';

/** Prints the estimates, and how far the data supports them. */
export function printEvaluation(report: EvaluationReport): void {
  const { diagnostics, excluded, estimates, unavailable } = report;
  console.log(
    `policy ${report.policyVersion} of run ${report.policyRunId}, on episodes of run ${report.runId}, reward version ${report.rewardVersion.slice(0, 12)}`,
  );
  console.log(
    `${diagnostics.numEpisodes} episodes, ${diagnostics.effectiveEpisodes.toFixed(1)} effective, ` +
      `of ${diagnostics.numGroups} groups, ${diagnostics.effectiveGroups.toFixed(1)} effective; χ² ${format(diagnostics.chiSquare)}; ` +
      `largest weight ${format(100 * diagnostics.largestWeightShare)} %; mean return of the behavior ${format(report.behaviorReturn)}`,
  );
  const leftOut = [
    [report.numFitted, 'the policy was trained on'],
    [excluded.otherwiseSampled, 'were not sampled at the training temperature'],
    [excluded.missingLogprobs, 'lack logprobs'],
    [excluded.missingRewards, 'lack a reward'],
  ] as const;
  for (const [count, reason] of leftOut) if (count > 0) console.log(`left out: ${count} that ${reason}`);
  if (estimates === null) return;
  console.log(
    renderTable(
      ['estimator', 'value', '95 % from', 'to'],
      estimates.map(({ estimator, value, interval }) => [
        estimator,
        format(value),
        format(interval.low),
        format(interval.high),
      ]),
    ),
  );
  for (const { estimator, reason } of unavailable) console.log(`no ${estimator}: ${reason}`);
}

function format(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(4);
}
