import type { EnvironmentSpec } from '@retrace/environments';
import type { ControlTail } from '@retrace/log';
import type { PolicyPublished, RunState } from '@retrace/trajectory';
import { CollectorError } from '../collector-error.js';

/** A published policy, with the run that published it. */
export interface StoredPolicy {
  readonly run: RunState;
  readonly policy: PolicyPublished;
}

const OF_RUN = /^run:([^@]+?)(?:@(\d+|latest))?$/;

/**
 * Finds a policy by its name: `latest` is the newest of the newest run in the environment, `run:<id>` the newest of a run, `run:<id>@<version>` that
 * version. The control tail has to be caught up.
 *
 * @throws CollectorError `NO_POLICY`
 */
export function findStoredPolicy(
  control: ControlTail,
  { name: environment }: Pick<EnvironmentSpec, 'name'>,
  name: string,
): StoredPolicy {
  const { runs } = control.state;
  if (name === 'latest') {
    const run = runs.findLast(
      ({ started, policies }) =>
        started.environment === environment && started.runKind === 'trained' && policies.latest !== null,
    );
    if (run?.policies.latest) return { run, policy: run.policies.latest };
    const advice = 'train one, or name a scripted agent with --policy';
    throw new CollectorError('NO_POLICY', `No run has published a policy for ${environment}; ${advice}`);
  }
  const [, runId, version = 'latest'] = OF_RUN.exec(name) ?? [];
  if (runId === undefined) {
    const rule = 'must be "latest", "run:<id>" or "run:<id>@<version>"';
    throw new CollectorError('NO_POLICY', `policy: got "${name}", ${rule}`);
  }
  const run = runs.find((candidate) => candidate.runId === runId);
  if (run === undefined) throw new CollectorError('NO_POLICY', `Run ${runId} not found; see "retrace runs"`);
  if (run.started.runKind === 'recorded') {
    const message = `Run ${runId} was recorded, so no policy of it is here; a trainer outside has those that it published`;
    throw new CollectorError('NO_POLICY', message);
  }
  const policy = version === 'latest' ? run.policies.latest : run.policies.get(Number(version));
  if (policy) return { run, policy };
  const published =
    run.policies.numPolicies === 0
      ? 'none'
      : [...run.policies.all()].map((one) => one.policyVersion).join(', ');
  throw new CollectorError(
    'NO_POLICY',
    `Run ${runId} has not published policy version ${version}; published: ${published}`,
  );
}
