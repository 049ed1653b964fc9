import { useSearchParams } from 'react-router';
import { useRewardAudit, useRewardDifferences, useRewardVersions } from '../api/reward-queries';
import type { RewardVersionItem, RunDetail } from '../api/schema';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { Select } from '../components/select';
import { shortId } from '../format/ids';
import { RewardAudit } from '../rewards/reward-audit';
import { RewardDifferences } from '../rewards/reward-differences';
import {
  namedVersions,
  readRewardsView,
  SCORED_SPLITS,
  writeRewardsView,
  type RewardsView,
} from '../rewards/rewards-view';
import page from './page.module.css';
import { useRunOfPage } from './run-layout';

const SPLITS = ['all', ...SCORED_SPLITS].map((split) => ({ value: split, label: split }));

/** A reward version of a run held against the success of its episodes, and against another version. */
export function RunRewardsPage() {
  const run = useRunOfPage();
  const versions = useRewardVersions(run.runId);
  return (
    <div className={page.stack}>
      <h2>Rewards</h2>
      <p className={page.subtle}>
        Whether what the run is paid for is what it reaches: over its whole history, under any reward version
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

function Rewards({
  runId,
  versions,
}: {
  readonly runId: string;
  readonly versions: readonly RewardVersionItem[];
}) {
  const [search, setSearch] = useSearchParams();
  const view = readRewardsView(search, versions);
  const show = (change: Partial<RewardsView>) => {
    setSearch(writeRewardsView({ ...view, ...change }), { replace: true });
  };
  const named = namedVersions(versions).map(({ version, label }) => ({ value: version, label }));
  const others = named.filter(({ value }) => value !== view.version);
  return (
    <>
      <div className={page.filters}>
        <Select
          label="Version"
          value={view.version}
          options={named}
          onChange={(version) => {
            show({ version });
          }}
        />
        <Select
          label="Episodes"
          value={view.split ?? 'all'}
          options={SPLITS}
          onChange={(word) => {
            show({ split: SCORED_SPLITS.find((split) => split === word) ?? null });
          }}
        />
        {others.length > 0 && (
          <Select
            label="Against"
            value={view.otherVersion ?? ''}
            options={[{ value: '', label: 'none' }, ...others]}
            onChange={(version) => {
              show({ otherVersion: version === '' ? null : version });
            }}
          />
        )}
      </div>
      <Audited runId={runId} {...view} />
      {view.otherVersion !== null && <Compared runId={runId} {...view} otherVersion={view.otherVersion} />}
    </>
  );
}

type Question = RewardsView & { readonly runId: string };

function Audited(question: Question) {
  const { data, error, isPending, refetch } = useRewardAudit(question);
  if (isPending) return <Loading label="Loading the audit" />;
  if (!data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return <RewardAudit audit={data} />;
}

function Compared(question: Question & { readonly otherVersion: string }) {
  const { data, error, isPending, refetch } = useRewardDifferences(question);
  if (isPending) return <Loading label="Loading the comparison" rows={4} />;
  if (!data) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return <RewardDifferences found={data} />;
}
