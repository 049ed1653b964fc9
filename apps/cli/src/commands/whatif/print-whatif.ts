import type { WhatIfResult, WhatIfUpdate } from '@retrace/trainer';
import { type Cell, renderTable } from '../../terminal/table.js';

const MAX_EPISODES = 10;

/** Prints one update in detail, or a range as a table with a line for each. */
export function printWhatIf({ updates }: WhatIfResult): void {
  if (updates.length === 1) printUpdate(updates[0]);
  else console.log(renderTable(TITLES, updates.map(toRow)));
  const inexact = updates.find(({ sameWeights }) => !sameWeights);
  if (inexact !== undefined) {
    const what = `the recorded update ${inexact.updateNumber} gives other weights when it is made again`;
    console.log(`${what}: rounding differs between backends and machines`);
  }
}

const TITLES = [
  'update',
  'cosine',
  'norm',
  'norm, changed',
  'clip',
  'clip, changed',
  'max |ΔA|',
  'flipped',
  'loss',
  'loss, changed',
];

function toRow({ updateNumber, gradient, metrics, tokens }: WhatIfUpdate): Cell[] {
  const [clip, loss] = ['train/clipFraction', 'train/loss'].map((name) =>
    metrics.find((metric) => metric.name === name),
  );
  return [
    updateNumber,
    shown(gradient.cosine),
    shown(gradient.recordedNorm),
    shown(gradient.changedNorm),
    shown(clip?.recorded),
    shown(clip?.changed),
    shown(tokens.maxAdvantageDifference),
    shown(tokens.flippedFraction),
    shown(loss?.recorded),
    shown(loss?.changed),
  ];
}

function printUpdate({ updateNumber, gradient, metrics, episodes, tokens }: WhatIfUpdate): void {
  console.log(`update ${updateNumber}, from the weights that it started from`);
  const layers = [{ layer: 'all', ...gradient }, ...gradient.layers].map((part) => [
    part.layer,
    shown(part.cosine),
    shown(part.recordedNorm),
    shown(part.changedNorm),
  ]);
  console.log(`\n${renderTable(['gradient', 'cosine', 'norm', 'norm, changed'], layers)}`);
  const rows = metrics.map(({ name, recorded, changed }) => [name, shown(recorded), shown(changed)]);
  console.log(`\n${renderTable(['metric', 'recorded', 'changed'], rows)}`);
  const most = [...episodes]
    .sort((a, b) => computeDifference(b) - computeDifference(a))
    .slice(0, MAX_EPISODES);
  const lines = most.map((episode) => [
    episode.episodeId,
    shown(episode.recordedReward),
    shown(episode.changedReward),
    shown(episode.recordedAdvantage),
    shown(episode.changedAdvantage),
  ]);
  const titles = ['episode', 'reward', 'reward, changed', 'advantage', 'advantage, changed'];
  console.log(`\n${renderTable(titles, lines)}`);
  if (episodes.length > most.length)
    console.log(
      `${episodes.length - most.length} more episodes, whose advantages differ less (--json lists all)`,
    );
  console.log(
    `\n${tokens.numTokens} action tokens: ${tokens.numCountedOnce} counted by one of the two only, ` +
      `${shown(100 * tokens.flippedFraction)} % with advantages of opposite signs; the advantages differ by ` +
      `${shown(tokens.meanAdvantageDifference)} on average and ${shown(tokens.maxAdvantageDifference)} at most`,
  );
}

function computeDifference({
  recordedAdvantage,
  changedAdvantage,
}: WhatIfUpdate['episodes'][number]): number {
  const difference = Math.abs(recordedAdvantage - changedAdvantage);
  return Number.isNaN(difference) ? 0 : difference;
}

/** Five digits; null where there is no value. */
function shown(value: number | null | undefined): number | null {
  return value === null || value === undefined || Number.isNaN(value) ? null : Number(value.toPrecision(5));
}
