import type { WhatIfUpdateDto } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatNumber, formatPercent } from '../format/numbers';

type Side = 'recorded' | 'changed';

/** A metric of one side of a compared update; null where it has none. */
function findMetric({ metrics }: WhatIfUpdateDto, wanted: string, side: Side): number | null {
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
    cell: (update) => format(findMetric(update, metric, side)),
  });
  return [column('recorded', ''), column('changed', ', changed')];
}

const COLUMNS: readonly TableColumn<WhatIfUpdateDto>[] = [
  { label: 'Update', isNumeric: true, cell: ({ updateNumber }) => updateNumber },
  numberColumn('Cosine', ({ gradient }) => gradient.cosine, formatNumber, {
    title: 'Of the gradients of the whole batch, at the weights that the update starts from',
  }),
  numberColumn('Norm', ({ gradient }) => gradient.recordedNorm),
  numberColumn('Norm, changed', ({ gradient }) => gradient.changedNorm),
  ...metricColumns('Clipped', 'train/clipFraction', (value) => formatPercent(value)),
  ...metricColumns('Loss', 'train/loss'),
  numberColumn('Max |ΔA|', ({ tokens }) => tokens.maxAdvantageDifference, formatNumber, {
    title: 'Largest difference of the advantages of a token',
  }),
  numberColumn('Flipped', ({ tokens }) => tokens.flippedFraction, formatPercent, {
    title: 'Share of the tokens whose advantages have opposite signs',
  }),
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
