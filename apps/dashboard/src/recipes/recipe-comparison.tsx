import { useSearch } from '../as-of/shown-moment';
import { useRecipeDifferences, useRuns } from '../api/queries';
import type { DifferingRecipeField } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { ErrorState, Loading } from '../components/notice';
import { Select } from '../components/select';
import { codeColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatMoment } from '../format/times';
import page from '../components/page.module.css';

/** The run to compare with, as the address names it. */
const PARAMETER = 'with';

/** Chooses another run, and lists the fields in which its recipe differs from that of this run. */
export function RecipeComparison({ runId }: { readonly runId: string }) {
  const [search, setSearch] = useSearch();
  const otherRunId = search.get(PARAMETER) ?? '';
  const { data } = useRuns({ kind: 'trained', archived: 'all' });
  const others = (data?.pages ?? []).flatMap(({ items }) => items).filter((run) => run.runId !== runId);
  if (others.length === 0 && otherRunId === '') return null;
  const options = others.map((run) => ({
    value: run.runId,
    label: `${run.name} · ${formatMoment(run.startedAt)}`,
  }));
  return (
    <div className={page.stack}>
      <Select
        label="Compare with"
        value={otherRunId}
        options={[{ value: '', label: 'no other run' }, ...options]}
        onChange={(chosen) => setSearch(chosen === '' ? {} : { [PARAMETER]: chosen }, { replace: true })}
      />
      {otherRunId !== '' && <Differences runId={runId} otherRunId={otherRunId} />}
    </div>
  );
}

const COLUMNS: readonly TableColumn<DifferingRecipeField>[] = [
  codeColumn('Field', ({ field }) => field),
  codeColumn('This run', ({ first }) => show(first)),
  codeColumn('Other run', ({ second }) => show(second)),
];

function Differences({ runId, otherRunId }: { readonly runId: string; readonly otherRunId: string }) {
  const { data, error, refetch } = useRecipeDifferences(runId, otherRunId);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading label="Comparing the recipes" rows={3} />;
  if (data.length === 0) return <p className={page.subtle}>The recipes are equal.</p>;
  return <DataTable label="Differences" columns={COLUMNS} rows={data} keyOf={({ field }) => field} />;
}

function show(value: unknown): string {
  return value === null ? '–' : JSON.stringify(value);
}
