import { memo, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent } from 'react';
import type { StepTokens } from '../api/schema';
import { TokenBlocks } from './token-blocks';
import { TokenNumbers } from './token-numbers';
import styles from './token-strip.module.css';
import { heatOf, type TokenColors } from './token-colors';
import { tokenViews, type TokenView, type TrainedStep } from './token-view';

const NUM_SHOWN_AT_FIRST = 400;

interface TokenStripProps {
  readonly tokens: StepTokens;
  readonly colors: TokenColors;
  /** Those of them that an update trained. */
  readonly trained?: TrainedStep;
  /** Name of the strip for screen readers. */
  readonly label: string;
}

/**
 * The tokens that a step appended; sampled ones are colored. Hovering or focusing a token (arrow keys move
 * the focus) shows its numbers below the strip.
 */
export const TokenStrip = memo(function TokenStrip({ tokens, colors, trained, label }: TokenStripProps) {
  const views = useMemo(() => tokenViews(tokens, trained), [tokens, trained]);
  const [showsAll, setShowsAll] = useState(views.length <= NUM_SHOWN_AT_FIRST);
  const [current, setCurrent] = useState(() => firstSampled(views));
  const [wanted, setWanted] = useState<number | null>(null);
  const strip = useRef<HTMLDivElement>(null);
  const isLong = views.length > NUM_SHOWN_AT_FIRST;
  const shown = showsAll ? views : views.slice(0, NUM_SHOWN_AT_FIRST);

  if (views.length === 0) return <p className={styles.detail}>No tokens: this agent does not sample any.</p>;

  const onKeyDown = (event: KeyboardEvent): void => {
    const target = nextPosition(event.key, current, shown.length);
    if (target === null) return;
    event.preventDefault();
    setCurrent(target);
    if (showsAll && isLong) setWanted(target);
    else strip.current?.querySelectorAll('button')[target]?.focus();
  };
  const chipOf = (token: TokenView) => (
    <TokenChip
      key={token.position}
      token={token}
      colors={colors}
      isCurrent={token.position === current}
      onPoint={setCurrent}
    />
  );

  return (
    <div className={styles.strip}>
      <div
        className={showsAll && isLong ? styles.frame : styles.chips}
        role="group"
        aria-label={label}
        ref={strip}
        onKeyDown={onKeyDown}
      >
        {showsAll && isLong ? (
          <TokenBlocks tokens={views} frame={strip} wanted={wanted} chipOf={chipOf} />
        ) : (
          shown.map(chipOf)
        )}
        {!showsAll && (
          <button
            type="button"
            className={styles.more}
            onClick={() => {
              setShowsAll(true);
            }}
          >
            Show {views.length - shown.length} more
          </button>
        )}
      </div>
      <TokenNumbers token={views[current]} />
    </div>
  );
});

interface TokenChipProps {
  readonly token: TokenView;
  readonly colors: TokenColors;
  readonly isCurrent: boolean;
  /** Called with the position of the token that the pointer or the focus is on. */
  readonly onPoint: (position: number) => void;
}

function TokenChip({ token, colors, isCurrent, onPoint }: TokenChipProps) {
  const heat = heatOf(token, colors);
  const point = (): void => {
    onPoint(token.position);
  };
  return (
    <button
      type="button"
      className={token.sampled ? styles.sampled : styles.context}
      data-plain={(token.sampled && heat === null) || undefined}
      style={chipStyle(heat)}
      tabIndex={isCurrent ? 0 : -1}
      data-current={isCurrent || undefined}
      data-position={token.position}
      onMouseEnter={point}
      onFocus={point}
    >
      {token.text ?? token.id}
    </button>
  );
}

function chipStyle(heat: number | null): CSSProperties | undefined {
  if (heat === null) return undefined;
  return { '--heat': `${Math.round(heat * 100)}%` } as CSSProperties;
}

function firstSampled(views: readonly TokenView[]): number {
  return Math.max(
    0,
    views.findIndex(({ sampled }) => sampled),
  );
}

function nextPosition(key: string, current: number, numTokens: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return Math.min(current + 1, numTokens - 1);
    case 'ArrowLeft':
      return Math.max(current - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return numTokens - 1;
    default:
      return null;
  }
}
