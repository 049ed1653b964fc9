import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import styles from './token-strip.module.css';
import type { TokenView } from './token-view';

const TOKENS_IN_BLOCK = 200;
/** Of a block that was not shown yet, in pixels. */
const BLOCK_HEIGHT = 180;

interface TokenBlocksProps {
  readonly tokens: readonly TokenView[];
  /** Scrolls them. */
  readonly frame: RefObject<HTMLDivElement | null>;
  /** Position of the token that a key went to, which takes the focus once it is in view; null for none. */
  readonly wanted: number | null;
  readonly chipOf: (token: TokenView) => ReactNode;
}

/** The tokens of a long step, in blocks of which only those in view are in the page. */
export function TokenBlocks({ tokens, frame, wanted, chipOf }: TokenBlocksProps) {
  const virtualizer = useVirtualizer({
    count: Math.ceil(tokens.length / TOKENS_IN_BLOCK),
    getScrollElement: () => frame.current,
    estimateSize: () => BLOCK_HEIGHT,
  });
  const blocks = virtualizer.getVirtualItems();
  const wantedBlock = wanted === null ? null : Math.floor(wanted / TOKENS_IN_BLOCK);
  const isShown = blocks.some(({ index }) => index === wantedBlock);
  const focused = useRef<number | null>(null);
  useEffect(() => {
    if (wanted === null || wantedBlock === null || wanted === focused.current) return;
    if (!isShown) {
      virtualizer.scrollToIndex(wantedBlock);
      return;
    }
    focused.current = wanted;
    frame.current?.querySelector<HTMLElement>(`[data-position="${wanted}"]`)?.focus();
  }, [wanted, wantedBlock, isShown, virtualizer, frame]);
  return (
    <div className={styles.blocks} style={{ height: virtualizer.getTotalSize() }}>
      {blocks.map(({ key, index, start }) => (
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
