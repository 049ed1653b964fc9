import styles from './table.module.css';
import type { ShownColumn } from './table-model';
import { Explained, TooltipButton } from './tooltip';

const ARROWS = { ascending: ' ↑', descending: ' ↓' } as const;

type ColumnHeaderProps = Pick<ShownColumn<never>, 'label' | 'title' | 'isNumeric' | 'order' | 'toggleSort'>;

/** The label of a column, with its explanation; one that rows can be sorted by is a button. */
export function ColumnHeader({ label, title, isNumeric, order, toggleSort }: ColumnHeaderProps) {
  const className = isNumeric ? styles.number : undefined;
  if (toggleSort === null)
    return (
      <th scope="col" className={className}>
        <Explained by={title}>{label}</Explained>
      </th>
    );
  const content = (
    <>
      {label}
      <span aria-hidden>{order === null ? '' : ARROWS[order]}</span>
    </>
  );
  return (
    <th scope="col" className={className} aria-sort={order ?? 'none'}>
      {title === undefined ? (
        <button type="button" className={styles.sort} onClick={toggleSort}>
          {content}
        </button>
      ) : (
        <TooltipButton tooltip={title} className={styles.sort} onClick={toggleSort}>
          {content}
        </TooltipButton>
      )}
    </th>
  );
}
