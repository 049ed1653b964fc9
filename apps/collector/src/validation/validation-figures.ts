import { attemptFigures } from '@retrace/algorithms';
import type { EnvironmentSpec } from '@retrace/environments';
import type { RunState, Split, ValidationRow } from '@retrace/trajectory';
import type { EndedEpisode } from '../episode/episode-recorder.js';

/** The parts of an ended episode that figures are made of. */
export type MeasuredEpisode = Pick<EndedEpisode, 'success' | 'return' | 'failure' | 'taskFamily'> & {
  readonly plan: Pick<EndedEpisode['plan'], 'isGreedyBaseline'> & {
    readonly group: Pick<EndedEpisode['plan']['group'], 'place' | 'sampled'>;
  };
};

/** Figures of each decoding: over all tasks first, then by family where there are several. An episode that failed counts as nothing. */
export function validationRows(
  episodes: readonly MeasuredEpisode[],
  spec: Pick<EnvironmentSpec, 'familyOf'>,
): ValidationRow[] {
  const decodings = [
    ['greedy', episodes.filter(({ plan }) => plan.isGreedyBaseline)],
    ['sampled', episodes.filter(({ plan }) => !plan.isGreedyBaseline)],
  ] as const;
  return decodings.flatMap(([decoding, played]) => {
    if (played.length === 0) return [];
    const families = [...new Set(played.map((episode) => toFamily(spec, episode)))].sort();
    return [
      toRow(played, { decoding, family: null }),
      ...(families.length < 2 ? [] : families).map((family) =>
        toRow(
          played.filter((episode) => toFamily(spec, episode) === family),
          { decoding, family },
        ),
      ),
    ];
  });
}

/** Names and values of the `MetricsLogged` of a validation or a test. Those without a prefix are of the greedy episodes, where there are any. */
export function validationMetrics(
  rows: readonly ValidationRow[],
  { split, seconds }: { readonly split: Split; readonly seconds: number },
): (readonly [string, number])[] {
  const [{ decoding: first }] = rows;
  const entries = rows.flatMap((row) => {
    const prefix = row.decoding === first ? split : `${split}/${row.decoding}`;
    const suffix = row.family === null ? '' : `/${row.family}`;
    const figures = [
      [`${prefix}/success${suffix}`, row.successRate ?? Number.NaN],
      [`${prefix}/successLow${suffix}`, row.successLow],
      [`${prefix}/successHigh${suffix}`, row.successHigh],
    ] as const;
    if (row.family !== null) return figures;
    return [
      ...figures,
      [`${prefix}/return`, row.meanReturn ?? Number.NaN] as const,
      ...row.passAtK.filter(({ k }) => k > 1).map(({ k, pass }) => [`${prefix}/passAt${k}`, pass] as const),
    ];
  });
  return [...entries, [`${split}/seconds`, seconds]];
}

/**
 * How many updates, and how many seconds since the first policy was published, it took to the version that was just validated, for each
 * target that it is the first to reach. The seconds count pauses of the run too.
 */
export function targetMetrics(
  run: Pick<RunState, 'policies' | 'validationSuccess'>,
  { policyVersion, success, targets }: { policyVersion: number; success: number; targets: readonly number[] },
): (readonly [string, number])[] {
  const best = Math.max(
    -Infinity,
    ...[...run.validationSuccess.values()].filter((value) => !Number.isNaN(value)),
  );
  const policy = run.policies.get(policyVersion);
  const [first] = run.policies.all();
  const startedAtUs = run.policies.publishedAtUs(first.policyVersion) ?? Number.NaN;
  const seconds = ((run.policies.publishedAtUs(policyVersion) ?? Number.NaN) - startedAtUs) / 1e6;
  return targets
    .filter((target) => success >= target && best < target)
    .flatMap((target) => {
      const percent = Number((target * 100).toPrecision(6));
      return [
        [`validation/updatesTo${percent}`, policy?.updateNumber ?? Number.NaN] as const,
        [`validation/secondsTo${percent}`, seconds] as const,
      ];
    });
}

/** Kind of an episode's task: as the environment told it, or by the task; '' where neither says. */
function toFamily(
  { familyOf: ofTask }: Pick<EnvironmentSpec, 'familyOf'>,
  { taskFamily, plan }: MeasuredEpisode,
) {
  const { task } = plan.group.sampled;
  return taskFamily ?? (task === null ? '' : (ofTask?.(task) ?? ''));
}

function toRow(
  episodes: readonly MeasuredEpisode[],
  part: Pick<ValidationRow, 'decoding' | 'family'>,
): ValidationRow {
  const sound = episodes.filter(({ failure }) => failure === null);
  const attempts = sound.flatMap(({ success, plan }) =>
    success === null ? [] : [{ task: plan.group.place, isSuccess: success }],
  );
  const returns = sound.flatMap((episode) => episode.return ?? []);
  const { numSuccesses, rate, interval, passAtK } = attemptFigures(attempts);
  return {
    ...part,
    numTasks: new Set(episodes.map(({ plan }) => plan.group.place)).size,
    numEpisodes: attempts.length,
    numSuccesses,
    numUnknown: sound.length - attempts.length,
    numFailed: episodes.length - sound.length,
    successRate: rate,
    successLow: interval.low,
    successHigh: interval.high,
    passAtK,
    meanReturn: returns.length === 0 ? null : returns.reduce((sum, value) => sum + value, 0) / returns.length,
  };
}
