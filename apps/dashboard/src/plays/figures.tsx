import type { RowOfPlay } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { SuccessInterval } from '../components/success-interval';
import { numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCost, formatCount, formatPercent } from '../format/numbers';
import page from '../components/page.module.css';

const HEAD: readonly TableColumn<RowOfPlay>[] = [
  textColumn('Policy', ({ policy }) => policy),
  textColumn('Environment', ({ environment }) => environment),
  textColumn('Split', ({ split }) => split),
  { label: 'Tasks of', cell: formatPart },
  numberColumn('Success', ({ successRate }) => successRate, formatPercent),
  {
    label: '95 %',
    title: 'Wilson’s interval',
    cell: ({ successLow, successHigh, successRate }) => (
      <SuccessInterval low={successLow} high={successHigh} rate={successRate} />
    ),
  },
  numberColumn('Episodes', ({ numEpisodes }) => numEpisodes, formatCount),
  numberColumn('Failed', ({ numFailed }) => numFailed, formatCount, {
    title: 'Environment, agent or server failed; part of no other figure but the cost',
  }),
];

const TAIL: readonly TableColumn<RowOfPlay>[] = [
  numberColumn('Return', ({ meanReturn }) => meanReturn),
  numberColumn('Steps', ({ meanSteps }) => meanSteps),
  numberColumn('Tokens in', ({ meanInputTokens }) => meanInputTokens),
  numberColumn('Tokens out', ({ meanOutputTokens }) => meanOutputTokens),
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
    ...passes.map((k): TableColumn<RowOfPlay> =>
      numberColumn(`pass@${k}`, ({ passAtK }) => passAtK.find((pass) => pass.k === k)?.pass, formatPercent),
    ),
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

function formatPart({ seed, family }: RowOfPlay): string {
  if (family !== null) return family;
  return seed === null ? 'all' : `seed ${seed}`;
}
