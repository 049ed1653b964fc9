import type { MetricSeriesList, MetricSource, MetricsQuery } from './metrics.dto.js';

/** A `MetricsLogged` event as the store has it. */
export interface LoggedMetrics {
  readonly logId: string;
  readonly logOffset: number;
  readonly source: MetricSource;
  readonly step: number;
  /** Microseconds since the Unix epoch. */
  readonly timeUs: number;
  readonly names: readonly string[];
  /** Null where one is not finite. */
  readonly values: readonly (number | null)[];
}

type Series = MetricSeriesList['series'][number];

const FIRST_CAPACITY = 16;
/** A step, a value and a time of 8 bytes each. */
const BYTES_OF_POINT = 24;
/** Of a series and of a run without points, about: objects, names and maps. */
const BYTES_OF_SERIES = 700;
const BYTES_OF_RUN = 1_000;

/** One metric of one source: of each step the newest value, in the order of steps. An update that was redone after a crash logs twice. */
class SeriesPoints {
  private steps = new Float64Array(FIRST_CAPACITY);
  private values = new Float64Array(FIRST_CAPACITY);
  private timesUs = new Float64Array(FIRST_CAPACITY);
  private length = 0;

  constructor(
    readonly name: string,
    readonly source: MetricSource,
  ) {}

  get sizeBytes(): number {
    return BYTES_OF_SERIES + this.steps.length * BYTES_OF_POINT;
  }

  /** Events may come in any order, and several times. */
  add(step: number, value: number, timeUs: number): void {
    const place = this.placeOf(step);
    const isKnown = place < this.length && this.steps[place] === step;
    if (isKnown && timeUs <= this.timesUs[place]) return;
    if (!isKnown) this.makeRoomAt(place);
    this.steps[place] = step;
    this.values[place] = value;
    this.timesUs[place] = timeUs;
  }

  /** Cut into at most `maxPoints` equal stretches: the mean of each, at its last step and newest time. */
  cut(maxPoints: number): Series {
    const { name, source, length } = this;
    const numStretches = Math.min(length, maxPoints);
    const [steps, values, times]: number[][] = [[], [], []];
    for (let stretch = 0; stretch < numStretches; stretch++) {
      const from = Math.ceil((stretch * length) / numStretches);
      const to = Math.ceil(((stretch + 1) * length) / numStretches);
      let [sum, newestUs] = [0, -Infinity];
      for (let i = from; i < to; i++) {
        sum += this.values[i];
        newestUs = Math.max(newestUs, this.timesUs[i]);
      }
      steps.push(this.steps[to - 1]);
      values.push(sum / (to - from));
      times.push(Math.floor(newestUs / 1000));
    }
    return { name, source, steps, values, times };
  }

  /** Of the first point that is not of an earlier step. */
  private placeOf(step: number): number {
    let [low, high] = [0, this.length];
    // Mostly the next update.
    if (high === 0 || this.steps[high - 1] < step) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle] < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private makeRoomAt(place: number): void {
    if (this.length === this.steps.length) {
      this.steps = doubled(this.steps);
      this.values = doubled(this.values);
      this.timesUs = doubled(this.timesUs);
    }
    for (const column of [this.steps, this.values, this.timesUs])
      column.copyWithin(place + 1, place, this.length);
    this.length++;
  }
}

function doubled(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}

/** All metrics of a run, as the columns of their series: events that the store has later are added to them. */
export class RunSeries {
  private readonly series = new Map<string, SeriesPoints>();
  /** Of each log the newest offset that was added. */
  private readonly offsets = new Map<string, number>();

  get sizeBytes(): number {
    let size = BYTES_OF_RUN;
    for (const points of this.series.values()) size += points.sizeBytes;
    return size;
  }

  /** Whether nothing was added. */
  get isEmpty(): boolean {
    return this.offsets.size === 0;
  }

  /** Newest offsets that were added, by log. */
  get newestOffsets(): ReadonlyMap<string, number> {
    return this.offsets;
  }

  add({ logId, logOffset, source, step, timeUs, names, values }: LoggedMetrics): void {
    this.offsets.set(logId, Math.max(this.offsets.get(logId) ?? -1, logOffset));
    for (const [i, name] of names.entries()) {
      const value = values[i];
      if (value === null) continue;
      const key = `${name}\n${source}`;
      const points = this.series.get(key) ?? new SeriesPoints(name, source);
      this.series.set(key, points);
      points.add(step, value, timeUs);
    }
  }

  /** Those that are asked for, by name and then by source. */
  select({ names, source, maxPoints }: Pick<MetricsQuery, 'names' | 'source' | 'maxPoints'>): Series[] {
    const asked = new Set(names);
    return Array.from(this.series.values())
      .filter((one) => (asked.size === 0 || asked.has(one.name)) && (source ?? one.source) === one.source)
      .sort((a, b) => compareBytes(a.name, b.name) || compareBytes(a.source, b.source))
      .map((one) => one.cut(maxPoints));
  }
}

/** As the store sorts texts. */
const compareBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
