import type { EventLog } from '@retrace/log';
import type { UpdateTokensTraced } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import type { AskedTokens, Teacher } from '../update/teacher.js';
import { placesOfActions, type TokenPlaces } from '../update/token-trace.js';

/** Reads what a teacher said of the tokens that an update trained from the record of the update: its server may answer otherwise now, or be gone. */
export class RecordedTeacher implements Teacher {
  /** @param offsets of the records `UpdateTokensTraced` of the update in stream `control` */
  constructor(
    private readonly log: Pick<EventLog, 'read'>,
    private readonly offsets: readonly number[],
  ) {}

  async read({ columns, batch }: AskedTokens): Promise<Float32Array> {
    const known = new Map<string, number>();
    for (const offset of this.offsets) {
      const traced = await this.readTokens(offset);
      const logprobs = traced?.teacherLogprobs ?? null;
      if (traced === null || logprobs === null) continue;
      for (let m = 0; m < logprobs.length; m++) known.set(keyOf(traced, m), logprobs[m]);
    }
    const places = placesOfActions(columns, batch);
    return Float32Array.from(batch.actionTokens, (_, a) => known.get(keyOf(places, a)) ?? Number.NaN);
  }

  private async readTokens(offset: number): Promise<UpdateTokensTraced | null> {
    const [record] = await this.log.read('control', 0, offset, { maxRecords: 1 });
    if (record?.offset !== offset) return null;
    const decoded = decodeEvent(record.bytes);
    return decoded.ok && decoded.event.kind === 'UpdateTokensTraced' ? decoded.event.payload : null;
  }
}

function keyOf({ episodes, steps, positions }: TokenPlaces, i: number): string {
  return `${episodes[i]} ${steps[i]} ${positions[i]}`;
}
