import { MAX_VALIDATION_ROWS, useTargets, useValidations } from './validation-queries';
import type { ValidationFigures } from '../api-types/schema';
import { Badge } from '../components/badge';
import { DataTable } from '../components/data-table';
import { Stat, StatRow } from '../components/stat';
import { SuccessInterval } from '../components/success-interval';
import { numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatPercent } from '../format/numbers';
import { formatDuration } from '../format/times';
import { useRefetchMs } from '../live/use-live-run';
import page from '../components/page.module.css';
import { bestVersion } from './best-version';
import { toPercent, readTargets } from './targets';

interface ValidationsProps {
  readonly runId: string;
  readonly recipe: unknown;
}

/** The figures of the run's validated policies, and how long it took to the success rates that its recipe names; nothing before the first. */
export function Validations({ runId, recipe }: ValidationsProps) {
  const refetchMs = useRefetchMs();
  const { data: figures = [] } = useValidations(runId, refetchMs);
  const targets = readTargets(recipe);
  const { data: reached } = useTargets(runId, targets, refetchMs);
  if (figures.length === 0) return null;
  const best = bestVersion(figures);
  const ks = [...new Set(figures.flatMap(({ passAtK }) => passAtK.map(({ k }) => k)))];
  const passes = ks.filter((k) => k > 1).sort((a, b) => a - b);
  return (
    <section className={page.stack} aria-label="Validation">
      <h2>Validation</h2>
      {targets.length > 0 && (
        <StatRow>
          {targets.map((target) => (
            <Stat key={target} label={`Updates to ${formatPercent(target, 0)}`}>
              {formatCount(reached?.get(`validation/updatesTo${toPercent(target)}`))}{' '}
              <small>{formatSeconds(reached?.get(`validation/secondsTo${toPercent(target)}`))}</small>
            </Stat>
          ))}
        </StatRow>
      )}
      <DataTable
        label="Validated policies"
        columns={[...makeColumns(best), ...passes.map(passColumn), ...TAIL]}
        rows={figures}
        keyOf={({ policyVersion, split, decoding, family }) =>
          `${policyVersion} ${split} ${decoding} ${family ?? ''}`
        }
      />
      {figures.length === MAX_VALIDATION_ROWS && (
        <p className={page.subtle}>
          Headers sort only the newest {formatCount(figures.length)} rows, which are here.
        </p>
      )}
    </section>
  );
}

function makeColumns(best: number | null): readonly TableColumn<ValidationFigures>[] {
  return [
    {
      label: 'Policy',
      cell: ({ policyVersion, split }) => (
        <>
          {policyVersion}{' '}
          {policyVersion === best && split === 'validation' && <Badge tone="accent">best</Badge>}
        </>
      ),
    },
    numberColumn('Update', ({ updateNumber }) => updateNumber, formatCount),
    textColumn('Split', ({ split }) => split),
    textColumn('Sampling', ({ decoding }) => decoding),
    { label: 'Tasks of', cell: ({ family }) => family ?? 'all' },
    numberColumn('Success', ({ success }) => success, formatPercent),
    {
      label: '95 %',
      title: 'Wilson’s interval; attempts at one task that end alike count as fewer episodes',
      cell: ({ successLow, successHigh, success }) => (
        <SuccessInterval low={successLow} high={successHigh} rate={success} />
      ),
    },
  ];
}

function passColumn(k: number): TableColumn<ValidationFigures> {
  return numberColumn(
    `pass@${k}`,
    ({ passAtK }) => passAtK.find((pass) => pass.k === k)?.pass,
    formatPercent,
  );
}

const TAIL: readonly TableColumn<ValidationFigures>[] = [
  numberColumn('Return', ({ meanReturn }) => meanReturn),
  numberColumn('Episodes', ({ numEpisodes }) => numEpisodes, formatCount),
  numberColumn('Failed', ({ numFailed }) => numFailed, formatCount, {
    title: 'Environment, agent or model failed; part of no other figure',
  }),
  { label: 'Took', isNumeric: true, cell: ({ seconds }) => formatDuration(seconds * 1000) },
];

function formatSeconds(seconds: number | undefined): string {
  return seconds === undefined ? '' : `in ${formatDuration(seconds * 1000)}`;
}
