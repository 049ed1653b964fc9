import { memo, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent } from 'react';
import type { StepTokens } from '../api/types';
import { formatNumber, formatPercent } from '../format/numbers';
import { surpriseOf, tokenViews, type TokenView } from './token-view';
import styles from './token-strip.module.css';

const SHOWN_AT_FIRST = 400;

/**
 * The tokens that a step appended, sampled ones coloured by how unlikely they were.
 * Hovering or focusing one (arrow keys move along) shows its numbers below.
 */
export const TokenStrip = memo(function TokenStrip({
  tokens,
  label,
}: {
  readonly tokens: StepTokens;
  readonly label: string;
}) {
  const views = useMemo(() => tokenViews(tokens), [tokens]);
  const [showsAll, setShowsAll] = useState(views.length <= SHOWN_AT_FIRST);
  const [current, setCurrent] = useState(() =>
    Math.max(
      0,
      views.findIndex(({ sampled }) => sampled),
    ),
  );
  const strip = useRef<HTMLDivElement>(null);
  const shown = showsAll ? views : views.slice(0, SHOWN_AT_FIRST);

  if (views.length === 0)
    return <p className={styles.detail}>No tokens: the agent of this episode samples none.</p>;

  const moveTo = (position: number): void => {
    setCurrent(position);
    strip.current?.querySelectorAll('button')[position]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = nextPosition(event.key, current, shown.length);
    if (target === null) return;
    event.preventDefault();
    moveTo(target);
  };

  return (
    <div className={styles.strip}>
      <div className={styles.chips} role="group" aria-label={label} ref={strip} onKeyDown={onKeyDown}>
        {shown.map((token) => (
          <button
            key={token.position}
            type="button"
            className={token.sampled ? styles.sampled : styles.context}
            style={chipStyle(token)}
            tabIndex={token.position === current ? 0 : -1}
            data-current={token.position === current || undefined}
            onMouseEnter={() => {
              setCurrent(token.position);
            }}
            onFocus={() => {
              setCurrent(token.position);
            }}
          >
            {token.text ?? token.id}
          </button>
        ))}
        {!showsAll && (
          <button
            type="button"
            className={styles.more}
            onClick={() => {
              setShowsAll(true);
            }}
          >
            … {views.length - shown.length} more
          </button>
        )}
      </div>
      <TokenNumbers token={views[current]} />
    </div>
  );
});

function TokenNumbers({ token }: { readonly token: TokenView }) {
  return (
    <p className={styles.detail}>
      <span>
        token <b>{token.position}</b>
      </span>
      <span>
        id <b>{token.id}</b>
      </span>
      <span>{token.sampled ? 'sampled' : 'context'}</span>
      {token.sampled && (
        <>
          <span>
            logprob <b>{formatNumber(token.logprob, 4)}</b>
          </span>
          <span>
            probability <b>{formatPercent(token.logprob === null ? null : Math.exp(token.logprob))}</b>
          </span>
          <span>
            entropy <b>{formatNumber(token.entropy)}</b>
          </span>
        </>
      )}
      {token.policyVersion !== null && (
        <span>
          policy <b>{token.policyVersion}</b>
        </span>
      )}
    </p>
  );
}

function chipStyle({ logprob }: TokenView): CSSProperties | undefined {
  if (logprob === null) return undefined;
  return { '--surprise': `${Math.round(surpriseOf(logprob) * 100)}%` } as CSSProperties;
}

function nextPosition(key: string, current: number, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return Math.min(current + 1, count - 1);
    case 'ArrowLeft':
      return Math.max(current - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
