import type { WhatIfUpdateDto } from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { formatNumber, formatPercent } from '../format/numbers';

type Side = 'recorded' | 'changed';

/** A metric of one side of a compared update; null where it has none. */
function metricOf({ metrics }: WhatIfUpdateDto, wanted: string, side: Side): number | null {
  return metrics.find(({ name }) => name === wanted)?.[side] ?? null;
}

function metricColumns(
  label: string,
  metric: string,
  format: (value: number | null) => string = formatNumber,
): TableColumn<WhatIfUpdateDto>[] {
  const column = (side: Side, suffix: string): TableColumn<WhatIfUpdateDto> => ({
    label: label + suffix,
    isNumeric: true,
    cell: (update) => format(metricOf(update, metric, side)),
  });
  return [column('recorded', ''), column('changed', ', changed')];
}

const COLUMNS: readonly TableColumn<WhatIfUpdateDto>[] = [
  { label: 'Update', isNumeric: true, cell: ({ updateNumber }) => updateNumber },
  {
    label: 'Cosine',
    title: 'Of the gradients of the whole batch, at the weights that the update starts from',
    isNumeric: true,
    cell: ({ gradient }) => formatNumber(gradient.cosine),
  },
  { label: 'Norm', isNumeric: true, cell: ({ gradient }) => formatNumber(gradient.recordedNorm) },
  { label: 'Norm, changed', isNumeric: true, cell: ({ gradient }) => formatNumber(gradient.changedNorm) },
  ...metricColumns('Clipped', 'train/clipFraction', (value) => formatPercent(value)),
  ...metricColumns('Loss', 'train/loss'),
  {
    label: 'Max |ΔA|',
    title: 'Largest difference of the advantages of a token',
    isNumeric: true,
    cell: ({ tokens }) => formatNumber(tokens.maxAdvantageDifference),
  },
  {
    label: 'Flipped',
    title: 'Share of the tokens whose advantages have opposite signs',
    isNumeric: true,
    cell: ({ tokens }) => formatPercent(tokens.flippedFraction),
  },
  {
    label: 'Made again',
    title: 'Whether the recorded update, made again, gave the recorded weights',
    isMuted: true,
    cell: ({ sameWeights }) => (sameWeights ? 'bit for bit' : 'with other rounding'),
  },
];

/** A line for each compared update. */
export function ComparedUpdates({ updates }: { readonly updates: readonly WhatIfUpdateDto[] }) {
  return (
    <DataTable
      label="Updates, recorded and changed"
      columns={COLUMNS}
      rows={updates}
      keyOf={({ updateNumber }) => `${updateNumber}`}
    />
  );
}
