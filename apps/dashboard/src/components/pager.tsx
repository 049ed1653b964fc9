import controls from './controls.module.css';
import styles from './pager.module.css';
import type { Paging } from './use-paging';

export interface PagerProps {
  readonly paging: Paging;
  readonly nextCursor: string | null;
  readonly numItems: number;
}

export function Pager({ paging, nextCursor, numItems }: PagerProps) {
  if (paging.pageNumber === 1 && nextCursor === null) return null;
  return (
    <nav className={styles.pager} aria-label="Pages">
      <button
        type="button"
        className={controls.button}
        disabled={paging.pageNumber === 1}
        onClick={paging.goBack}
      >
        ← Newer
      </button>
      <span>
        Page {paging.pageNumber} · {numItems} rows
      </span>
      <button
        type="button"
        className={controls.button}
        disabled={nextCursor === null}
        onClick={() => {
          if (nextCursor !== null) paging.goTo(nextCursor);
        }}
      >
        Older →
      </button>
    </nav>
  );
}
