import type { SqlResult } from '../api/schema';
import controls from '../components/controls.module.css';
import { formatCount } from '../format/numbers';
import { formatDuration } from '../format/times';
import page from '../pages/page.module.css';
import { toCsv } from './csv';

/** Size and duration of a result, and a button that saves it as CSV. */
export function ResultSummary({ result }: { readonly result: SqlResult }) {
  return (
    <>
      <span className={page.subtle}>
        {formatCount(result.numRows)} {result.numRows === 1 ? 'row' : 'rows'} in{' '}
        {formatDuration(result.elapsedMs)}
        {result.truncated && ' (row limit reached)'}
      </span>
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          download('retrace.csv', toCsv(result));
        }}
      >
        Download CSV
      </button>
    </>
  );
}

function download(fileName: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
