import { diffScores, type ScoreDiff } from '@retrace/rewards/scoring';
import type { CommonOptions } from '../../options.js';
import { findScoredRun } from '../../run/find-scored-run.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';

interface DiffOptions extends CommonOptions {
  readonly run: string;
  readonly split?: string;
  readonly limit: number;
}

/** Compares two reward versions of a run and prints where they differ. */
export async function diff(
  a: string,
  b: string,
  { dataDir, json, run, split, limit }: DiffOptions,
): Promise<void> {
  const found = await withStore({ dataDir }, async (store) => {
    const { runId } = await findScoredRun(store, run, [a, b]);
    return diffScores({ client: store.client, runId, a, b, split, limit });
  });
  if (json === true) console.log(JSON.stringify(found, null, 2));
  else printDiff(found);
}

function printDiff(found: ScoreDiff): void {
  console.log(
    `A ${found.nameA} (${found.versionA.slice(0, 12)})   B ${found.nameB} (${found.versionB.slice(0, 12)})`,
  );
  console.log(renderValues(found.values));
  if (found.mostChanged.length > 0) {
    const rows = found.mostChanged.map(({ episodeId, totalA, totalB }) => [
      episodeId,
      totalA.toFixed(4),
      totalB.toFixed(4),
    ]);
    console.log('\nEpisodes that changed most');
    console.log(renderTable(['episode', 'A', 'B'], rows));
  }
  console.log(
    `\n${found.numGroupsFlipped} of ${found.numGroups} groups have members whose advantage changes sign`,
  );
  if (found.mostFlipped.length > 0) {
    const rows = found.mostFlipped.map(({ groupId, numFlipped, numEpisodes }) => [
      groupId,
      numFlipped,
      numEpisodes,
    ]);
    console.log(renderTable(['group', 'flipped', 'members'], rows));
  }
}

function renderValues(values: ScoreDiff['values']): string {
  const counts = ['episodes', 'only A', 'only B', 'changed'];
  const figures = ['mean A', 'mean B', 'mean |Δ|', 'max |Δ|', 'Spearman', 'Kendall'];
  const rows = values.map((value) => [
    value.name,
    value.numCompared,
    value.numOnlyA,
    value.numOnlyB,
    value.numChanged,
    ...[
      value.meanA,
      value.meanB,
      value.meanAbsoluteChange,
      value.maxAbsoluteChange,
      value.spearman,
      value.kendall,
    ].map((figure) => (Number.isNaN(figure) ? '–' : figure.toFixed(4))),
  ]);
  return renderTable(['value', ...counts, ...figures], rows);
}
