import type { SelectedEpisode } from '../selection/selected-episode.js';
import type { SkipCounts } from '../skip-counts.js';
import { type RecordedMessage, conversation, promptOf, type StoredEpisode } from '../stored-episode.js';
import {
  type BuiltRow,
  type DatasetFormat,
  type DatasetRow,
  newRow,
  noRow,
  type RowPlan,
} from './dataset-format.js';
import { float64, messages } from './parquet-columns.js';

/** Preference pairs for TRL's `DPOTrainer`: the prompt that both share, and how each went on. */
export const dpo: DatasetFormat = {
  description:
    'preference pairs {prompt, chosen, rejected}: the best and the worst of a group, or of forks of a step',
  withTokens: false,
  columns: [
    messages('prompt'),
    messages('chosen'),
    messages('rejected'),
    float64('score_chosen'),
    float64('score_rejected'),
  ],
  plan: planPairs,
  build(plan, [chosen, rejected]) {
    return pairOf(chosen, rejected, (pair) => ({ ...pair, ...scoresOf(plan) }));
  },
};

/** The same pairs for TRL's `RewardTrainer`: whole conversations, which share their prompt. */
export const rewardPairs: DatasetFormat = {
  description: 'whole conversations {chosen, rejected, margin} for a reward model',
  withTokens: false,
  columns: [
    messages('chosen'),
    messages('rejected'),
    float64('margin'),
    float64('score_chosen'),
    float64('score_rejected'),
  ],
  plan: planPairs,
  build(plan, [better, worse]) {
    const scores = scoresOf(plan);
    return pairOf(better, worse, ({ prompt, chosen, rejected }) => ({
      chosen: [...prompt, ...chosen],
      rejected: [...prompt, ...rejected],
      margin: scores.score_chosen - scores.score_rejected,
      ...scores,
    }));
  },
};

/**
 * Pairs the best with the worst member of each group. Forks of one step are a group of their own, without the episode that they were
 * forked from: its score covers steps that they do not have. Equal scores give no pair; of equal extremes the first counts.
 */
function planPairs(episodes: readonly SelectedEpisode[], skipped: SkipCounts): RowPlan[] {
  const groups = new Map<string, SelectedEpisode[]>();
  for (const episode of episodes) {
    const { facts, forkedFrom, split } = episode;
    const origin =
      forkedFrom === null ? `group/${facts.groupId}` : `fork/${forkedFrom.episodeId}/${forkedFrom.step}`;
    const key = `${facts.runId}/${split}/${origin}`;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [episode]);
    else members.push(episode);
  }
  return [...groups.values()].flatMap((members) => planPair(members, skipped));
}

function planPair(members: readonly SelectedEpisode[], skipped: SkipCounts): readonly RowPlan[] {
  const scored = members.flatMap((episode) =>
    episode.score === null ? [] : [{ episode, score: episode.score }],
  );
  if (members.length < 2) return skipped.skip('the group has a single chosen member');
  if (scored.length < 2) return skipped.skip('fewer than two members of the group have a score');
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  const worst = scored.reduce((a, b) => (b.score < a.score ? b : a));
  if (best.score === worst.score) return skipped.skip('all members of the group have the same score');
  return [
    { split: best.episode.split, members: [best, worst].map(({ episode }) => ({ episode, step: null })) },
  ];
}

function scoresOf({ members: [best, worst] }: RowPlan) {
  return { score_chosen: best.episode.score ?? NaN, score_rejected: worst.episode.score ?? NaN };
}

interface Pair {
  readonly prompt: readonly RecordedMessage[];
  readonly chosen: readonly RecordedMessage[];
  readonly rejected: readonly RecordedMessage[];
}

/** Splits both conversations after the prompt of their first step, and makes a row of them. */
function pairOf(better: StoredEpisode, worse: StoredEpisode, rowOf: (pair: Pair) => DatasetRow): BuiltRow {
  if (better.steps.length === 0 || worse.steps.length === 0) return noRow('a member of the pair has no step');
  const prompt = promptOf(better, 0);
  if (JSON.stringify(prompt) !== JSON.stringify(promptOf(worse, 0)))
    return noRow('the members of the pair have different first prompts');
  const [chosen, rejected] = [better, worse].map((episode) => conversation(episode).slice(prompt.length));
  return newRow(rowOf({ prompt, chosen, rejected }));
}
