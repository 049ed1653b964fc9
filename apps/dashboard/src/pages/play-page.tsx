import { useParams } from 'react-router';
import { usePlay } from '../api/queries';
import type { PlayDetail, RunOfPlay } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import { numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { formatCount } from '../format/numbers';
import { formatMoment } from '../format/times';
import { Comparisons } from '../plays/comparisons';
import { Figures } from '../plays/figures';
import page from '../components/page.module.css';

const RUN_COLUMNS: readonly TableColumn<RunOfPlay>[] = [
  {
    label: 'Policy',
    cell: ({ policy, runId }) => (
      <Link className={table.link} to={`/runs/${runId}/episodes`}>
        {policy}
      </Link>
    ),
  },
  {
    label: 'Which is',
    isMuted: true,
    cell: ({ description }) => <span className="mono">{description}</span>,
  },
  textColumn('Environment', ({ environment }) => environment),
  { label: 'Sampling', cell: ({ greedy }) => (greedy ? 'greedy' : 'sampled') },
  numberColumn('Ended', ({ numEnded }) => numEnded, formatCount),
  numberColumn('Planned', ({ numPlanned }) => numPlanned, formatCount),
];

/** A play: the figures of its policies, and their comparison task by task. */
export function PlayPage() {
  const { playId = '' } = useParams();
  useTitle('Evaluation');
  const { data, error, isPending, refetch } = usePlay(playId);
  if (isPending) return <Loading label="Loading the evaluation" rows={9} />;
  if (!data) return <ErrorState heading="h1" error={error} onRetry={() => void refetch()} />;
  return (
    <div className={page.stack}>
      <h1>{formatTitle(data)}</h1>
      <p className={page.subtle}>
        {formatMoment(data.startedAt)}
        {data.isComplete ? '' : ' · incomplete: not all planned episodes have ended'}
      </p>
      <Figures rows={data.rows} />
      {data.comparisons.length > 0 && <Comparisons comparisons={data.comparisons} />}
      <h2>Episodes</h2>
      <DataTable label="Episodes" columns={RUN_COLUMNS} rows={data.runs} keyOf={({ runId }) => runId} />
    </div>
  );
}

function formatTitle({ runs }: PlayDetail): string {
  const policies = [...new Set(runs.map(({ policy }) => policy))];
  const environments = [...new Set(runs.map(({ environment }) => environment))];
  return `${policies.join(', ')} in ${environments.join(', ')}`;
}
