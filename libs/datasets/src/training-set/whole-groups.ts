import { DatasetError } from '../dataset-error.js';
import type { SkipCounts } from '../skip-counts.js';
import type { ChosenEpisode } from './chosen-episodes.js';

/**
 * Leaves out episodes that have no end, and where groups are compared every group that never became whole.
 *
 * @param endedMembers stored and ended members of each group, by `run group`; null where groups are not compared
 * @throws DatasetError `NOT_TRAINABLE` for a whole group of which only a part was chosen, and for episodes outside split `train`
 */
export function keepUsable(
  episodes: readonly ChosenEpisode[],
  {
    comparesGroups,
    endedMembers,
    skipped,
  }: {
    readonly comparesGroups: string | null;
    readonly endedMembers: ReadonlyMap<string, number> | null;
    readonly skipped: SkipCounts;
  },
): ChosenEpisode[] {
  requireTraining(episodes);
  const ended = episodes.filter(({ sealed, endReason }) => {
    if (sealed && endReason !== 'abandoned') return true;
    skipped.skip(sealed ? 'episode was abandoned' : 'episode has not ended');
    return false;
  });
  if (endedMembers === null) return ended;
  const chosen = new Map<string, number>();
  for (const episode of ended) chosen.set(makeKey(episode), (chosen.get(makeKey(episode)) ?? 0) + 1);
  const incomplete = new Set<string>();
  for (const episode of ended) {
    const key = makeKey(episode);
    const [numEnded, numChosen] = [endedMembers.get(key) ?? 0, chosen.get(key) ?? 0];
    if (numEnded < episode.groupSize) incomplete.add(key);
    else if (numChosen < numEnded) throw half(episode, { numChosen, numEnded, comparesGroups });
  }
  for (const _ of incomplete) skipped.skip('group is incomplete in the store');
  return ended.filter((episode) => !incomplete.has(makeKey(episode)));
}

function makeKey({ runId, groupId }: ChosenEpisode): string {
  return `${runId} ${groupId}`;
}

function requireTraining(episodes: readonly ChosenEpisode[]): void {
  const others = episodes.filter(({ split }) => split !== 'train');
  if (others.length === 0) return;
  const [{ runId, episodeId, split }] = others;
  throw new DatasetError(
    'NOT_TRAINABLE',
    `${others.length.toLocaleString('en')} of ${episodes.length.toLocaleString('en')} chosen episodes are not for training ` +
      `(first: run ${runId}, episode ${episodeId}, split ${split}); choose those with split = 'train'`,
  );
}

function half(
  { runId, groupId }: ChosenEpisode,
  {
    numChosen,
    numEnded,
    comparesGroups,
  }: { readonly numChosen: number; readonly numEnded: number; readonly comparesGroups: string | null },
): DatasetError {
  return new DatasetError(
    'NOT_TRAINABLE',
    `Group ${groupId} of run ${runId}: ${numChosen} of its ${numEnded} episodes were chosen; must be all of them, ` +
      `since ${comparesGroups ?? 'the recipe'} compares the episodes of a group`,
  );
}
