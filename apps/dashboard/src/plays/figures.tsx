import type { RowOfPlay } from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { SuccessInterval } from '../components/success-interval';
import { formatCost, formatCount, formatNumber, formatPercent } from '../format/numbers';
import page from '../pages/page.module.css';

const HEAD: readonly TableColumn<RowOfPlay>[] = [
  { label: 'Policy', cell: ({ policy }) => policy },
  { label: 'Environment', cell: ({ environment }) => environment },
  { label: 'Split', cell: ({ split }) => split },
  { label: 'Tasks of', cell: partOf },
  { label: 'Success', isNumeric: true, cell: ({ successRate }) => formatPercent(successRate) },
  {
    label: '95 %',
    title: 'Wilson’s interval',
    cell: ({ successLow, successHigh, successRate }) => (
      <SuccessInterval low={successLow} high={successHigh} rate={successRate} />
    ),
  },
  { label: 'Episodes', isNumeric: true, cell: ({ numEpisodes }) => formatCount(numEpisodes) },
  {
    label: 'Failed',
    title: 'Environment, agent or server failed; part of no other figure but the cost',
    isNumeric: true,
    cell: ({ numFailed }) => formatCount(numFailed),
  },
];

const TAIL: readonly TableColumn<RowOfPlay>[] = [
  { label: 'Return', isNumeric: true, cell: ({ meanReturn }) => formatNumber(meanReturn) },
  { label: 'Steps', isNumeric: true, cell: ({ meanSteps }) => formatNumber(meanSteps) },
  { label: 'Tokens in', isNumeric: true, cell: ({ meanInputTokens }) => formatNumber(meanInputTokens) },
  { label: 'Tokens out', isNumeric: true, cell: ({ meanOutputTokens }) => formatNumber(meanOutputTokens) },
  {
    label: 'Cost',
    isNumeric: true,
    cell: ({ costUsd }) => (costUsd === null ? '–' : formatCost(costUsd)),
  },
];

/** Figures of each policy, environment and split, with their parts by seed and family. */
export function Figures({ rows }: { readonly rows: readonly RowOfPlay[] }) {
  const ks = [...new Set(rows.flatMap(({ passAtK }) => passAtK.map(({ k }) => k)))];
  const passes = ks.filter((k) => k > 1).sort((a, b) => a - b);
  const columns = [
    ...HEAD,
    ...passes.map((k): TableColumn<RowOfPlay> => ({
      label: `pass@${k}`,
      isNumeric: true,
      cell: ({ passAtK }) => formatPercent(passAtK.find((pass) => pass.k === k)?.pass),
    })),
    ...TAIL,
  ];
  return (
    <>
      <DataTable label="Figures" columns={columns} rows={rows} />
      <p className={page.subtle}>
        Success has Wilson’s 95 % interval, in which attempts at one task that end alike count as fewer
        episodes.
      </p>
    </>
  );
}

function partOf({ seed, family }: RowOfPlay): string {
  if (family !== null) return family;
  return seed === null ? 'all' : `seed ${seed}`;
}
