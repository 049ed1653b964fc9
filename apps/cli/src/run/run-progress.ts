import type { Recipe } from '@retrace/config';
import type { AnyEvent, MetricsLogged, RunState } from '@retrace/trajectory';

const SHOWN_WITH_UPDATES = ['train/entropy', 'train/approximateKl', 'train/tokensPerSecond'];

/** Success, return and pass@k over all tasks, and the targets that a validation reached first. */
const SHOWN_OF_VALIDATIONS =
  /^(validation|test)\/((sampled\/)?(success|return|passAt\d+)|(updates|seconds)To[\d.]+)$/;

/** The last updates whose mean time the remaining time is estimated from. */
const TIMED_UPDATES = 20;

/** Describes the events of one run as lines of a log, in the order in which they were folded. */
export class RunProgress {
  /** Times of the last updates that this process saw, in microseconds. */
  private readonly updateTimesUs: number[] = [];

  private readonly numUpdates: number;

  constructor({ numUpdates, imitation }: Pick<Recipe, 'numUpdates' | 'imitation'>) {
    this.numUpdates = numUpdates + (imitation?.numUpdates ?? 0);
  }

  /** Describes an event that was just folded into the state of its run, in one line; null for most events. */
  describe(event: AnyEvent, run: RunState): string | null {
    switch (event.kind) {
      case 'MetricsLogged': {
        const { payload } = event;
        if (payload.source === 'evaluation') return describeEvaluation(payload);
        if (payload.source !== 'trainer') return null;
        this.updateTimesUs.push(event.occurredAtUs);
        if (this.updateTimesUs.length > TIMED_UPDATES + 1) this.updateTimesUs.shift();
        return [this.place(payload.step), ...updateFigures(payload, run)].join(' · ');
      }
      case 'SamplingBlocked':
        return `${event.payload.side} waits: ${event.payload.reason}`;
      case 'RunEnded':
        return `run ended: ${event.payload.reason}${event.payload.detail === '' ? '' : `, ${event.payload.detail}`}`;
      default:
        return null;
    }
  }

  /** Which update of how many it was, and how long the others take if they take as long as the last ones did. */
  private place(updateNumber: number): string {
    const { numUpdates, updateTimesUs } = this;
    const place = `update ${updateNumber} of ${numUpdates}`;
    const numTimed = updateTimesUs.length - 1;
    const numLeft = numUpdates - updateNumber;
    if (numTimed < 1 || numLeft < 1) return place;
    const meanUs = (updateTimesUs[numTimed] - updateTimesUs[0]) / numTimed;
    return `${place}, ${formatDuration((meanUs * numLeft) / 1e6)} left`;
  }
}

/** Formats seconds with one or two units: "45 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const first = units.findIndex(([, size]) => whole >= size);
  if (first < 0) return '0 s';
  const [unit, size] = units[first];
  const next = units.at(first + 1);
  const rest = first + 1 < units.length && next ? Math.floor((whole % size) / next[1]) : 0;
  const major = `${Math.floor(whole / size)} ${unit}`;
  return rest > 0 && next ? `${major} ${rest} ${next[0]}` : major;
}

/** Formats a figure with three significant digits; thousands without decimals. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

function describeEvaluation({ step, names, values }: MetricsLogged): string {
  const figures = names
    .map((name, i) => [name, formatFigure(values[i])] as const)
    .filter(([name]) => SHOWN_OF_VALIDATIONS.test(name))
    .map(([name, value]) => `${name} ${value}`);
  return [`policy ${step}`, ...figures].join(' · ');
}

function updateFigures({ names, values }: MetricsLogged, run: RunState): string[] {
  const success = run.metric('collector', 'rollout/success')?.value;
  const figures = SHOWN_WITH_UPDATES.flatMap((name) => {
    const at = names.indexOf(name);
    return at < 0 ? [] : [`${name.slice(name.indexOf('/') + 1)} ${formatFigure(values[at])}`];
  });
  return success === undefined ? figures : [`success ${formatFigure(success)}`, ...figures];
}
