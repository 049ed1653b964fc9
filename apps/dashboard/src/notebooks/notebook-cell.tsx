import type { NotebookCellBody, SqlTable } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { TooltipButton } from '../components/tooltip';
import page from '../components/page.module.css';
import type { DraftCell } from './notebook-draft';
import styles from './notebook.module.css';
import { SqlCell } from './sql-cell';
import { TextCell } from './text-cell';

interface NotebookCellProps {
  readonly cell: DraftCell;
  /** From 1. */
  readonly place: number;
  readonly numCells: number;
  readonly tables: readonly SqlTable[];
  readonly onChange: (changes: Partial<NotebookCellBody>) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onDelete: () => void;
  readonly onRunner: (run: (() => Promise<unknown>) | null) => void;
}

/** A cell with the buttons that move and delete it. */
export function NotebookCell(props: NotebookCellProps) {
  const { cell, place, numCells, tables, onChange, onMove, onDelete, onRunner } = props;
  const move = (by: -1 | 1, name: string, sign: string) => (
    <TooltipButton
      className={controls.plain}
      aria-label={`Move cell ${place} ${name}`}
      tooltip={`Move ${name}`}
      aria-disabled={by < 0 ? place === 1 : place === numCells}
      onClick={() => {
        onMove(by);
      }}
    >
      {sign}
    </TooltipButton>
  );
  return (
    <section className={`${page.card} ${styles.cell}`} aria-label={`Cell ${place}`}>
      <div className={styles.cellButtons}>
        <span className={page.subtle}>{cell.kind === 'sql' ? 'SQL' : 'Text'}</span>
        <span className={styles.grow} />
        {move(-1, 'up', '↑')}
        {move(1, 'down', '↓')}
        <TooltipButton
          className={controls.plain}
          aria-label={`Delete cell ${place}`}
          tooltip="Delete"
          onClick={onDelete}
        >
          ×
        </TooltipButton>
      </div>
      {cell.kind === 'sql' ? (
        <SqlCell label={`SQL of cell ${place}`} {...{ cell, tables, onChange, onRunner }} />
      ) : (
        <TextCell
          label={`Text of cell ${place}`}
          text={cell.text}
          onChange={(text) => {
            onChange({ text });
          }}
        />
      )}
    </section>
  );
}
