import type {
  EpisodeRewardChange,
  FlippedGroup,
  RewardDifferences as Differences,
  RewardValueDifference,
} from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { IdLink } from '../components/id-link';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount } from '../format/numbers';
import page from '../components/page.module.css';

const FLIP_COLUMNS: readonly TableColumn<FlippedGroup>[] = [
  {
    label: 'Group',
    cell: ({ groupId }) => <IdLink id={groupId} to={`../episodes?groupId=${groupId}`} />,
  },
  numberColumn('Members', ({ numEpisodes }) => numEpisodes, formatCount),
  numberColumn('Advantage changes sign', ({ numFlipped }) => numFlipped, formatCount),
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
    numberColumn('Compared', ({ numCompared }) => numCompared, formatCount),
    numberColumn(`Only ${labelA}`, ({ numOnlyA }) => numOnlyA, formatCount),
    numberColumn(`Only ${labelB}`, ({ numOnlyB }) => numOnlyB, formatCount),
    numberColumn('Changed', ({ numChanged }) => numChanged, formatCount),
    numberColumn(`Mean, ${labelA}`, ({ meanA }) => meanA),
    numberColumn(`Mean, ${labelB}`, ({ meanB }) => meanB),
    numberColumn('Largest change', ({ maxAbsoluteChange }) => maxAbsoluteChange),
    numberColumn('Spearman’s ρ', ({ spearman }) => spearman),
    numberColumn('Kendall’s τ-b', ({ kendall }) => kendall),
  ];
}

function changeColumns({ labelA, labelB }: Labels): readonly TableColumn<EpisodeRewardChange>[] {
  return [
    {
      label: 'Episode',
      cell: ({ episodeId }) => <IdLink id={episodeId} to={`../episodes/${episodeId}`} />,
    },
    numberColumn(`Total, ${labelA}`, ({ totalA }) => totalA),
    numberColumn(`Total, ${labelB}`, ({ totalB }) => totalB),
  ];
}
