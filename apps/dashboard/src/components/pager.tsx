import controls from './controls.module.css';
import styles from './pager.module.css';
import type { Paging } from './use-paging';

interface PagerProps {
  readonly paging: Paging;
  readonly nextCursor: string | null;
  readonly numItems: number;
}

/** Buttons to the previous and the next page of a list; hidden when there is only one page. */
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
        ← Previous
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
        Next →
      </button>
    </nav>
  );
}
