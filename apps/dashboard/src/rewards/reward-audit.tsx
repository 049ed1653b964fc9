import { Link } from 'react-router';
import type { AuditedRewardValue, EpisodeToRead, HackedRewardValue, RewardAuditReport } from '../api/schema';
import { Badge } from '../components/badge';
import { DataTable, type TableColumn } from '../components/data-table';
import { Stat, StatRow } from '../components/stat';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import page from '../pages/page.module.css';
import { StretchCharts } from './stretch-charts';

const VALUE_COLUMNS: readonly TableColumn<AuditedRewardValue>[] = [
  {
    label: 'Value times weight',
    cell: ({ kind, name }) => (kind === 'total' ? <b>total</b> : name),
  },
  { label: 'Episodes', isNumeric: true, cell: ({ numEpisodes }) => formatCount(numEpisodes) },
  { label: 'Mean', isNumeric: true, cell: ({ mean }) => formatNumber(mean) },
  { label: 'Of successes', isNumeric: true, cell: ({ meanOfSuccesses }) => formatNumber(meanOfSuccesses) },
  { label: 'Of failures', isNumeric: true, cell: ({ meanOfFailures }) => formatNumber(meanOfFailures) },
  {
    label: 'Finding',
    cell: ({ paysFailures }) => paysFailures && <Badge tone="bad">failures get more</Badge>,
  },
];

/** Findings of an audit: which values pay failures, what rose while the success fell, and episodes to read. */
export function RewardAudit({ audit }: { readonly audit: RewardAuditReport }) {
  const { numEpisodes, numWithTotal, numWithSuccess, values, hacked, paidFailures } = audit;
  return (
    <>
      <StatRow>
        <Stat label="Episodes with a total">
          {formatCount(numWithTotal)}
          {numWithTotal < numEpisodes && ` of ${formatCount(numEpisodes)}`}
        </Stat>
        <Stat label="Success known">{formatCount(numWithSuccess)}</Stat>
        <Stat
          label="Failures paid like successes"
          title="Share of the failures whose total is at least the median total of the successes"
        >
          {formatPercent(paidFailures)}
        </Stat>
        <Stat label="Values that pay failures more">
          {formatCount(values.filter(({ paysFailures }) => paysFailures).length)}
        </Stat>
      </StatRow>
      <Hacked audit={audit} />
      <DataTable
        label="Values of the reward"
        columns={VALUE_COLUMNS}
        rows={values}
        keyOf={({ kind, name }) => `${kind} ${name}`}
      />
      <StretchCharts audit={audit} />
      {hacked.length === 0 && audit.numWindows > 0 && (
        <p className={page.subtle}>
          Looked for over {formatCount(audit.numWindows)} times of ten stretches: a value that rises (ρ with
          time of .6 or more) while the success falls as clearly.
        </p>
      )}
      <EpisodesToRead title="Failures with the highest totals" episodes={audit.richestFailures} />
      <EpisodesToRead title="Successes with the lowest totals" episodes={audit.poorestSuccesses} />
    </>
  );
}

function Hacked({ audit: { hacked, numWindows, numWithSuccess } }: { readonly audit: RewardAuditReport }) {
  if (hacked.length > 0)
    return (
      <ul className={page.stack}>
        {hacked.map((found) => (
          <li key={found.name}>
            <Badge tone="bad">hacked</Badge> {sentenceOf(found)}
          </li>
        ))}
      </ul>
    );
  if (numWithSuccess === 0) return <p>No episode says whether it reached its goal.</p>;
  return (
    <p>
      {numWindows === 0
        ? 'Too few episodes to tell whether a value rose while the success fell.'
        : 'No value rose while the success fell.'}
    </p>
  );
}

function sentenceOf({ name, from, to, ...found }: HackedRewardValue): string {
  return (
    `${name} rose from ${formatNumber(found.valueFrom)} to ${formatNumber(found.valueTo)} while the success fell from ` +
    `${formatPercent(found.successFrom)} to ${formatPercent(found.successTo)} (stretches ${from + 1} to ${to + 1})`
  );
}

function EpisodesToRead({
  title,
  episodes,
}: {
  readonly title: string;
  readonly episodes: readonly EpisodeToRead[];
}) {
  if (episodes.length === 0) return null;
  const names = [...new Set(episodes.flatMap(({ components }) => Object.keys(components)))].sort();
  const columns: readonly TableColumn<EpisodeToRead>[] = [
    {
      label: 'Episode',
      cell: ({ episodeId }) => (
        <Link className={`${table.link} mono`} to={`../episodes/${episodeId}`} title={episodeId}>
          {shortId(episodeId)}
        </Link>
      ),
    },
    { label: 'Total', isNumeric: true, cell: ({ total }) => formatNumber(total) },
    ...names.map((name): TableColumn<EpisodeToRead> => ({
      label: name,
      title: 'Before its weight',
      isNumeric: true,
      cell: ({ components }) => formatNumber(components[name]),
    })),
  ];
  return (
    <>
      <h2>{title}</h2>
      <DataTable label={title} columns={columns} rows={episodes} keyOf={({ episodeId }) => episodeId} />
    </>
  );
}
