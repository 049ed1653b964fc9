import type { RunBaseline } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { JsonTree } from '../components/json-tree';
import { Stat, StatRow } from '../components/stat';
import { numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatPercent } from '../format/numbers';
import { formatMoment } from '../format/times';
import { RecipeComparison } from '../recipes/recipe-comparison';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

const BASELINE_COLUMNS: readonly TableColumn<RunBaseline>[] = [
  textColumn('Agent', ({ name }) => name),
  numberColumn('Success rate', ({ success }) => success, formatPercent),
  numberColumn('Episodes', ({ numEpisodes }) => numEpisodes, formatCount),
  textColumn('Split', ({ split }) => split),
];

/** The recipe that was saved with the run, and the baselines that were measured beside it. */
export function RecipePage() {
  const run = useRunOfPage();
  return (
    <div className={page.stack}>
      <StatRow>
        <Stat label="Recipe hash" note={run.recipeHash}>
          <span className="mono">{run.recipeHash.slice(0, 12)}</span>
        </Stat>
        <Stat label="Seed">{run.seed}</Stat>
        <Stat label="Code version">
          <span className="mono">{run.codeVersion}</span>
        </Stat>
        <Stat label="Started">
          <small>{formatMoment(run.startedAt)}</small>
        </Stat>
        <Stat label="Ended">
          <small>{formatMoment(run.endedAt)}</small>
        </Stat>
      </StatRow>
      {run.baselines.length > 0 && (
        <div className={page.stack}>
          <h2>Baselines</h2>
          <DataTable
            label="Baselines"
            columns={BASELINE_COLUMNS}
            rows={run.baselines}
            keyOf={({ name, split }) => `${name} ${split}`}
          />
        </div>
      )}
      <RecipeComparison runId={run.runId} />
      <section className={page.card} aria-label="Recipe">
        <JsonTree value={run.recipe} />
      </section>
    </div>
  );
}
