import { runRetrace } from './train-recipe.mjs';

/**
 * Plays the same test tasks greedily with an earlier policy of a run, its last one, and scripted agents.
 *
 * @param {{ runId: string, policyVersion: number }} run
 * @param {{ recipe: import('@retrace/config').Recipe, earlierVersion: number, agents: readonly string[], seed: string, dataDirectory: string }} options
 * @returns {{ earlier: Success, last: Success, agents: Record<string, Success>, difference: { mean: number, low: number, high: number } }}
 *   the difference is the success of the last policy less that of the earlier one, paired by task, with its 95 % interval
 *
 * @typedef {object} Success
 * @property {number} rate
 * @property {number} low of the 95 % interval
 * @property {number} high of the 95 % interval
 * @property {Record<string, number>} families the rate of each family of tasks; empty where all are of one kind
 */
export function playHeldOut(
  { runId, policyVersion },
  { recipe, earlierVersion, agents, seed, dataDirectory },
) {
  const last = `run:${runId}@${policyVersion}`;
  const earlier = `run:${runId}@${earlierVersion}`;
  // Differences are those of the later policy to the earlier one.
  const policies = [earlier, last, ...agents];
  const report = JSON.parse(
    runRetrace([
      ...[
        'play',
        '--environment',
        recipe.environment,
        '--split',
        'test',
        '--seed',
        seed,
        '--greedy',
        '--json',
      ],
      ...['--tasks', String(recipe.evaluation.numTestEpisodes), '--concurrency', '256'],
      ...policies.flatMap((policy) => ['--policy', policy]),
      ...['--data-dir', dataDirectory],
    ]),
  );
  const of = (policy) => successOf(report.rows.filter((row) => row.policy === policy));
  const { difference, differenceLow, differenceHigh } = report.comparisons.find(
    ({ first, second }) => first === earlier && second === last,
  );
  return {
    earlier: of(earlier),
    last: of(last),
    agents: Object.fromEntries(agents.map((agent) => [agent, of(agent)])),
    difference: { mean: difference, low: differenceLow, high: differenceHigh },
  };
}

/** @returns {Success} */
function successOf(rows) {
  const whole = rows.find(({ family }) => family === null);
  const families = rows.filter(({ family }) => family !== null);
  return {
    rate: whole.successRate,
    low: whole.successLow,
    high: whole.successHigh,
    families: Object.fromEntries(families.map(({ family, successRate }) => [family, successRate])),
  };
}
