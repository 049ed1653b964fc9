import type { ReactNode } from 'react';
import { Link } from '../components/link';
import type { Update, UpdateLineage as Lineage } from '../api-types/schema';
import { useUpdateLineage } from '../api/update-queries';
import { ErrorState } from '../components/notice';
import table from '../components/table.module.css';
import { shortId } from '../format/ids';
import { formatCount } from '../format/numbers';
import styles from './update-lineage.module.css';

const MAX_SHOWN = 6;

/** Policies that sampled the episodes of an update → the update → its policy → the updates that trained on episodes of that one. */
export function UpdateLineage({ runId, update }: { readonly runId: string; readonly update: Update }) {
  const { updateNumber, policyVersionIn, policyVersionOut } = update;
  const { data, error, refetch } = useUpdateLineage(runId, updateNumber);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.sampledBy.length === 0) return null;
  const { sampledBy, numSampled, fed } = data;
  return (
    <nav className={styles.lineage} aria-label="Lineage">
      <Nodes title="Sampled by" hasMore={sampledBy.length > MAX_SHOWN}>
        {sampledBy.slice(0, MAX_SHOWN).map((policy) => (
          <Node key={`${policy.runId} ${policy.policyVersion ?? ''}`} numEpisodes={policy.numEpisodes}>
            <SamplingPolicy policy={policy} ownRun={runId} />
          </Node>
        ))}
      </Nodes>
      <Nodes title="Trained">
        <Node>
          <b>update {updateNumber}</b> from policy {policyVersionIn}
        </Node>
      </Nodes>
      {policyVersionOut !== null && (
        <Nodes title="Made">
          <Node numEpisodes={numSampled}>
            <b>policy {policyVersionOut}</b>
          </Node>
        </Nodes>
      )}
      {fed.length > 0 && (
        <Nodes title="Which fed" hasMore={fed.length > MAX_SHOWN}>
          {fed.slice(0, MAX_SHOWN).map((one) => (
            <Node key={`${one.runId} ${one.updateNumber}`} numEpisodes={one.numEpisodes}>
              <UpdateLink {...one} ownRun={runId} />
            </Node>
          ))}
        </Nodes>
      )}
    </nav>
  );
}

interface NodesProps {
  readonly title: string;
  readonly hasMore?: boolean;
  readonly children: ReactNode;
}

function Nodes({ title, hasMore = false, children }: NodesProps) {
  return (
    <section className={styles.column}>
      <h3>{title}</h3>
      <ul>
        {children}
        {hasMore && <li className={styles.more}>and more</li>}
      </ul>
    </section>
  );
}

function Node({ numEpisodes, children }: { readonly numEpisodes?: number; readonly children: ReactNode }) {
  return (
    <li className={styles.node}>
      <span>{children}</span>
      {numEpisodes !== undefined && (
        <small>
          {formatCount(numEpisodes)} {numEpisodes === 1 ? 'episode' : 'episodes'}
        </small>
      )}
    </li>
  );
}

/** Leads to the update that made the policy; the first policy of a run has none. */
function SamplingPolicy({
  policy: { runId, policyVersion, madeBy },
  ownRun,
}: {
  readonly policy: Lineage['sampledBy'][number];
  readonly ownRun: string;
}) {
  const ofRun = runId === ownRun ? '' : ` of run ${shortId(runId)}`;
  if (policyVersion === null) return `no policy${ofRun}`;
  const name = `policy ${policyVersion}${ofRun}`;
  if (madeBy === null || madeBy === 0) return name;
  return (
    <Link className={table.link} to={`/runs/${runId}/updates/${madeBy}`} title={`Made by update ${madeBy}`}>
      {name}
    </Link>
  );
}

function UpdateLink({
  runId,
  updateNumber,
  ownRun,
}: {
  readonly runId: string;
  readonly updateNumber: number;
  readonly ownRun: string;
}) {
  return (
    <Link className={table.link} to={`/runs/${runId}/updates/${updateNumber}`}>
      update {updateNumber}
      {runId !== ownRun && ` of run ${shortId(runId)}`}
    </Link>
  );
}
