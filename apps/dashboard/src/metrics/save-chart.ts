import type { ChartAxis } from '../charts/chart-axis';
import type { ChartColumns } from '../charts/chart-data';
import { saveFile } from '../components/save-file';
import { toCsv } from '../format/csv';

interface SavedValues {
  readonly labels: readonly string[];
  readonly axis: ChartAxis;
  readonly columns: ChartColumns;
}

/** Heading of the column of each x-axis. */
const X_NAMES: Readonly<Record<ChartAxis, string>> = {
  update: 'update',
  time: 'seconds since the start',
  steps: 'steps trained on',
  tokens: 'tokens trained on',
  episodes: 'episodes trained on',
};
/** CSS pixels. */
const LINE_HEIGHT = 19;

/** Saves the values of a metric, as they were recorded: a column for the x-axis, and one for each run. */
export function saveValues(title: string, { labels, axis, columns: [xs, ...columns] }: SavedValues): void {
  const names = [X_NAMES[axis], ...labels].map((name) => ({ name, type: '' }));
  const rows = xs.map((at, row) => [at, ...columns.map((column) => column[row] ?? null)]);
  saveFile(`${makeFileName(title)}.csv`, new Blob([toCsv({ columns: names, rows })], { type: 'text/csv' }));
}

/** Saves the picture of a chart below its title and, in their colors, the names of its series. */
export function savePicture(title: string, labels: readonly string[], figure: HTMLElement): void {
  const drawn = figure.querySelector('canvas');
  const picture = document.createElement('canvas');
  const context = picture.getContext('2d');
  if (drawn === null || context === null) return;
  const line = LINE_HEIGHT * window.devicePixelRatio;
  const top = (labels.length + 1.5) * line;
  picture.width = drawn.width;
  picture.height = drawn.height + top;
  const { backgroundColor, color, fontFamily } = getComputedStyle(figure);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(drawn, 0, top);
  const swatches = [...figure.querySelectorAll('li > span')].map(
    (span) => getComputedStyle(span).backgroundColor,
  );
  [title, ...labels].forEach((text, i) => {
    context.font = `${i === 0 ? '600 ' : ''}${0.7 * line}px ${fontFamily}`;
    context.fillStyle = i === 0 ? color : swatches[i - 1];
    context.fillText(text, line / 2, (i + 1) * line);
  });
  picture.toBlob((blob) => {
    if (blob !== null) saveFile(`${makeFileName(title)}.png`, blob);
  });
}

function makeFileName(title: string): string {
  return title.replaceAll('/', '-');
}
