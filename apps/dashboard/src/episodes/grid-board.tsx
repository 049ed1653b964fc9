import styles from './grid-board.module.css';
import { describeCell, type DrawnGrid } from './read-grid';

interface GridBoardProps extends DrawnGrid {
  readonly label: string;
}

/** A world on a grid, drawn cell by cell; pointing at a cell names what is in it. */
export function GridBoard({ width, cells, label }: GridBoardProps) {
  const rows = Array.from({ length: cells.length / width }, (_, row) =>
    cells.slice(row * width, (row + 1) * width),
  );
  return (
    <table className={styles.board} aria-label={label}>
      <tbody>
        {rows.map((row, rowIndex) => (
          <tr key={rowIndex}>
            {row.map((cell, column) => (
              <td key={column} data-ground={cell.ground} title={describeCell(cell)}>
                <span data-thing={cell.box ? 'box' : cell.player ? 'player' : undefined}>
                  <span className={styles.name}>{describeCell(cell)}</span>
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
