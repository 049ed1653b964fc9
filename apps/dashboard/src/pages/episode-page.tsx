import { type ReactNode, useMemo, useRef } from 'react';
import { useParams } from 'react-router';
import { useEpisode, useEpisodeBranches } from '../api/episode-queries';
import type { EpisodeBranches, EpisodeDetail, StepDetail } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { RedirectToWholeId } from '../components/whole-id';
import { buildConversation, hasBranches } from '../conversation/conversation-tree';
import { ConversationView } from '../conversation/conversation-view';
import { EpisodeHeader } from '../episodes/episode-header';
import styles from '../episodes/episode.module.css';
import { ScrollShield } from '../episodes/scroll-shield';
import { StepCard } from '../episodes/step-card';
import { StepValues } from '../episodes/step-values';
import { useTokenColoring } from '../episodes/token-coloring';
import { StepsBeforeFork } from '../episodes/steps-before-fork';
import { formatCount } from '../format/numbers';
import page from '../components/page.module.css';
import { useRunOfPage } from '../runs/run-of-page';

/** Until the tokens near a step are shown that was scrolled to. */
const TOKENS_SHOWN_MS = 150;

/** Replays an episode step by step. */
export function EpisodePage() {
  const { runId } = useRunOfPage();
  const { episodeId = '' } = useParams();
  const episode = useEpisode(runId, episodeId);

  if (episode.isPending) return <Loading label="Loading the episode" rows={9} />;
  if (!episode.data) return <ErrorState error={episode.error} onRetry={() => void episode.refetch()} />;
  const { episode: summary, steps } = episode.data;
  if (summary.episodeId !== episodeId) return <RedirectToWholeId part={episodeId} id={summary.episodeId} />;
  return (
    <Episode
      key={episodeId}
      {...{ runId, summary, steps, hasMore: episode.hasNextPage }}
      isLoadingMore={episode.isFetchingNextPage}
      onLoadMore={() => void episode.fetchNextPage()}
    />
  );
}

interface EpisodeProps {
  readonly runId: string;
  readonly summary: EpisodeDetail;
  /** Those that are loaded. */
  readonly steps: readonly StepDetail[];
  /** There are later steps than these. */
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly onLoadMore: () => void;
}

function Episode({ runId, summary, steps, hasMore, isLoadingMore, onLoadMore }: EpisodeProps) {
  const { colors, trained, controls: coloring } = useTokenColoring(runId, summary, steps);
  return (
    <div className={page.stack}>
      <ScrollShield />
      <EpisodeHeader runId={runId} episode={summary} />
      {summary.forkedFrom !== null && <StepsBeforeFork origin={summary.forkedFrom} />}
      {steps.some(({ tokens }) => tokens.actionMask.includes(1)) && coloring}
      <WithConversation runId={runId} summary={summary} steps={steps} hasMore={hasMore}>
        <ol className={styles.steps}>
          {steps.map((step) => (
            <StepCard key={step.step} step={step} colors={colors} trained={trained.get(step.step)}>
              <StepValues episode={summary} step={step.step} />
            </StepCard>
          ))}
        </ol>
        {hasMore && (
          <button type="button" className={controls.button} disabled={isLoadingMore} onClick={onLoadMore}>
            Load more steps ({steps.length}
            {summary.numSteps !== null && ` of ${summary.numSteps}`} shown)
          </button>
        )}
        {summary.finalObservation !== null && !hasMore && (
          <FinalObservation text={summary.finalObservation} endReason={summary.endReason} />
        )}
      </WithConversation>
    </div>
  );
}

interface WithConversationProps {
  readonly runId: string;
  readonly summary: EpisodeDetail;
  readonly steps: readonly StepDetail[];
  /** There are later steps than these. */
  readonly hasMore: boolean;
  readonly children: ReactNode;
}

/** The steps, beside the tree of the conversation where it has more than turns. */
function WithConversation({ runId, summary, steps, hasMore, children }: WithConversationProps) {
  const { data: branches, error, refetch } = useEpisodeBranches(runId, summary);
  const list = useRef<HTMLDivElement>(null);
  const nodes = useMemo(
    () => buildConversation(runId, summary, { steps, hasMore }, branches?.items ?? []),
    [runId, summary, steps, hasMore, branches],
  );
  const showStep = (step: number): void => {
    const card = list.current?.querySelector(`[data-step="${step}"]`);
    card?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true });
    const scroll = (): void => card?.scrollIntoView({ block: 'start' });
    scroll();
    // The tokens above it that come into the page only now move it.
    setTimeout(scroll, TOKENS_SHOWN_MS);
  };
  const hasTree = hasBranches(nodes);
  // The steps stay the same elements when the branches come.
  return (
    <div className={hasTree ? styles.besideTree : undefined}>
      {hasTree && (
        <aside className={`${page.card} ${styles.tree}`} aria-label="Turns, calls and branches">
          <ConversationView nodes={nodes} onStep={showStep} />
          <TreeNotes branches={branches} />
        </aside>
      )}
      <div className={page.stack} ref={list}>
        {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
        {children}
      </div>
    </div>
  );
}

/** How to read the tree: records name the episode that called an agent, and not the call. */
function TreeNotes({ branches }: { readonly branches: EpisodeBranches | undefined }) {
  return (
    <>
      {branches?.items.some(({ kind }) => kind === 'call') && (
        <p className={styles.treeNote}>Agents are placed by time: below the last turn before they started.</p>
      )}
      {branches?.truncated && (
        <p className={styles.treeNote}>The first {formatCount(branches.items.length)} branches are shown.</p>
      )}
    </>
  );
}

interface FinalObservationProps {
  readonly text: string;
  readonly endReason: EpisodeDetail['endReason'];
}

function FinalObservation({ text, endReason }: FinalObservationProps) {
  return (
    <section className={styles.step} aria-label="Final observation">
      <header className={styles.stepHead}>
        <h2>Final observation</h2>
        <Badge>{endReason}</Badge>
      </header>
      <pre className={styles.text}>{text || '(empty)'}</pre>
    </section>
  );
}
