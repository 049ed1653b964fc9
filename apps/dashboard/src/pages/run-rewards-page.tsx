import { useState } from 'react';
import { useSearch } from '../as-of/shown-moment';
import { useRewardAudit, useRewardDifferences, useRewardVersions } from '../rewards/reward-queries';
import type { RewardVersionItem, RunDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Select } from '../components/select';
import { FILTER_OPTIONS } from '../episodes/episode-filter';
import { shortId } from '../format/ids';
import { RewardAudit } from '../rewards/reward-audit';
import { RewardDifferences } from '../rewards/reward-differences';
import {
  readRewardsView,
  SCORED_SPLITS,
  versionLabels,
  writeRewardsView,
  type RewardsView,
  type ScoredSplit,
} from '../rewards/rewards-view';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

const SPLITS = [...FILTER_OPTIONS.split.filter(({ value }) => value !== ''), { value: 'all', label: 'All' }];

/** A reward version of a run compared with the success of its episodes, and with another version. */
export function RunRewardsPage() {
  const run = useRunOfPage();
  const versions = useRewardVersions(run.runId);
  return (
    <div className={page.stack}>
      <h2>Rewards</h2>
      <p className={page.subtle}>
        Whether higher rewards go with success, over the whole history of the run, under any reward version
        that it was scored with.
      </p>
      {versions.isPending && <Loading label="Loading reward versions" rows={4} />}
      {versions.error && <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />}
      {versions.data?.length === 0 && <NoScores run={run} />}
      {versions.data !== undefined && versions.data.length > 0 && (
        <Rewards runId={run.runId} versions={versions.data} />
      )}
    </div>
  );
}

function NoScores({ run: { runId, kind } }: { readonly run: RunDetail }) {
  const recipe = kind === 'trained' ? '' : ' --recipe <recipe.json>';
  return (
    <EmptyState title="Not scored yet">
      Score all its episodes, under the reward of a recipe or any other:{' '}
      <code>{`retrace score --run ${shortId(runId)} --name plain${recipe}`}</code>
    </EmptyState>
  );
}

interface RewardsProps {
  readonly runId: string;
  readonly versions: readonly RewardVersionItem[];
}

function Rewards({ runId, versions }: RewardsProps) {
  const [search, setSearch] = useSearch();
  // A version that gets its name while the page is read does not take its place.
  const [first] = useState(versions[0].version);
  const view = readRewardsView(search, versions, first);
  const show = (change: Partial<RewardsView>) => {
    setSearch(writeRewardsView({ ...view, ...change }), { replace: true });
  };
  const labels = versionLabels(versions);
  const options = [...labels].map(([version, label]) => ({ value: version, label }));
  const others = options.filter(({ value }) => value !== view.version);
  const itemOf = (wanted: string | null) => versions.find(({ version }) => version === wanted);
  const [version, other] = [itemOf(view.version), itemOf(view.otherVersion)];
  return (
    <>
      <div className={page.filters}>
        <Select
          label="Version"
          value={view.version}
          options={options}
          onChange={(chosen) => {
            show({ version: chosen });
          }}
        />
        <Select
          label="Split"
          value={view.split}
          options={SPLITS}
          onChange={(word) => {
            show({ split: SCORED_SPLITS.find((split) => split === word) });
          }}
        />
        {others.length > 0 && (
          <Select
            label="Against"
            value={view.otherVersion ?? ''}
            options={[{ value: '', label: 'none' }, ...others]}
            onChange={(chosen) => {
              show({ otherVersion: chosen === '' ? null : chosen });
            }}
          />
        )}
      </div>
      {version && !isScored(version) && <p>No episode has a score of this version yet.</p>}
      {version && isScored(version) && <Audited runId={runId} version={version} split={view.split} />}
      {version && other && isScored(version) && isScored(other) && (
        <Compared runId={runId} version={version} other={other} split={view.split} labels={labels} />
      )}
    </>
  );
}

/** A version has its name before its first scores. */
function isScored({ numScored }: RewardVersionItem): boolean {
  return numScored > 0;
}

interface Question {
  readonly runId: string;
  readonly version: RewardVersionItem;
  readonly split: ScoredSplit;
}

function Audited(question: Question) {
  const { data, error, isPending, isFetching, refetch } = useRewardAudit(question);
  if (isPending) return <Loading label="Loading the audit" />;
  const ask = () => void refetch();
  return (
    <>
      {error && <ErrorState error={error} onRetry={ask} />}
      {data && data.numScored !== question.version.numScored && (
        <MoreScores isAsked={isFetching} onAsk={ask} />
      )}
      {data && <RewardAudit audit={data.answer} />}
    </>
  );
}

function MoreScores({ isAsked, onAsk }: { readonly isAsked: boolean; readonly onAsk: () => void }) {
  return (
    <p>
      Other episodes have a score by now.{' '}
      <button type="button" className={controls.button} disabled={isAsked} onClick={onAsk}>
        Include them
      </button>
    </p>
  );
}

interface ComparedProps extends Question {
  readonly other: RewardVersionItem;
  readonly labels: ReadonlyMap<string, string>;
}

function Compared({ labels, ...question }: ComparedProps) {
  const { data, error, isPending, isFetching, refetch } = useRewardDifferences(question);
  if (isPending) return <Loading label="Loading the comparison" rows={4} />;
  const labelOf = (version: string) => labels.get(version) ?? version;
  const { version, other } = question;
  const ask = () => void refetch();
  return (
    <>
      {error && <ErrorState error={error} onRetry={ask} />}
      {data && data.numScored !== version.numScored + other.numScored && (
        <MoreScores isAsked={isFetching} onAsk={ask} />
      )}
      {data && (
        <RewardDifferences
          found={data.answer}
          labelA={labelOf(data.answer.versionA)}
          labelB={labelOf(data.answer.versionB)}
        />
      )}
    </>
  );
}
