import { useState } from 'react';
import { useAskPolicy } from '../api/agent-queries';
import type { PolicyAnswer } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { Link } from '../components/link';
import { ErrorState } from '../components/notice';
import { Segments } from '../components/segments';
import { formatCount } from '../format/numbers';
import page from '../components/page.module.css';
import { BY_LOGPROB } from '../tokens/token-colors';
import { TokenStrip } from '../tokens/token-strip';
import styles from './now-yours.module.css';

const POLICIES = [
  { value: 'newest', label: 'Newest policy' },
  { value: 'first', label: 'First policy' },
] as const;

interface AskPolicyProps {
  readonly runId: string;
  /** An observation of the run's environment; '' = none known. */
  readonly example: string;
  readonly maxTokens: number;
}

/** A box to ask a policy of the run; its answer has its tokens colored by logprob. */
export function AskPolicy({ runId, example, maxTokens }: AskPolicyProps) {
  const [written, setWritten] = useState<string | null>(null);
  const [policy, setPolicy] = useState<(typeof POLICIES)[number]['value']>('newest');
  const asking = useAskPolicy(runId);
  const text = written ?? example;
  return (
    <div className={styles.part}>
      <h3>Ask the policy</h3>
      <p className={page.subtle}>
        It knows the world that it was trained in and answers anything else as if it were that. The text below
        is an observation of its environment.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          asking.mutate({ text, policy, maxTokens });
        }}
      >
        <textarea
          className={styles.question}
          aria-label="Question to the policy"
          rows={3}
          value={text}
          onChange={({ target }) => {
            setWritten(target.value);
          }}
        />
        <div className={styles.row}>
          <Segments label="Policy that answers" value={policy} options={POLICIES} onChange={setPolicy} />
          <button
            type="submit"
            className={controls.primary}
            disabled={asking.isPending || text.trim() === ''}
          >
            {asking.isPending ? 'Asking …' : 'Ask'}
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {asking.error && <ErrorState error={asking.error} />}
        {asking.data && <Answer answer={asking.data} />}
      </div>
    </div>
  );
}

function Answer({ answer }: { readonly answer: PolicyAnswer }) {
  const { text, policyVersion, tokens, recordedRunId, episodeId } = answer;
  return (
    <div className={styles.answer}>
      <pre>{text || '(empty)'}</pre>
      <TokenStrip key={episodeId} tokens={tokens} colors={BY_LOGPROB} label="Tokens of the answer" />
      <p className={page.subtle}>
        Policy {formatCount(policyVersion)}.{' '}
        <Link to={`/runs/${recordedRunId}/episodes/${episodeId}`}>Recorded as an episode</Link>
      </p>
    </div>
  );
}
