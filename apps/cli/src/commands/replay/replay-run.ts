import type { EngineRecipe } from '@retrace/config';
import type { BackendChoice } from '@retrace/process';
import { replayRun } from '@retrace/trainer';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { openReplaySource } from './replay-source.js';
import { counted } from '../../terminal/counted.js';

interface ReplayRunOptions extends CommonOptions {
  readonly run: string;
  readonly backend?: BackendChoice;
  readonly engine?: EngineRecipe['kind'];
  readonly engineBackend?: EngineRecipe['backend'];
  readonly enginePython?: string;
  readonly engineUrl?: string;
  readonly engineTokenFile?: string;
}

/**
 * Makes all updates of a run again and compares each published policy with the resulting weights. Ctrl-C stops after the update under way.
 *
 * @throws CliError `REPLAY_DIFFERS`; RunsError `RUN_UNKNOWN`
 */
export async function replayWholeRun({ dataDir, json, ...request }: ReplayRunOptions): Promise<void> {
  const report = await withStore({ dataDir }, async (session) => {
    const { numUpdates: numRecorded, recipe: _, ...source } = await openReplaySource(session, request);
    const replayed = await withInterrupt((signal) =>
      replayRun({
        ...source,
        signal,
        ...(json === true ? {} : { onUpdate: (n, isExact) => printProgress(n, numRecorded, isExact) }),
      }),
    );
    return { runId: source.runId, numRecorded, ...replayed };
  });
  const { numUpdates, numRecorded, numPolicies, differing } = report;
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else {
    console.log(
      `${numUpdates} of ${counted(numRecorded, 'update')} made again; ${counted(numPolicies, 'policy', 'policies')} compared`,
    );
    if (differing.length === 0) console.log('weights: bit-identical');
    else {
      const rows = differing.map((policy) => [
        policy.policyVersion,
        policy.publishedSha256.slice(0, 12),
        policy.replayedSha256.slice(0, 12),
      ]);
      console.log(renderTable(['policy', 'published', 'replayed'], rows));
    }
  }
  if (differing.length > 0) {
    const what = `${differing.length} of ${numPolicies} policies have other weights than were published`;
    throw new CliError('REPLAY_DIFFERS', `${what}, the first is version ${differing[0].policyVersion}`);
  }
}

function printProgress(updateNumber: number, numUpdates: number, isExact: boolean): void {
  console.error(`update ${updateNumber} of ${numUpdates}: ${isExact ? 'equal' : 'other weights'}`);
}
