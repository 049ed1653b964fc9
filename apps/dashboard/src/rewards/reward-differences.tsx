import type {
  EpisodeRewardChange,
  FlippedGroup,
  RewardDifferences as Differences,
  RewardValueDifference,
} from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { Link } from '../components/link';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatCount, formatNumber } from '../format/numbers';
import page from '../pages/page.module.css';

const FLIP_COLUMNS: readonly TableColumn<FlippedGroup>[] = [
  {
    label: 'Group',
    cell: ({ groupId }) => (
      <Link className={`${table.link} mono`} to={`../episodes?groupId=${groupId}`} title={groupId}>
        {shortId(groupId)}
      </Link>
    ),
  },
  { label: 'Members', isNumeric: true, cell: ({ numEpisodes }) => formatCount(numEpisodes) },
  { label: 'Advantage changes sign', isNumeric: true, cell: ({ numFlipped }) => formatCount(numFlipped) },
];

interface Labels {
  readonly labelA: string;
  readonly labelB: string;
}

/** Where two reward versions differ. */
export function RewardDifferences({ found, ...labels }: { readonly found: Differences } & Labels) {
  const { values, mostChanged, numGroups, numGroupsFlipped, mostFlipped } = found;
  return (
    <>
      <h2>
        {labels.labelA} against {labels.labelB}
      </h2>
      <DataTable
        label="Values compared"
        columns={valueColumns(labels)}
        rows={values}
        keyOf={({ kind, name }) => `${kind} ${name}`}
      />
      <p className={page.subtle}>
        {formatCount(numGroupsFlipped)} of {formatCount(numGroups)} groups have members whose advantage
        changes its sign.
      </p>
      {mostChanged.length > 0 && (
        <>
          <h2>Episodes that changed most</h2>
          <DataTable
            label="Episodes that changed most"
            columns={changeColumns(labels)}
            rows={mostChanged}
            keyOf={({ episodeId }) => episodeId}
          />
        </>
      )}
      {mostFlipped.length > 0 && (
        <>
          <h2>Groups whose advantages change sign</h2>
          <DataTable
            label="Groups whose advantages change sign"
            columns={FLIP_COLUMNS}
            rows={mostFlipped}
            keyOf={({ groupId }) => groupId}
          />
        </>
      )}
    </>
  );
}

function valueColumns({ labelA, labelB }: Labels): readonly TableColumn<RewardValueDifference>[] {
  return [
    { label: 'Value', cell: ({ kind, name }) => (kind === 'total' ? <b>total</b> : name) },
    { label: 'Compared', isNumeric: true, cell: ({ numCompared }) => formatCount(numCompared) },
    { label: `Only ${labelA}`, isNumeric: true, cell: ({ numOnlyA }) => formatCount(numOnlyA) },
    { label: `Only ${labelB}`, isNumeric: true, cell: ({ numOnlyB }) => formatCount(numOnlyB) },
    { label: 'Changed', isNumeric: true, cell: ({ numChanged }) => formatCount(numChanged) },
    { label: `Mean, ${labelA}`, isNumeric: true, cell: ({ meanA }) => formatNumber(meanA) },
    { label: `Mean, ${labelB}`, isNumeric: true, cell: ({ meanB }) => formatNumber(meanB) },
    {
      label: 'Largest change',
      isNumeric: true,
      cell: ({ maxAbsoluteChange }) => formatNumber(maxAbsoluteChange),
    },
    { label: 'Spearman’s ρ', isNumeric: true, cell: ({ spearman }) => formatNumber(spearman) },
    { label: 'Kendall’s τ-b', isNumeric: true, cell: ({ kendall }) => formatNumber(kendall) },
  ];
}

function changeColumns({ labelA, labelB }: Labels): readonly TableColumn<EpisodeRewardChange>[] {
  return [
    {
      label: 'Episode',
      cell: ({ episodeId }) => (
        <Link className={`${table.link} mono`} to={`../episodes/${episodeId}`} title={episodeId}>
          {shortId(episodeId)}
        </Link>
      ),
    },
    { label: `Total, ${labelA}`, isNumeric: true, cell: ({ totalA }) => formatNumber(totalA) },
    { label: `Total, ${labelB}`, isNumeric: true, cell: ({ totalB }) => formatNumber(totalB) },
  ];
}
