import { useState, type RefObject } from 'react';
import controls from '../components/controls.module.css';
import { Select } from '../components/select';
import { EXAMPLES } from '../sql/examples';
import { useKeptQueries } from '../sql/kept-queries';
import { MAX_CELLS, withCell, type NotebookDraft } from './notebook-draft';
import styles from './notebook.module.css';

interface AddCellProps {
  /** The first button, which gets the focus of a cell that is deleted. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly numCells: number;
  readonly onAdd: (change: (draft: NotebookDraft) => NotebookDraft) => void;
}

/** Adds a cell at the end: an empty one, or a query that this browser saved or that is ready-made. */
export function AddCell({ button, numCells, onAdd }: AddCellProps) {
  const { saved } = useKeptQueries();
  const [picked, setPicked] = useState('');
  const isFull = numCells >= MAX_CELLS;
  const queries = [
    ...saved.map(({ name, query }) => ({ label: `Saved: ${name}`, query })),
    ...EXAMPLES.flatMap((group) => group.queries.map(({ title, query }) => ({ label: title, query }))),
  ];
  const add = (kind: 'sql' | 'markdown', text: string): void => {
    onAdd((draft) => withCell(draft, { kind, text }));
  };
  return (
    <div className={styles.bar} role="group" aria-label="Add a cell">
      <button
        ref={button}
        type="button"
        className={controls.button}
        disabled={isFull}
        onClick={() => {
          add('sql', '');
        }}
      >
        Add SQL
      </button>
      <button
        type="button"
        className={controls.button}
        disabled={isFull}
        onClick={() => {
          add('markdown', '');
        }}
      >
        Add text
      </button>
      <Select
        label="Query"
        value={picked}
        options={[
          { value: '', label: 'choose one' },
          ...queries.map(({ label }, i) => ({ value: `${i}`, label })),
        ]}
        onChange={setPicked}
      />
      <button
        type="button"
        className={controls.button}
        disabled={isFull || picked === ''}
        onClick={() => {
          add('sql', queries[Number(picked)].query);
          setPicked('');
        }}
      >
        Add this query
      </button>
    </div>
  );
}
