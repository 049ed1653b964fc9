import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef } from 'react';

const ROW_HEIGHT = 32;
/** Rows beyond each edge of the frame, which a key can go to. */
const NUM_MORE_ROWS = 12;

interface VirtualRowsProps {
  readonly numRows: number;
  readonly numColumns: number;
  /** The cells of the row at a position. */
  readonly cellsOf: (position: number) => ReactNode;
}

/** The body of a long table in the frame that scrolls it: only the rows in view, between two that are as high as all others. */
export function VirtualRows({ numRows, numColumns, cellsOf }: VirtualRowsProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const virtualizer = useVirtualizer({
    count: numRows,
    // A ref of the frame would be set only after this body asks for it first.
    getScrollElement: () => findFrame(body.current),
    estimateSize: () => ROW_HEIGHT,
    overscan: NUM_MORE_ROWS,
  });
  const items = virtualizer.getVirtualItems();
  useLayoutEffect(() => {
    // Without rows, the headers share all the width.
    if (items.length > 0) keepColumnWidths(body.current);
  });
  useLayoutEffect(() => observeWidth(body.current), []);
  const before = items.at(0)?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <tbody ref={body}>
      <Space height={before} numColumns={numColumns} />
      {items.map(({ key, index }) => (
        // The header is the first row.
        <tr key={key} ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
          {cellsOf(index)}
        </tr>
      ))}
      <Space height={after} numColumns={numColumns} />
    </tbody>
  );
}

function Space({ height, numColumns }: { readonly height: number; readonly numColumns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={numColumns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

function findFrame(body: HTMLElement | null): HTMLElement | null {
  return body?.closest<HTMLElement>('[role="region"]') ?? null;
}

/** Gives the columns up that were kept for another width of the frame. */
function observeWidth(body: HTMLTableSectionElement | null): (() => void) | undefined {
  const frame = findFrame(body);
  if (frame === null) return undefined;
  let width = frame.clientWidth;
  const observer = new ResizeObserver(() => {
    if (frame.clientWidth === width) return;
    width = frame.clientWidth;
    for (const header of readHeaders(body)) header.style.minWidth = '';
    keepColumnWidths(body);
  });
  observer.observe(frame);
  return () => {
    observer.disconnect();
  };
}

function readHeaders(body: HTMLElement | null): readonly HTMLElement[] {
  return [...(body?.closest('table')?.querySelectorAll('th') ?? [])];
}

/** Columns become wider by the rows that come into view, and never narrower, or they would jump while one scrolls. */
function keepColumnWidths(body: HTMLTableSectionElement | null): void {
  const headers = readHeaders(body);
  const widths = headers.map((header) => header.offsetWidth);
  for (const [c, header] of headers.entries()) header.style.minWidth = `${widths[c]}px`;
}
