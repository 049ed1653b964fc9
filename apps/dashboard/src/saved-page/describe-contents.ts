import { formatCount } from '../format/numbers';
import { countKept, type SavedRun } from '../as-of/saved-run';

/** Lists of which a page has at most the newest, by the end of their path. */
const CUT_LISTS = ['warnings', 'validations'] as const;

/** Says in sentences how much of the run is in the page. */
export function describeContents(run: SavedRun): string {
  const { runId, contents, version } = run;
  const { numDetailedUpdates, hasAllUpdates, numLeftOut } = contents;
  const cut = CUT_LISTS.flatMap((name) => {
    const numKept = countKept(`/api/runs/${runId}/${name}`, run);
    return numKept === null ? [] : [`It has the newest ${formatCount(numKept)} ${name} only.`];
  });
  return [
    `Written by retrace export --html, version ${version}.`,
    describeEpisodes(run),
    ...(numLeftOut === 0 ? [] : [`${formatCount(numLeftOut)} more did not fit into it.`]),
    ...(hasAllUpdates ? [] : ['It lists the newest updates only.']),
    ...(numDetailedUpdates === 0
      ? []
      : [
          `The newest ${formatCount(numDetailedUpdates)} updates have their lineage, histograms and the episodes with the largest share.`,
        ]),
    ...cut,
  ].join(' ');
}

function describeEpisodes({ episodes, contents: { numEpisodesOfRun } }: SavedRun): string {
  if (numEpisodesOfRun === 0) return 'The run has no episodes.';
  const numOfRun = formatCount(numEpisodesOfRun);
  if (episodes.length === 0) return `None of the ${numOfRun} episodes of the run is in this page.`;
  if (episodes.length === numEpisodesOfRun) return `All ${numOfRun} episodes of the run are in this page.`;
  return `Of ${numOfRun} episodes of the run, this page has ${formatCount(episodes.length)}: the newest of each split.`;
}
