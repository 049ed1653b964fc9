import type { RunAnnotated } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { findRun } from '../../run/find-run.js';
import { withStore } from '../../services/store-session.js';

interface AnnotateOptions extends CommonOptions {
  readonly tags?: readonly string[];
  readonly notes?: string;
  readonly star?: boolean;
  readonly archive?: boolean;
}

/** Changes tags, notes, star or archive of a run. */
export async function annotate(
  wanted: string,
  { dataDir, json, tags, notes, star, archive }: AnnotateOptions,
): Promise<void> {
  const payload: RunAnnotated = {
    ...{ tags: tags ?? null, notes: notes ?? null, starred: star ?? null, archived: archive ?? null },
    source: 'retrace runs annotate',
  };
  if ([tags, notes, star, archive].every((change) => change === undefined))
    throw new CliError('OPTION_INVALID', 'name a change: --tags, --notes, --star or --archive');
  const runId = await withStore({ dataDir, upToDate: false }, async ({ log }) => {
    const { ControlTail } = await import('@retrace/log');
    const run = await findRun(log, wanted);
    const control = new ControlTail(log);
    await control.append(run.runId, { kind: 'RunAnnotated', payload });
    control.close();
    return run.runId;
  });
  console.log(json === true ? JSON.stringify({ runId }) : `changed run ${runId}`);
}
