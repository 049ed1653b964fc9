import { Link } from 'react-router';
import type {
  EpisodeRewardChange,
  FlippedGroup,
  RewardDifferences as Differences,
  RewardValueDifference,
} from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
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

/** Where two reward versions differ. */
export function RewardDifferences({ found }: { readonly found: Differences }) {
  const { nameA, nameB, values, mostChanged, numGroups, numGroupsFlipped, mostFlipped } = found;
  return (
    <>
      <h2>
        {nameA} against {nameB}
      </h2>
      <DataTable
        label="Values compared"
        columns={valueColumns(found)}
        rows={values}
        keyOf={({ name }) => name}
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
            columns={changeColumns(found)}
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

type Names = Pick<Differences, 'nameA' | 'nameB'>;

function valueColumns({ nameA, nameB }: Names): readonly TableColumn<RewardValueDifference>[] {
  return [
    {
      label: 'Value',
      cell: ({ name, numCompared, numOnlyA }) =>
        numCompared > 0 ? name : `${name} (only ${numOnlyA > 0 ? nameA : nameB})`,
    },
    { label: 'Episodes', isNumeric: true, cell: ({ numCompared }) => formatCount(numCompared) },
    { label: 'Changed', isNumeric: true, cell: ({ numChanged }) => formatCount(numChanged) },
    { label: nameA, title: 'Mean', isNumeric: true, cell: ({ meanA }) => formatNumber(meanA) },
    { label: nameB, title: 'Mean', isNumeric: true, cell: ({ meanB }) => formatNumber(meanB) },
    {
      label: 'Largest change',
      isNumeric: true,
      cell: ({ maxAbsoluteChange }) => formatNumber(maxAbsoluteChange),
    },
    { label: 'ρ', title: 'Spearman', isNumeric: true, cell: ({ spearman }) => formatNumber(spearman) },
    { label: 'τ', title: 'Kendall’s τ-b', isNumeric: true, cell: ({ kendall }) => formatNumber(kendall) },
  ];
}

function changeColumns({ nameA, nameB }: Names): readonly TableColumn<EpisodeRewardChange>[] {
  return [
    {
      label: 'Episode',
      cell: ({ episodeId }) => (
        <Link className={`${table.link} mono`} to={`../episodes/${episodeId}`} title={episodeId}>
          {shortId(episodeId)}
        </Link>
      ),
    },
    { label: nameA, isNumeric: true, cell: ({ totalA }) => formatNumber(totalA) },
    { label: nameB, isNumeric: true, cell: ({ totalB }) => formatNumber(totalB) },
  ];
}
