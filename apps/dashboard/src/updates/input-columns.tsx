import type { UpdateInput } from '../api-types/schema';
import { Badge } from '../components/badge';
import { IdLink } from '../components/id-link';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';

/** Columns of the episodes that fed an update; their sort keys are those of the API. */
export function inputColumns(runId: string, updateNumber: number): readonly TableColumn<UpdateInput>[] {
  return [
    {
      label: 'Episode',
      cell: ({ episodeRunId, episodeId }) => (
        <IdLink
          id={episodeId}
          to={`/runs/${episodeRunId}/episodes/${episodeId}?${ofUpdate(episodeRunId, runId, updateNumber)}`}
        />
      ),
    },
    ...OTHER_COLUMNS,
  ];
}

/** Has the episode's page show its tokens as the update trained them. */
function ofUpdate(episodeRunId: string, runId: string, updateNumber: number): string {
  return `update=${updateNumber}${episodeRunId === runId ? '' : `&of=${runId}`}`;
}

const OTHER_COLUMNS: readonly TableColumn<UpdateInput>[] = [
  {
    label: 'Group',
    isMuted: true,
    cell: ({ groupId }) => <IdLink id={groupId} to={`../episodes?groupId=${groupId}`} />,
  },
  {
    label: 'Share',
    title:
      'Of the sum of trained tokens × importance weight × root mean square of the advantage: how much of the gradient may come from it',
    isNumeric: true,
    sortKey: 'share',
    cell: ({ share }) => formatPercent(share),
  },
  { label: 'Success', cell: ({ success }) => <Outcome success={success} /> },
  {
    label: 'Return',
    title: 'Sum of the rewards of the environment',
    isNumeric: true,
    sortKey: 'return',
    cell: (row) => formatNumber(row.return),
  },
  {
    label: 'Age',
    title: 'Policy versions between the oldest one that sampled it and the one that the update started from',
    isNumeric: true,
    sortKey: 'age',
    cell: ({ age }) => formatCount(age),
  },
  {
    label: 'Steps',
    isNumeric: true,
    cell: ({ firstStep, numSteps }) =>
      firstStep === 0 ? formatCount(numSteps) : `${firstStep}–${firstStep + numSteps - 1}`,
  },
  {
    label: 'Trained',
    title: 'How often each epoch of optimizer steps trained it; 0: it was left out',
    isNumeric: true,
    cell: ({ times }) => `${times} ×`,
  },
  {
    label: 'Tokens',
    title: 'Action tokens that the loss counted',
    isNumeric: true,
    sortKey: 'tokens',
    cell: ({ numTokens }) => formatCount(numTokens),
  },
  {
    label: 'Weight',
    title: 'Mean importance weight of those tokens',
    isNumeric: true,
    sortKey: 'weight',
    cell: ({ weight }) => formatNumber(weight),
  },
  {
    label: 'Ratio',
    title:
      'Mean probability ratio π/π_old over those tokens and all optimizer steps, where the recipe has updateTokens',
    isNumeric: true,
    sortKey: 'ratio',
    cell: ({ ratio }) => formatNumber(ratio),
  },
  {
    label: 'Advantage',
    title: 'Mean over those tokens',
    isNumeric: true,
    sortKey: 'advantage',
    cell: ({ advantageMean }) => formatNumber(advantageMean),
  },
  { label: '±', title: 'Deviation', isNumeric: true, cell: (row) => formatNumber(row.advantageDeviation) },
  { label: 'Least', isNumeric: true, isMuted: true, cell: (row) => formatNumber(row.advantageMin) },
  { label: 'Most', isNumeric: true, isMuted: true, cell: (row) => formatNumber(row.advantageMax) },
];

/** Keys that the episodes can be sorted by, as the address names them. */
export const INPUT_SORTS = OTHER_COLUMNS.flatMap(({ sortKey = [] }) => sortKey);

function Outcome({ success }: Pick<UpdateInput, 'success'>) {
  if (success === null) return '–';
  return success ? <Badge tone="good">Success</Badge> : <Badge tone="bad">Failure</Badge>;
}
