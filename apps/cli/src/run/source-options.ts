import type { DataSourceRecipe } from '@retrace/config';
import { CliError } from '../cli-error.js';

/** Options of a training run that has only stored episodes. */
export interface SourceOptions {
  readonly from?: string;
  readonly fromRun?: string;
  readonly fromDataset?: string;
}

/**
 * The stored source that the options name; null where they name none.
 *
 * @throws CliError `OPTION_INVALID` for more than one
 */
export function readSource({ from, fromRun, fromDataset }: SourceOptions): DataSourceRecipe | null {
  const sources: DataSourceRecipe[] = [
    ...(from === undefined ? [] : [{ from: 'query', query: from } as const]),
    ...(fromRun === undefined ? [] : [{ from: 'run', run: fromRun } as const]),
    ...(fromDataset === undefined ? [] : [{ from: 'dataset', dataset: fromDataset } as const]),
  ];
  if (sources.length > 1) {
    throw new CliError(
      'OPTION_INVALID',
      'only one of --from, --from-run and --from-dataset can be given; a recipe with "data" mixes several sources',
    );
  }
  return sources[0] ?? null;
}
