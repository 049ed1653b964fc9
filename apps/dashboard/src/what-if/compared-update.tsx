import type { WhatIfEpisode, WhatIfLayer, WhatIfMetric, WhatIfUpdateDto } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { IdLink } from '../components/id-link';
import { codeColumn, numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import page from '../components/page.module.css';
import { ComparedTokens } from './compared-tokens';

const MAX_EPISODES = 100;

const LAYERS: readonly TableColumn<WhatIfLayer>[] = [
  codeColumn('Gradient of', ({ layer }) => layer),
  numberColumn('Cosine', ({ cosine }) => cosine),
  numberColumn('Norm', ({ recordedNorm }) => recordedNorm),
  numberColumn('Norm, changed', ({ changedNorm }) => changedNorm),
];

const METRICS: readonly TableColumn<WhatIfMetric>[] = [
  codeColumn('Metric', ({ name }) => name),
  numberColumn('Recorded', ({ recorded }) => recorded),
  numberColumn('Changed', ({ changed }) => changed),
];

const EPISODES: readonly TableColumn<WhatIfEpisode>[] = [
  {
    label: 'Episode',
    cell: ({ episodeId }) => <IdLink id={episodeId} to={`../episodes/${episodeId}`} />,
  },
  {
    label: 'Group',
    isMuted: true,
    cell: ({ groupId }) => (
      <span className="mono" title={groupId}>
        {shortId(groupId)}
      </span>
    ),
  },
  numberColumn('Reward', ({ recordedReward }) => recordedReward),
  numberColumn('Reward, changed', ({ changedReward }) => changedReward),
  numberColumn('Advantage', ({ recordedAdvantage }) => recordedAdvantage),
  numberColumn('Advantage, changed', ({ changedAdvantage }) => changedAdvantage),
  numberColumn('Tokens', ({ recordedTokens }) => recordedTokens, formatCount),
  numberColumn('Tokens, changed', ({ changedTokens }) => changedTokens, formatCount),
];

/** One compared update in detail: gradient by layer, metrics, and the episodes whose advantages differ most. */
export function ComparedUpdate({ update }: { readonly update: WhatIfUpdateDto }) {
  const { updateNumber, gradient, metrics, episodes, tokens, everyToken } = update;
  const most = [...episodes]
    .sort((a, b) => computeDifference(b) - computeDifference(a))
    .slice(0, MAX_EPISODES);
  return (
    <>
      <DataTable
        label={`Gradient of update ${updateNumber} by layer`}
        columns={LAYERS}
        rows={[{ ...gradient, layer: 'all' }, ...gradient.layers]}
        keyOf={({ layer }) => layer}
      />
      <DataTable
        label={`Metrics of update ${updateNumber}`}
        columns={METRICS}
        rows={metrics}
        keyOf={({ name }) => name}
      />
      <DataTable
        label={`Episodes of update ${updateNumber}`}
        columns={EPISODES}
        rows={most}
        keyOf={({ episodeId }) => episodeId}
      />
      <p className={page.subtle}>
        {episodes.length > most.length &&
          `${formatCount(episodes.length - most.length)} more episodes, whose advantages differ less. `}
        {formatCount(tokens.numTokens)} action tokens, {formatCount(tokens.numCountedOnce)} of them counted by
        one of the two only; their advantages differ by {formatNumber(tokens.meanAdvantageDifference)} on
        average.
      </p>
      {everyToken !== null && <ComparedTokens episodes={everyToken} />}
    </>
  );
}

function computeDifference({ recordedAdvantage, changedAdvantage }: WhatIfEpisode): number {
  return recordedAdvantage === null || changedAdvantage === null
    ? 0
    : Math.abs(recordedAdvantage - changedAdvantage);
}
