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
  /** Of the list of runs, which takes it after a subcommand, too. */
  readonly archived?: true;
}

/** Changes tags, notes, star or archive of a run. */
export async function annotate(
  wanted: string,
  { dataDir, json, tags, notes, star, archive, archived }: AnnotateOptions,
): Promise<void> {
  if (archived === true)
    throw new CliError('OPTION_INVALID', '--archived lists archived runs; --archive archives this one');
  if ([tags, notes, star, archive].every((change) => change === undefined))
    throw new CliError('OPTION_INVALID', 'name a change: --tags, --notes, --star or --archive');
  const { ANNOTATE_RUN_REQUEST, requireRequest } = await import('@retrace/recording');
  const asked = { tags, notes, starred: star, archived: archive };
  const changes = Object.fromEntries(Object.entries(asked).filter(([, change]) => change !== undefined));
  requireRequest(ANNOTATE_RUN_REQUEST, changes);
  const unchanged = { tags: null, notes: null, starred: null, archived: null };
  const payload: RunAnnotated = { ...unchanged, ...changes, source: 'retrace runs annotate' };
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
