import type { ScoreDiff, ScoreProgress } from '@retrace/scoring';
import type { JudgedScoreReport } from './score-stored-run.js';
import { renderTable } from '../../terminal/table.js';

/** One line on stderr for each `everyMs` in which something was written. */
export function progressPrinter(everyMs = 1000): (progress: ScoreProgress) => void {
  let lastWritten = 0;
  let nextAt = 0;
  return ({ numSeen, numWritten }) => {
    if (numWritten === lastWritten || performance.now() < nextAt) return;
    lastWritten = numWritten;
    nextAt = performance.now() + everyMs;
    console.error(`${String(numSeen)} episodes seen, ${String(numWritten)} scores written`);
  };
}

export function printScoreReport(report: JudgedScoreReport): void {
  const { rewardVersion, name, numScored, numKept, numWithoutTotal, numIncomplete, reasons, judge } = report;
  console.log(`reward version ${rewardVersion} (${name})`);
  console.log(`${String(numScored)} episodes scored, ${String(numKept)} had their score`);
  if (numWithoutTotal > 0) console.log(`${String(numWithoutTotal)} without a total:`);
  for (const { reason, count } of reasons) console.log(`  ${String(count)} × ${reason}`);
  if (numIncomplete > 0)
    console.log(`${String(numIncomplete)} are not whole in the store yet; run this again later`);
  if (judge !== null) {
    console.log(
      `judge: ${String(judge.numVerdicts)} verdicts in ${String(judge.numRequests)} requests, ${String(judge.numReused)} reused, ` +
        `${String(judge.numRefused)} refused, ${String(judge.numUnanswered)} unanswered; ` +
        `${String(judge.promptTokens)} + ${String(judge.completionTokens)} tokens, cost ${judge.cost.toFixed(4)}`,
    );
  }
}

export function printScoreDiff(diff: ScoreDiff): void {
  console.log(
    `A ${diff.nameA} (${diff.versionA.slice(0, 12)})   B ${diff.nameB} (${diff.versionB.slice(0, 12)})`,
  );
  console.log(
    renderTable(
      [
        'value',
        'episodes',
        'only A',
        'only B',
        'changed',
        'mean A',
        'mean B',
        'mean |Δ|',
        'max |Δ|',
        'Spearman',
        'Kendall',
      ],
      diff.values.map((value) => [
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
      ]),
    ),
  );
  if (diff.mostChanged.length > 0) {
    console.log('\nEpisodes that changed most');
    console.log(
      renderTable(
        ['episode', 'A', 'B'],
        diff.mostChanged.map(({ episodeId, totalA, totalB }) => [
          episodeId,
          totalA.toFixed(4),
          totalB.toFixed(4),
        ]),
      ),
    );
  }
  console.log(
    `\n${String(diff.numGroupsFlipped)} of ${String(diff.numGroups)} groups have members whose advantage flips its sign`,
  );
  if (diff.mostFlipped.length > 0) {
    console.log(
      renderTable(
        ['group', 'flipped', 'members'],
        diff.mostFlipped.map(({ groupId, numFlipped, numEpisodes }) => [groupId, numFlipped, numEpisodes]),
      ),
    );
  }
}
