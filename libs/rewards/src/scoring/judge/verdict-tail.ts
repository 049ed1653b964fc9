import { SINK_GROUP, type EventLog } from '@retrace/log';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import { listVerdicts } from './verdict-log.js';
import type { JudgeVerdict } from './verdict.js';

/**
 * Verdicts at the end of the log, which the store may not show yet: those after the sink's position. Keeps only their offsets.
 */
export class VerdictTail {
  /** By partition and episode, ascending. */
  private readonly offsets = new Map<number, Map<string, number[]>>();
  private readonly nextOffsets = new Map<number, number>();

  constructor(
    private readonly log: EventLog,
    private readonly runId: string,
  ) {}

  /** Reads a partition to its current end. */
  async readOn(partition: number): Promise<void> {
    const { log } = this;
    const end = await log.endOffset('trajectories', partition);
    const stored =
      (await log.readCursor(SINK_GROUP, 'trajectories', partition)) ??
      (await log.startOffset('trajectories', partition));
    this.forgetBefore(partition, stored);
    let next = Math.max(stored, this.nextOffsets.get(partition) ?? 0);
    while (next < end) {
      const records = await log.read('trajectories', partition, next);
      if (records.length === 0) break;
      for (const { offset, bytes } of records) {
        next = offset + 1;
        this.note(partition, offset, bytes);
      }
    }
    this.nextOffsets.set(partition, next);
  }

  /** Verdicts on one episode, in log order. */
  async verdictsOf(partition: number, episodeId: string): Promise<JudgeVerdict[]> {
    const verdicts: JudgeVerdict[] = [];
    for (const offset of this.offsets.get(partition)?.get(episodeId) ?? []) {
      const [record] = await this.log.read('trajectories', partition, offset, { maxRecords: 1 });
      const decoded = decodeEvent(record.bytes);
      if (decoded.ok && decoded.event.kind === 'RewardAssigned')
        verdicts.push(...listVerdicts([decoded.event.payload]));
    }
    return verdicts;
  }

  private note(partition: number, offset: number, bytes: Uint8Array): void {
    const envelope = peekEnvelope(bytes);
    if (envelope?.kind !== 'RewardAssigned' || envelope.runId !== this.runId) return;
    const episodes = this.offsets.get(partition) ?? new Map<string, number[]>();
    this.offsets.set(partition, episodes);
    const offsets = episodes.get(envelope.episodeId);
    if (offsets === undefined) episodes.set(envelope.episodeId, [offset]);
    else offsets.push(offset);
  }

  /** Drops verdicts that are in the store. */
  private forgetBefore(partition: number, stored: number): void {
    const episodes = this.offsets.get(partition);
    for (const [episodeId, offsets] of episodes ?? []) {
      const left = offsets.filter((offset) => offset >= stored);
      if (left.length === 0) episodes?.delete(episodeId);
      else episodes?.set(episodeId, left);
    }
  }
}
