import type { CSSProperties } from 'react';
import type { SqlPlan, SqlPlanStep, SqlPlannedTable } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatPercent } from '../format/numbers';
import page from '../components/page.module.css';
import { adviceOn, describeIndex, describeRead, formatBytes, stepName, listViews } from './plan-text';
import styles from './plan-view.module.css';

const COLUMNS: readonly TableColumn<SqlPlannedTable>[] = [
  { label: 'Table', cell: ({ table }) => <code>{table}</code> },
  numberColumn('Rows read', ({ numRows }) => numRows, formatCount),
  numberColumn('Rows of the table', ({ totalRows }) => totalRows, formatCount),
  numberColumn('Share', ({ numRows, totalRows }) => (totalRows ? numRows / totalRows : null), formatPercent),
  {
    label: 'At most',
    title: 'Compressed bytes of these rows in all columns; a query that names few columns reads less',
    isNumeric: true,
    cell: ({ maxBytes }) => (maxBytes === null ? '–' : formatBytes(maxBytes)),
  },
  numberColumn('Parts', ({ numParts }) => numParts, formatCount),
  numberColumn('Granules', ({ numGranules }) => numGranules, formatCount, {
    title: 'The least that is read: some thousand rows',
  }),
];

/** Shows how much a query will read, and the steps from there to its result. */
export function PlanView({ plan }: { readonly plan: SqlPlan }) {
  const { tables, steps } = plan;
  const views = listViews(plan);
  const advice = adviceOn(plan);
  return (
    <section className={`${page.card} ${styles.plan}`} aria-label="Plan of the query">
      <h2>What it reads</h2>
      <ul>
        {tables.map((read) => (
          <li key={read.table}>{describeRead(read, steps)}.</li>
        ))}
        {tables.length === 0 && <li>Reads no rows: the engine knows the answer.</li>}
        {views.length > 0 && <li className={page.subtle}>Through {views.join(', ')}.</li>}
        {advice !== null && <li className={styles.advice}>{advice}</li>}
      </ul>
      {tables.length > 0 && (
        <DataTable
          label="Tables that are read"
          columns={COLUMNS}
          rows={tables}
          keyOf={({ table }) => table}
        />
      )}
      <h2>How it is answered</h2>
      <ol aria-label="Steps, the last ones first" className={styles.steps}>
        {steps.map((step, i) => (
          <Step key={i} {...step} />
        ))}
      </ol>
    </section>
  );
}

function Step({ depth, name, detail, indexes }: SqlPlanStep) {
  return (
    <li className={styles.step} style={{ '--depth': depth } as CSSProperties}>
      <span title={name}>{stepName(name)}</span> {detail !== '' && <code>{detail}</code>}
      {indexes.map((index, i) => (
        <div key={i} className={page.subtle}>
          {describeIndex(index)}
          {index.condition !== 'true' && (
            <>
              , by <code>{index.condition}</code>
            </>
          )}
        </div>
      ))}
    </li>
  );
}
