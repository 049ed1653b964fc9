import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect } from 'react';
import styles from './token-strip.module.css';
import type { TokenView } from './token-view';

const TOKENS_IN_BLOCK = 200;
/** Of a block that was not shown yet, in pixels. */
const BLOCK_HEIGHT = 180;

interface TokenBlocksProps {
  readonly tokens: readonly TokenView[];
  /** Scrolls them. */
  readonly frame: RefObject<HTMLDivElement | null>;
  /** Position of the token that the Tab key reaches. */
  readonly current: number;
  /** Position of the token that a key went to, which takes the focus; null for none. */
  readonly wanted: number | null;
  readonly chipOf: (token: TokenView) => ReactNode;
}

/** The tokens of a long step, in blocks of which only those in view and that of the current token are in the page. */
export function TokenBlocks({ tokens, frame, current, wanted, chipOf }: TokenBlocksProps) {
  const currentBlock = Math.floor(current / TOKENS_IN_BLOCK);
  const virtualizer = useVirtualizer({
    count: Math.ceil(tokens.length / TOKENS_IN_BLOCK),
    getScrollElement: () => frame.current,
    estimateSize: () => BLOCK_HEIGHT,
    // The Tab key reaches the current token only.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), currentBlock])].sort((a, b) => a - b),
  });
  useEffect(() => {
    if (wanted !== null) frame.current?.querySelector<HTMLElement>(`[data-position="${wanted}"]`)?.focus();
  }, [wanted, frame]);
  return (
    <div className={styles.blocks} style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ key, index, start }) => (
        <div
          key={key}
          ref={virtualizer.measureElement}
          data-index={index}
          className={`${styles.chips} ${styles.block}`}
          style={{ transform: `translateY(${start}px)` }}
        >
          {tokens.slice(index * TOKENS_IN_BLOCK, (index + 1) * TOKENS_IN_BLOCK).map(chipOf)}
        </div>
      ))}
    </div>
  );
}
