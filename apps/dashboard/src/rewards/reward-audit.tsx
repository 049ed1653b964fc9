import type {
  AuditedRewardValue,
  EpisodeToRead,
  HackedRewardValue,
  RewardAuditReport,
} from '../api-types/schema';
import { Badge } from '../components/badge';
import { DataTable } from '../components/data-table';
import { IdLink } from '../components/id-link';
import { Stat, StatRow } from '../components/stat';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import page from '../components/page.module.css';
import { StretchCharts } from './stretch-charts';

const VALUE_COLUMNS: readonly TableColumn<AuditedRewardValue>[] = [
  {
    label: 'Value times weight',
    cell: ({ kind, name }) => (kind === 'total' ? <b>total</b> : name),
  },
  numberColumn('Episodes', ({ numEpisodes }) => numEpisodes, formatCount),
  numberColumn('Mean', ({ mean }) => mean),
  numberColumn('Of successes', ({ meanOfSuccesses }) => meanOfSuccesses),
  numberColumn('Of failures', ({ meanOfFailures }) => meanOfFailures),
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
          note="Share of the failures whose total is at least the median total of the successes"
        >
          {formatPercent(paidFailures)}
        </Stat>
        <Stat label="Values that pay failures more">
          {values.some(hasBothMeans)
            ? formatCount(values.filter(({ paysFailures }) => paysFailures).length)
            : '–'}
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
          Checked {formatCount(audit.numWindows)} windows of ten stretches in a row for a value that rises (ρ
          with time at least 0.6) while the success falls (at most −0.6).
        </p>
      )}
      <EpisodesToRead title="Failures with the highest totals" episodes={audit.richestFailures} />
      <EpisodesToRead title="Successes with the lowest totals" episodes={audit.poorestSuccesses} />
    </>
  );
}

function hasBothMeans({ meanOfSuccesses, meanOfFailures }: AuditedRewardValue): boolean {
  return meanOfSuccesses !== null && meanOfFailures !== null;
}

function Hacked({
  audit: { hacked, numWindows, numWithSuccess, stretches },
}: {
  readonly audit: RewardAuditReport;
}) {
  if (hacked.length > 0)
    return (
      <ul className={page.stack}>
        {hacked.map((found) => (
          <li key={`${found.kind} ${found.name}`}>
            <Badge tone="bad">possible reward hacking</Badge> {formatSentence(found)}
          </li>
        ))}
      </ul>
    );
  if (numWithSuccess === 0) return <p>No episode says whether it reached its goal.</p>;
  return (
    <p>
      {numWindows > 0
        ? 'No value rose while the success fell.'
        : stretches.length < 10
          ? 'Too few episodes to tell whether a value rose while the success fell.'
          : 'Success is unknown in too many stretches to tell whether a value rose while it fell.'}
    </p>
  );
}

function formatSentence({ name, from, to, ...found }: HackedRewardValue): string {
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
      cell: ({ episodeId }) => <IdLink id={episodeId} to={`../episodes/${episodeId}`} />,
    },
    numberColumn('Total', ({ total }) => total),
    ...names.map((name): TableColumn<EpisodeToRead> =>
      numberColumn(name, ({ components }) => components[name], formatNumber, { title: 'Before its weight' }),
    ),
  ];
  return (
    <>
      <h2>{title}</h2>
      <DataTable label={title} columns={columns} rows={episodes} keyOf={({ episodeId }) => episodeId} />
    </>
  );
}
