import type { SqlResult } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { saveFile } from '../components/save-file';
import { toCsv } from '../format/csv';
import { formatCount } from '../format/numbers';
import { formatDuration } from '../format/times';
import page from '../components/page.module.css';

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
          saveFile('retrace.csv', new Blob([toCsv(result)], { type: 'text/csv' }));
        }}
      >
        Download CSV
      </button>
    </>
  );
}
