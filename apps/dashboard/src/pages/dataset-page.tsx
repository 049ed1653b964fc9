import { useParams } from 'react-router';
import { useDataset } from '../api/dataset-queries';
import type { DatasetDetail, DatasetRun, DatasetSplit, SplitContamination } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { JsonTree } from '../components/json-tree';
import { Link } from '../components/link';
import { ErrorState, Loading } from '../components/notice';
import { Stat, StatRow } from '../components/stat';
import { codeColumn, numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { useTitle } from '../components/use-title';
import { DatasetEpisodes } from '../datasets/dataset-episodes';
import { formatCount } from '../format/numbers';
import { shortId } from '../format/ids';
import { formatMoment } from '../format/times';
import styles from './dataset-page.module.css';
import page from '../components/page.module.css';

const SPLIT_COLUMNS: readonly TableColumn<DatasetSplit>[] = [
  textColumn('Split', ({ split }) => split),
  numberColumn('Rows', ({ numRows }) => numRows, formatCount),
  codeColumn('File', ({ file }) => file),
  {
    label: 'SHA-256',
    isMuted: true,
    cell: ({ sha256 }) => (
      <span className="mono" title={sha256}>
        {sha256.slice(0, 12)}
      </span>
    ),
  },
];

const RUN_COLUMNS: readonly TableColumn<DatasetRun>[] = [
  {
    label: 'Run',
    cell: ({ runId, name }) =>
      // A deleted run has no name, and no page.
      name === '' ? (
        <span className="mono">{shortId(runId)} (deleted)</span>
      ) : (
        <Link className={table.link} to={`/runs/${runId}`}>
          {name}
        </Link>
      ),
  },
  numberColumn('Episodes', ({ numEpisodes }) => numEpisodes, formatCount),
];

const SHARED_COLUMNS: readonly TableColumn<SplitContamination>[] = [
  textColumn('Split', ({ split }) => split),
  textColumn('Compared with', ({ comparedWith }) => comparedWith),
  numberColumn('Rows', ({ numRows }) => numRows, formatCount),
  numberColumn('Shared tasks', ({ numRowsWithSharedTask }) => numRowsWithSharedTask, formatCount, {
    title: 'Rows whose task the other split has, too',
  }),
  numberColumn('Shared states', ({ numRowsWithSharedAnchor }) => numRowsWithSharedAnchor, formatCount, {
    title: 'Rows with a state of the environment that the other split has, too',
  }),
  numberColumn('Shared text', ({ numRowsWithSharedNGram }) => numRowsWithSharedNGram, formatCount, {
    title: 'Rows with a stretch of words that the other split has, too',
  }),
];

/** A data set: its query, splits, runs, what its splits share, and how it is loaded. */
export function DatasetPage() {
  const { name = '' } = useParams();
  useTitle(name);
  const { data, error, isPending, refetch } = useDataset(name);
  if (isPending) return <Loading label="Loading the data set" rows={9} />;
  if (!data) return <ErrorState heading="h1" error={error} onRetry={() => void refetch()} />;
  return (
    <div className={page.stack}>
      <h1>{data.name}</h1>
      <StatRow>
        <Stat label="Rows">{formatCount(data.numRows)}</Stat>
        <Stat label="Episodes">{formatCount(data.numEpisodes)}</Stat>
        <Stat label="Format">{data.format}</Stat>
        <Stat label="Content hash" note={data.contentHash}>
          <span className="mono">{data.contentHash.slice(0, 12)}</span>
        </Stat>
        <Stat label="Created">
          <small>{formatMoment(data.createdAt)}</small>
        </Stat>
      </StatRow>
      <Code title="Query" text={data.sql.trim()} />
      <Code title="Load it" text={loadingCode(data)} />
      <h2>Splits</h2>
      <DataTable label="Splits" columns={SPLIT_COLUMNS} rows={data.splits} keyOf={({ split }) => split} />
      <h2>Contamination</h2>
      <Contamination dataset={data} />
      <h2>Runs</h2>
      <DataTable label="Runs" columns={RUN_COLUMNS} rows={data.runs} keyOf={({ runId }) => runId} />
      <h2>Episodes</h2>
      <DatasetEpisodes name={data.name} />
      <section className={page.card} aria-label="Settings">
        <h2 className={styles.title}>Settings</h2>
        <JsonTree value={data.settings} />
      </section>
    </div>
  );
}

function Contamination({ dataset: { contamination } }: { readonly dataset: DatasetDetail }) {
  const { splits, nGramWords } = contamination;
  if (splits.length === 0) return <p className={page.subtle}>There is one split, so nothing to compare.</p>;
  return (
    <>
      <DataTable label="Contamination" columns={SHARED_COLUMNS} rows={splits} keyOf={({ split }) => split} />
      <p className={page.subtle}>Text is shared where {nGramWords} words in a row are equal.</p>
    </>
  );
}

function Code({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <section className={page.card} aria-label={title}>
      <h2 className={styles.title}>{title}</h2>
      <pre className={styles.code}>{text}</pre>
    </section>
  );
}

/** Python that loads the largest split where the files are. */
function loadingCode({ location, splits }: DatasetDetail): string {
  const [{ split }] = [...splits].sort((a, b) => b.numRows - a.numRows);
  return `from datasets import load_dataset\n\nrows = load_dataset(${JSON.stringify(location)}, split=${JSON.stringify(split)})`;
}
