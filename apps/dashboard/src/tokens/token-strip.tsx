import {
  memo,
  Suspense,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import type { StepTokens } from '../api-types/schema';
import { lazyPart } from '../components/lazy-part';
import { TokenNumbers } from './token-numbers';
import styles from './token-strip.module.css';
import { computeHeat, type TokenColors } from './token-colors';
import { useFarHeight } from './use-far-height';
import { tokenViews, type TokenView, type TrainedStep } from './token-view';

// Few steps are so long.
const TokenBlocks = lazyPart(async () => (await import('./token-blocks')).TokenBlocks);

const NUM_SHOWN_AT_FIRST = 400;
/** Of a strip that was not shown yet: about so many tokens are in a row, which is so high in pixels. */
const TOKENS_IN_ROW = 15;
const ROW_HEIGHT = 25;

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
 * the focus) shows its numbers below the strip. Strips that are far from the window have only their height, since the tokens of a long episode are
 * tens of thousands of elements.
 */
export const TokenStrip = memo(function TokenStrip({ tokens, colors, trained, label }: TokenStripProps) {
  const views = useMemo(() => tokenViews(tokens, trained), [tokens, trained]);
  const outer = useRef<HTMLDivElement>(null);
  const strip = useRef<HTMLDivElement>(null);
  const { shown, inBlocks, showAll, current, wanted, onKeyDown, onPoint, onFocus } = useStrip(views, strip);
  const farPx = useFarHeight(outer, Math.ceil(shown.length / TOKENS_IN_ROW) * ROW_HEIGHT);

  if (views.length === 0) return <p className={styles.detail}>No tokens: this agent does not sample any.</p>;
  if (farPx !== null) return <div ref={outer} style={{ height: farPx }} />;

  const chipOf = (token: TokenView) => (
    <TokenChip
      key={token.position}
      {...{ token, colors, onPoint, onFocus }}
      isCurrent={token.position === current}
    />
  );
  return (
    <div className={styles.strip} ref={outer}>
      <div
        className={inBlocks ? styles.frame : styles.chips}
        role="group"
        aria-label={label}
        ref={strip}
        onKeyDown={onKeyDown}
      >
        {inBlocks ? (
          <Suspense fallback={null}>
            <TokenBlocks tokens={views} frame={strip} {...{ current, wanted, chipOf }} />
          </Suspense>
        ) : (
          shown.map(chipOf)
        )}
        {shown.length < views.length && (
          <button type="button" className={styles.more} onClick={showAll}>
            Show {views.length - shown.length} more
          </button>
        )}
      </div>
      <TokenNumbers token={views[current]} />
    </div>
  );
});

/** Which tokens of a strip are shown, and which of them is the current one, that keys and the pointer move. */
function useStrip(views: readonly TokenView[], strip: RefObject<HTMLDivElement | null>) {
  const [showsAll, setShowsAll] = useState(views.length <= NUM_SHOWN_AT_FIRST);
  const [pointed, setPointed] = useState(() => firstSampled(views));
  const [wanted, setWanted] = useState<number | null>(null);
  const shown = showsAll ? views : views.slice(0, NUM_SHOWN_AT_FIRST);
  const inBlocks = showsAll && views.length > NUM_SHOWN_AT_FIRST;
  // Until all are shown, the first sampled token may not be.
  const current = pointed < shown.length ? pointed : 0;
  return {
    ...{ shown, inBlocks, current, wanted },
    showAll: () => {
      setShowsAll(true);
    },
    onKeyDown: (event: KeyboardEvent): void => {
      const target = nextPosition(event.key, current, shown.length);
      if (target === null) return;
      event.preventDefault();
      setPointed(target);
      if (inBlocks) setWanted(target);
      else strip.current?.querySelectorAll('button')[target]?.focus();
    },
    onPoint: setPointed,
    onFocus: (position: number): void => {
      setPointed(position);
      // The next key may go to the same token once more.
      setWanted(null);
    },
  };
}

interface TokenChipProps {
  readonly token: TokenView;
  readonly colors: TokenColors;
  readonly isCurrent: boolean;
  /** Called with the position of the token that the pointer is on. */
  readonly onPoint: (position: number) => void;
  /** Called with that of the token that takes the focus. */
  readonly onFocus: (position: number) => void;
}

function TokenChip({ token, colors, isCurrent, onPoint, onFocus }: TokenChipProps) {
  const heat = computeHeat(token, colors);
  return (
    <button
      type="button"
      className={token.sampled ? styles.sampled : styles.context}
      data-plain={(token.sampled && heat === null) || undefined}
      style={chipStyle(heat)}
      tabIndex={isCurrent ? 0 : -1}
      data-current={isCurrent || undefined}
      data-position={token.position}
      onMouseEnter={() => {
        onPoint(token.position);
      }}
      onFocus={() => {
        onFocus(token.position);
      }}
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
