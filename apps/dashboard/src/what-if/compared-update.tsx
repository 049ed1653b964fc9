import type { WhatIfEpisode, WhatIfLayer, WhatIfMetric, WhatIfUpdateDto } from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { Link } from '../components/link';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import page from '../pages/page.module.css';
import { ComparedTokens } from './compared-tokens';

const MAX_EPISODES = 100;

const LAYERS: readonly TableColumn<WhatIfLayer>[] = [
  { label: 'Gradient of', cell: ({ layer }) => <span className="mono">{layer}</span> },
  { label: 'Cosine', isNumeric: true, cell: ({ cosine }) => formatNumber(cosine) },
  { label: 'Norm', isNumeric: true, cell: ({ recordedNorm }) => formatNumber(recordedNorm) },
  { label: 'Norm, changed', isNumeric: true, cell: ({ changedNorm }) => formatNumber(changedNorm) },
];

const METRICS: readonly TableColumn<WhatIfMetric>[] = [
  { label: 'Metric', cell: ({ name }) => <span className="mono">{name}</span> },
  { label: 'Recorded', isNumeric: true, cell: ({ recorded }) => formatNumber(recorded) },
  { label: 'Changed', isNumeric: true, cell: ({ changed }) => formatNumber(changed) },
];

const EPISODES: readonly TableColumn<WhatIfEpisode>[] = [
  {
    label: 'Episode',
    cell: ({ episodeId }) => (
      <Link className={`${table.link} mono`} to={`../episodes/${episodeId}`} title={episodeId}>
        {shortId(episodeId)}
      </Link>
    ),
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
  { label: 'Reward', isNumeric: true, cell: ({ recordedReward }) => formatNumber(recordedReward) },
  { label: 'Reward, changed', isNumeric: true, cell: ({ changedReward }) => formatNumber(changedReward) },
  { label: 'Advantage', isNumeric: true, cell: ({ recordedAdvantage }) => formatNumber(recordedAdvantage) },
  {
    label: 'Advantage, changed',
    isNumeric: true,
    cell: ({ changedAdvantage }) => formatNumber(changedAdvantage),
  },
  { label: 'Tokens', isNumeric: true, cell: ({ recordedTokens }) => formatCount(recordedTokens) },
  { label: 'Tokens, changed', isNumeric: true, cell: ({ changedTokens }) => formatCount(changedTokens) },
];

/** One compared update in detail: gradient by layer, metrics, and the episodes whose advantages differ most. */
export function ComparedUpdate({ update }: { readonly update: WhatIfUpdateDto }) {
  const { updateNumber, gradient, metrics, episodes, tokens, everyToken } = update;
  const most = [...episodes].sort((a, b) => differenceOf(b) - differenceOf(a)).slice(0, MAX_EPISODES);
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

function differenceOf({ recordedAdvantage, changedAdvantage }: WhatIfEpisode): number {
  return recordedAdvantage === null || changedAdvantage === null
    ? 0
    : Math.abs(recordedAdvantage - changedAdvantage);
}
