import type { SelectedEpisode } from '../selection/selected-episode.js';
import type { SkipCounts } from '../skip-counts.js';
import { findContext, findSequences } from '../contexts.js';
import type { RecordedMessage, StoredEpisode } from '../stored-episode.js';
import { toolsField, type ToolDefinitions } from '../tool-definitions.js';
import { trainerMessages } from '../trainer-messages.js';
import {
  type BuiltRow,
  type DatasetFormat,
  type DatasetRow,
  newRow,
  noRow,
  type RowPlan,
} from './dataset-format.js';
import { float64, messages, text } from './parquet-columns.js';

/** Preference pairs for TRL's `DPOTrainer`: the prompt that both share, and how each went on. */
export const dpo: DatasetFormat = {
  description:
    'preference pairs {prompt, chosen, rejected}: the best and the worst of a group, or of forks of a step',
  withTokens: false,
  columns: [
    messages('prompt'),
    messages('chosen'),
    messages('rejected'),
    text('tools'),
    float64('score_chosen'),
    float64('score_rejected'),
  ],
  plan: planPairs,
  build(plan, [chosen, rejected]) {
    return makePair(chosen, rejected, ({ tools, ...pair }) => ({
      ...pair,
      ...toolsField(tools),
      ...toScores(plan),
    }));
  },
};

/** The same pairs for TRL's `RewardTrainer`: whole conversations, which share their prompt. */
export const rewardPairs: DatasetFormat = {
  description: 'whole conversations {chosen, rejected, margin} for a reward model',
  withTokens: false,
  columns: [
    messages('chosen'),
    messages('rejected'),
    text('tools'),
    float64('margin'),
    float64('score_chosen'),
    float64('score_rejected'),
  ],
  plan: planPairs,
  build(plan, [better, worse]) {
    const scores = toScores(plan);
    return makePair(better, worse, ({ prompt, chosen, rejected, tools }) => ({
      chosen: [...prompt, ...chosen],
      rejected: [...prompt, ...rejected],
      ...toolsField(tools),
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

function toScores({ members: [best, worst] }: RowPlan) {
  return { score_chosen: best.episode.score ?? NaN, score_rejected: worst.episode.score ?? NaN };
}

interface Pair {
  readonly prompt: readonly RecordedMessage[];
  readonly chosen: readonly RecordedMessage[];
  readonly rejected: readonly RecordedMessage[];
  readonly tools: ToolDefinitions | null;
}

/**
 * Splits both conversations after the prompt of their first step, and makes a row of them. A member whose context was rewritten is no one
 * conversation that goes on from that prompt, and its score is of all that it did.
 */
function makePair(better: StoredEpisode, worse: StoredEpisode, rowOf: (pair: Pair) => DatasetRow): BuiltRow {
  if (better.steps.length === 0 || worse.steps.length === 0) return noRow('a member of the pair has no step');
  const [chosen, rejected] = [better, worse].map(wholeConversation);
  if (chosen === null || rejected === null) {
    return noRow(
      'a member of the pair has no answer, or its context was rewritten: it is no one conversation',
    );
  }
  const { prompt, tools } = chosen;
  if (JSON.stringify(prompt) !== JSON.stringify(rejected.prompt))
    return noRow('the members of the pair have different first prompts');
  return newRow(rowOf({ prompt, chosen: chosen.answers, rejected: rejected.answers, tools }));
}

/** The first prompt of an episode and what followed it; null unless it is one conversation. */
function wholeConversation(episode: StoredEpisode) {
  const first = findContext(episode, 0);
  const sequences = findSequences(episode);
  if (first.kind === 'unknown' || sequences.kind === 'unknown' || sequences.value.length !== 1) return null;
  const { prompt } = first.value;
  const [{ messages: said, tools }] = sequences.value;
  return {
    prompt: trainerMessages(prompt),
    answers: trainerMessages(said.slice(prompt.length)),
    tools,
  };
}
