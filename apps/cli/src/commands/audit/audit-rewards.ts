import { auditRewards, newestVersion, type RewardAudit } from '@retrace/rewards/scoring';
import type { CommonOptions } from '../../options.js';
import { findScoredRun } from '../../run/find-scored-run.js';
import { withStore } from '../../services/store-session.js';
import { shownText } from '../../terminal/shown-text.js';
import { renderTable } from '../../terminal/table.js';

interface AuditOptions extends CommonOptions {
  readonly run: string;
  readonly rewardVersion?: string;
  readonly split: string;
  readonly stretches: number;
  readonly limit: number;
}

/**
 * Audits a reward version of a run and prints what was found.
 *
 * @throws RewardError `VERSION_UNKNOWN`, `NOTHING_TO_COMPARE`; RunsError `RUN_UNKNOWN`
 */
export async function auditStoredRewards(options: AuditOptions): Promise<void> {
  const { dataDir, json, run, split, stretches: numStretches, limit } = options;
  const audit = await withStore({ dataDir }, async (store) => {
    const { rewardVersion } = options;
    const versions = rewardVersion === undefined ? [] : [rewardVersion];
    const { runId } = await findScoredRun(store, run, versions);
    const version = rewardVersion ?? (await newestVersion(store.client, runId));
    return auditRewards({
      ...{ client: store.client, runId, version, numStretches, limit },
      split: split === 'all' ? null : split,
    });
  });
  if (json === true) console.log(JSON.stringify(audit, null, 2));
  else printAudit(audit);
}

function printAudit(audit: RewardAudit): void {
  const { name, version, values, paidFailures, stretches } = audit;
  const scored = `${audit.numWithTotal} episodes scored with ${shownText(name)} (${version.slice(0, 12)})`;
  console.log(`run ${audit.runId}: ${scored}, in ${stretches.length} stretches by time`);
  const left = audit.numEpisodes - audit.numWithTotal;
  if (left > 0) console.log(`left out: ${left} that have no total`);
  const figure = (value: number | null) => (value === null ? '–' : value.toFixed(4));
  console.log(
    renderTable(
      ['value times weight', 'episodes', 'mean', 'of successes', 'of failures', 'finding'],
      values.map((value) => [
        value.name,
        value.numEpisodes,
        ...[value.mean, value.meanOfSuccesses, value.meanOfFailures].map(figure),
        value.paysFailures ? 'failures get more' : '',
      ]),
    ),
  );
  if (paidFailures !== null)
    console.log(`\n${percent(paidFailures)} of the failures have at least the median total of the successes`);
  printHacked(audit);
  printEpisodes('Failures with the highest total (components before their weights)', audit.richestFailures);
  printEpisodes('Successes with the lowest total (components before their weights)', audit.poorestSuccesses);
}

function printHacked({ hacked, numWindows, numWithSuccess }: RewardAudit): void {
  if (numWithSuccess === 0) console.log('\nno episode says whether it reached its goal');
  else if (numWindows === 0)
    console.log('\ntoo few episodes to tell whether a value rose while the success fell');
  else if (hacked.length === 0) console.log('\nno value rose while the success fell');
  for (const { name, from, to, ...found } of hacked)
    console.log(
      `\n${shownText(name)} rose from ${found.valueFrom.toFixed(4)} to ${found.valueTo.toFixed(4)} while the success fell from ` +
        `${percent(found.successFrom)} to ${percent(found.successTo)} (stretches ${from + 1} to ${to + 1}; ` +
        `ρ with time ${found.trend.toFixed(2)} and ${found.successTrend.toFixed(2)})`,
    );
}

function printEpisodes(title: string, episodes: RewardAudit['richestFailures']): void {
  if (episodes.length === 0) return;
  const names = [...new Set(episodes.flatMap(({ components }) => Object.keys(components)))].sort();
  console.log(`\n${title}`);
  console.log(
    renderTable(
      ['episode', 'total', ...names],
      episodes.map(({ episodeId, total, components }) => [
        episodeId,
        total.toFixed(4),
        ...names.map((name) => components[name]?.toFixed(4) ?? '–'),
      ]),
    ),
  );
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
