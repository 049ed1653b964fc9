import { readControlState, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import type { PolicyPublished, RunState } from '@retrace/trajectory';
import { selectRun, type OnChosen } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';

interface FoundPolicy {
  /** The run that published it. */
  readonly run: RunState;
  readonly policy: PolicyPublished;
}

interface FindOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly onChosen?: OnChosen;
}

/**
 * Finds a stored policy version: a number or `latest` of `run`, or of any other run of the log, as `<run>/<version>`.
 *
 * @throws RunsError `POLICY_UNKNOWN`, `RUN_UNKNOWN`; `POLICY_REMOVED` when its weights are not kept any more
 */
export async function findPolicy(
  run: RunState,
  wanted: string,
  { log, checkpoints, onChosen }: FindOptions,
): Promise<FoundPolicy> {
  const slash = wanted.lastIndexOf('/');
  const publisher =
    slash === -1 ? run : selectRun((await readControlState(log)).runs, wanted.slice(0, slash), { onChosen });
  const version = wanted.slice(slash + 1);
  const { policies, runId } = publisher;
  const policy =
    version === 'latest' ? policies.latest : /^\d+$/.test(version) ? policies.get(Number(version)) : null;
  if (policy) {
    await requireWeights(publisher, policy, checkpoints);
    return { run: publisher, policy };
  }
  const newest = policies.latest?.policyVersion;
  throw new RunsError(
    'POLICY_UNKNOWN',
    `policy ${version} of run ${runId} does not exist; ` +
      (newest === undefined ? 'the run has published none' : `the run has versions 0 … ${newest}`),
  );
}

/**
 * Requires that the weights of a policy version are among the checkpoints.
 *
 * @throws RunsError `POLICY_REMOVED` when they are not kept any more
 */
export async function requireWeights(
  { runId, started, policies }: RunState,
  { policyVersion, weights, location }: PolicyPublished,
  checkpoints: CheckpointFiles,
): Promise<void> {
  const what = `policy ${policyVersion} of run ${runId}`;
  if (started.runKind === 'recorded') {
    const where = location === '' ? '' : `, at ${location}`;
    throw new RunsError(
      'POLICY_REMOVED',
      `${what}: a trainer outside keeps its weights${where}; none are here`,
    );
  }
  const kept = await keptPolicies({ policies }, checkpoints);
  if (kept.some((policy) => policy.weights.sha256 === weights.sha256)) return;
  throw new RunsError(
    'POLICY_REMOVED',
    `${what}: its weights are not kept; recipe field checkpoint.weights says which are: ` +
      (kept.length === 0 ? 'none is there' : describeNumbers(kept.map((policy) => policy.policyVersion))),
  );
}

/** The policies of a run whose weights are among the checkpoints, oldest first. */
export async function keptPolicies(
  { policies }: Pick<RunState, 'policies'>,
  checkpoints: CheckpointFiles,
): Promise<PolicyPublished[]> {
  const present = new Set((await checkpoints.list()).map(({ sha256 }) => sha256));
  return [...policies.all()].filter((policy) => present.has(policy.weights.sha256));
}

/** Ascending whole numbers as `0, 10, 18–20`. */
function describeNumbers(numbers: readonly number[]): string {
  const stretches: [number, number][] = [];
  for (const n of numbers) {
    const last = stretches.at(-1);
    if (last?.[1] === n - 1) last[1] = n;
    else stretches.push([n, n]);
  }
  return stretches.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
}
