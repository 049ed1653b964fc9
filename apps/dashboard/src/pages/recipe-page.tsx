import { Stat, StatRow } from '../components/stat';
import { formatPercent } from '../format/numbers';
import { formatMoment } from '../format/times';
import { useRunOfPage } from './run-layout';
import { JsonTree } from '../components/json-tree';
import table from '../components/table.module.css';
import page from './page.module.css';

/** Everything that defines the run, as it was saved with it. */
export function RecipePage() {
  const run = useRunOfPage();
  return (
    <div className={page.stack}>
      <StatRow>
        <Stat label="Recipe hash" title={run.recipeHash}>
          <span className="mono">{run.recipeHash.slice(0, 12)}</span>
        </Stat>
        <Stat label="Seed">{run.seed}</Stat>
        <Stat label="Started">
          <small>{formatMoment(run.startedAt)}</small>
        </Stat>
        <Stat label="Ended">
          <small>{formatMoment(run.endedAt)}</small>
        </Stat>
      </StatRow>
      {run.baselines.length > 0 && (
        <section className={page.card} aria-label="Baselines">
          <h2>Baselines</h2>
          <div className={page.scroll}>
            <table className={table.table}>
              <thead>
                <tr>
                  <th scope="col">Agent</th>
                  <th scope="col" className={table.number}>
                    Success
                  </th>
                  <th scope="col" className={table.number}>
                    Episodes
                  </th>
                  <th scope="col">Split</th>
                </tr>
              </thead>
              <tbody>
                {run.baselines.map((baseline) => (
                  <tr key={`${baseline.name} ${baseline.split}`}>
                    <td>{baseline.name}</td>
                    <td className={table.number}>{formatPercent(baseline.success)}</td>
                    <td className={table.number}>{baseline.numEpisodes}</td>
                    <td>{baseline.split}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      <section className={page.card} aria-label="Recipe">
        <JsonTree value={run.recipe} />
      </section>
    </div>
  );
}
