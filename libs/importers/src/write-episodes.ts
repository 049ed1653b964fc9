import { changedNotes, type ImportedNotes } from './changed-notes.js';
import { changedReward, changedRewards, type CurrentReward, isReward, rewardKey } from './changed-rewards.js';
import { grownEpisode } from './grown-episode.js';
import type { Found } from './import-rows.js';
import type { Skip, SkipCode } from './skip.js';
import type { ReplayEnvironment } from './verify/replay.js';
import { type Verification, verifyEpisode } from './verify/verify-episode.js';
import type { RecordFault, WireRecord, WireReward } from '@retrace/recording';

/** Why records were not taken. */
export interface Refusal {
  readonly message: string;
  /** The fault of one of the records; null where it is their place, or not known. */
  readonly fault: RecordFault | null;
}

/** Takes records; `Recorder` of `@retrace/recording`, bound to a run. */
export interface RecordSink {
  /** Takes all of these records or none; resolves when the log has them. */
  append(records: readonly WireRecord[]): Promise<{ readonly accepted: number; readonly duplicates: number }>;
  /** Why an error of `append` refuses the records; null where it is another error, which ends the import. */
  refusalOf(error: unknown): Refusal | null;
  /** Number of steps of an episode that the run has and that has ended; null where it has none (default: it is never known). */
  numStepsOf?(episode: string): Promise<number | null>;
  /** The rewards of episodes that count now, of each step, name and source the newest (default: none are known). */
  currentRewards?(episodes: readonly string[]): Promise<readonly CurrentReward[]>;
  /** Notes of the newest import about episodes that the run has (default: nothing is known). */
  importedNotes?(episodes: readonly string[]): Promise<readonly ImportedNotes[]>;
  /** Makes a record what is stored of it (default: it is stored as it is). */
  asStored?(record: WireRecord): WireRecord;
}

/** The outcome of one episode, or of something that was left out: a line of the report by rows. */
export interface RowOutcome {
  readonly file: string;
  readonly row: number | null;
  readonly outcome: 'taken' | 'skipped';
  readonly episode?: string;
  readonly numSteps?: number;
  readonly code?: SkipCode;
  readonly detail?: string;
  readonly verification?: Omit<Verification, 'records'>;
  /** Changes without which the records could not be stored. */
  readonly changes?: readonly string[];
}

/** Counts of an import. */
export interface ImportCounts {
  readonly numEpisodes: number;
  readonly numSteps: number;
  readonly numRecords: number;
  /** Records that the run had before. */
  readonly numKnownRecords: number;
  /** Episodes of which something could not be stored as it is in the dump. */
  readonly numPoorerEpisodes: number;
  /** Skipped rows and parts by reason, with the first example of each. */
  readonly skipped: readonly SkippedReason[];
  /** null = nothing was to be verified. */
  readonly verified: VerifiedCounts | null;
}

export interface SkippedReason {
  readonly code: SkipCode;
  readonly count: number;
  readonly example: { readonly file: string } & Omit<Skip, 'code'>;
}

export interface VerifiedCounts {
  readonly numEqual: number;
  readonly numDiverged: number;
  readonly numUnverified: number;
  /** Rewards of steps that the dump lacked. */
  readonly numFilledRewards: number;
}

export interface WriteOptions {
  /** Makes a record one that can be stored, and says what was changed; null = nothing of it can be (default: records are as they are). */
  storable?(record: WireRecord): {
    readonly content: WireRecord | null;
    readonly changes: readonly string[];
  };
  /** Makes a record poorer that was refused for what is in it; null = no poorer one helps (default: its episode is left out). */
  poorer?(record: WireRecord, fault: RecordFault): WireRecord | null;
  /** Replays each episode before it is written; null = none are. */
  replayOf?(records: readonly WireRecord[]): ReplayEnvironment | null;
  onRow?(outcome: RowOutcome): void | Promise<void>;
  readonly signal?: AbortSignal;
}

/** Size of a batch. The texts of a record take about as many bytes as characters in the log. */
const MAX_BATCH_RECORDS = 2000;
/** Records of one append; the recorder takes 10,000. */
const MAX_APPENDED_RECORDS = 5000;
const MAX_BATCH_CHARACTERS = 2 * 1024 * 1024;

/** Writes what an import finds, in batches of whole episodes. An episode that is refused costs no other. */
export class EpisodeWriter {
  private batch: Episode[] = [];
  private batchRecords = 0;
  private batchCharacters = 0;
  private numEpisodes = 0;
  private numSteps = 0;
  private numRecords = 0;
  private numKnownRecords = 0;
  private numPoorerEpisodes = 0;
  private readonly reasons = new Map<SkipCode, SkippedReason>();
  /** Annotations of episodes whose last row differs from what the run has; a dump may have an earlier version of a trace, too. */
  private readonly annotations = new Map<string, WireRecord>();
  private verified: VerifiedCounts | null = null;
  /** One batch is being written while the next one is read. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly sink: RecordSink,
    private readonly options: WriteOptions = {},
  ) {}

  /**
   * Writes all episodes that are found.
   *
   * @throws errors of the sink that are no refusal, of reading files, and of a replayed environment that can't be reached
   */
  async write(found: AsyncIterable<Found>): Promise<ImportCounts> {
    try {
      for await (const item of found) {
        this.options.signal?.throwIfAborted();
        if (item.kind === 'skipped') await this.skip(item.file, item.skip);
        else await this.add(item);
      }
      await this.flush();
    } finally {
      await this.writing.catch(() => undefined);
    }
    await this.writing;
    await this.appendRecords([...this.annotations.values()]);
    const { numEpisodes, numSteps, numRecords, numKnownRecords, numPoorerEpisodes, verified } = this;
    const skipped = [...this.reasons.values()].sort((a, b) => b.count - a.count);
    return { numEpisodes, numSteps, numRecords, numKnownRecords, numPoorerEpisodes, skipped, verified };
  }

  private async add(found: Extract<Found, { kind: 'episode' }>): Promise<void> {
    const episode = this.storable(await this.verify(found));
    this.batch.push(episode);
    this.batchRecords += episode.records.length;
    this.batchCharacters += countCharacters(episode.records);
    if (this.batchRecords >= MAX_BATCH_RECORDS || this.batchCharacters >= MAX_BATCH_CHARACTERS) {
      await this.flush();
    }
  }

  private storable(episode: Episode): Episode {
    const { storable } = this.options;
    if (storable === undefined) return episode;
    const made = episode.records.map((record) => storable(record));
    const records = made.flatMap(({ content }) => (content === null ? [] : [content]));
    return { ...episode, records, changes: [...new Set(made.flatMap(({ changes }) => changes))] };
  }

  private async verify(found: Extract<Found, { kind: 'episode' }>): Promise<Episode> {
    const environment = this.options.replayOf?.(found.records) ?? null;
    if (this.options.replayOf === undefined) return found;
    const verification: Verification =
      environment === null
        ? {
            kind: 'unverified',
            records: found.records,
            reason: 'its environment is none that can be replayed',
          }
        : await verifyEpisode(found.records, environment);
    const counts = (this.verified ??= { numEqual: 0, numDiverged: 0, numUnverified: 0, numFilledRewards: 0 });
    this.verified = {
      numEqual: counts.numEqual + Number(verification.kind === 'equal'),
      numDiverged: counts.numDiverged + Number(verification.kind === 'diverged'),
      numUnverified: counts.numUnverified + Number(verification.kind === 'unverified'),
      numFilledRewards:
        counts.numFilledRewards + (verification.kind === 'equal' ? verification.numFilled : 0),
    };
    const { records, ...outcome } = verification;
    return { ...found, records, verification: outcome };
  }

  /** Begins to write the batch once the one before it is written. */
  private async flush(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.batchRecords = 0;
    this.batchCharacters = 0;
    await this.writing;
    this.writing = this.writeBatch(batch);
    // Its error is thrown where the next batch, or the end, waits for it.
    this.writing.catch(() => undefined);
  }

  private async writeBatch(batch: readonly Episode[]): Promise<void> {
    if (batch.length === 0) return;
    const numKnown = this.numKnownRecords;
    const refusal = await this.append(batch);
    if (refusal === null) {
      if (this.numKnownRecords > numKnown) await this.renew(batch);
      return;
    }
    if (batch.length === 1) {
      const [episode] = batch;
      const poorer = this.poorer(episode, refusal);
      if (poorer !== null) return this.writeBatch([poorer]);
      if (refusal.fault === null && (await this.grow(episode))) return;
      const detail = `${episode.records[0].episode}: ${refusal.message}`;
      return this.skip(episode.file, { code: 'REFUSED', detail, row: episode.row });
    }
    // A batch is taken as a whole or not at all, so each half shows whether it has the fault.
    const middle = batch.length >> 1;
    await this.writeBatch(batch.slice(0, middle));
    await this.writeBatch(batch.slice(middle));
  }

  /** Writes what is new of an episode that an earlier import has ended; false where it is another episode. */
  private async grow(episode: Episode): Promise<boolean> {
    const numKnown = (await this.sink.numStepsOf?.(episode.records[0].episode)) ?? null;
    if (numKnown === null) return false;
    const { known, later, more } = grownEpisode(episode.records, numKnown);
    if ((await this.appendRecords(known)) !== null) return false;
    await this.appendLater(later);
    await this.compareNotes([episode]);
    if (more.length > 0) await this.writeBatch([{ ...episode, records: more }]);
    else await this.note(episode);
    return true;
  }

  /** Gives again what the run has, but of which something else counts: rewards, tags and metadata that changed, or changed back. */
  private async renew(batch: readonly Episode[]): Promise<void> {
    const rewards = batch.flatMap(({ records }) => records.filter(isReward));
    const changed = changedRewards(rewards, await this.currentRewards(rewards));
    if (changed.length > 0) await this.appendRecords(changed);
    await this.compareNotes(batch);
  }

  /** Remembers which tags and metadata differ from those that the run has. */
  private async compareNotes(batch: readonly Episode[]): Promise<void> {
    const { sink, annotations } = this;
    const starts = batch.flatMap(({ records }) => records.filter(({ type }) => type === 'episode'));
    const noted = (await sink.importedNotes?.([...new Set(starts.map(({ episode }) => episode))])) ?? [];
    const before = new Map(noted.map((notes) => [notes.episode, notes]));
    for (const start of starts) {
      const notes = before.get(start.episode);
      if (notes === undefined) continue;
      const stored = sink.asStored === undefined ? start : sink.asStored(start);
      const annotation = changedNotes(start, stored, notes);
      if (annotation === null) annotations.delete(start.episode);
      else annotations.set(start.episode, annotation);
    }
  }

  /** Appends what may come after the end of an episode: its rewards as they are now. */
  private async appendLater(rewards: readonly WireReward[]): Promise<void> {
    const current = await this.currentRewards(rewards);
    const added = rewards.filter((reward) => !current.has(rewardKey(reward)));
    const later = [...added, ...changedRewards(rewards, current)];
    if (later.length === 0 || (await this.appendRecords(later)) === null) return;
    // One that was retracted, or of a run whose rewards are not known.
    for (const reward of later) {
      if ((await this.appendRecords([reward])) !== null) await this.appendRecords([changedReward(reward)]);
    }
  }

  private async currentRewards(rewards: readonly WireReward[]): Promise<ReadonlyMap<string, CurrentReward>> {
    const episodes = [...new Set(rewards.map(({ episode }) => episode))];
    const current = episodes.length === 0 ? [] : ((await this.sink.currentRewards?.(episodes)) ?? []);
    return new Map(current.map((reward) => [rewardKey(reward), reward]));
  }

  /** Appends records and counts them; returns why they are refused, if they are. */
  private async appendRecords(records: readonly WireRecord[]): Promise<Refusal | null> {
    // An episode of very many turns is more than one batch may be.
    for (let from = 0; from < records.length; from += MAX_APPENDED_RECORDS) {
      const refusal = await this.appendPart(records.slice(from, from + MAX_APPENDED_RECORDS), from);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  private async appendPart(records: readonly WireRecord[], from: number): Promise<Refusal | null> {
    try {
      const { accepted, duplicates } = await this.sink.append(records);
      this.numRecords += accepted;
      this.numKnownRecords += duplicates;
      return null;
    } catch (error) {
      const refusal = this.sink.refusalOf(error);
      if (refusal === null) throw error;
      const { fault } = refusal;
      return fault?.index == null ? refusal : { ...refusal, fault: { ...fault, index: fault.index + from } };
    }
  }

  /** The episode with a poorer record in place of the one at fault; null when there is none. */
  private poorer(episode: Episode, { fault }: Refusal): Episode | null {
    const record = fault === null ? undefined : episode.records[fault.index ?? -1];
    if (fault === null || record === undefined) return null;
    const made = this.options.poorer?.(record, fault) ?? null;
    if (made === null) return null;
    const records = episode.records.map((each) => (each === record ? made : each));
    const change = `${fault.field === '' ? record.type : fault.field}: refused, as it ${fault.rule}`;
    return { ...episode, records, changes: [...(episode.changes ?? []), change] };
  }

  /** Appends episodes and notes them; returns why they are refused, if they are. */
  private async append(batch: readonly Episode[]): Promise<Refusal | null> {
    const refusal = await this.appendRecords(batch.flatMap((episode) => episode.records));
    if (refusal !== null) return refusal;
    for (const episode of batch) await this.note(episode);
    return null;
  }

  /** Counts an episode that was taken. */
  private async note({ file, row, records: own, verification, changes = [] }: Episode): Promise<void> {
    const numSteps = own.filter(({ type }) => type === 'step').length;
    this.numEpisodes++;
    this.numSteps += numSteps;
    this.numPoorerEpisodes += Number(changes.length > 0);
    const episode = own[0].episode;
    const shown = {
      ...(verification !== undefined && { verification }),
      ...(changes.length > 0 && { changes }),
    };
    await this.options.onRow?.({ file, row, outcome: 'taken', episode, numSteps, ...shown });
  }

  private async skip(file: string, { code, detail, row }: Skip): Promise<void> {
    const reason = this.reasons.get(code);
    const example = reason?.example ?? { file, row, detail };
    this.reasons.set(code, { code, count: (reason?.count ?? 0) + 1, example });
    await this.options.onRow?.({ file, row, outcome: 'skipped', code, detail });
  }
}

interface Episode {
  readonly file: string;
  readonly row: number;
  readonly records: readonly WireRecord[];
  readonly verification?: Omit<Verification, 'records'>;
  readonly changes?: readonly string[];
}

function countCharacters(records: readonly WireRecord[]): number {
  let sum = 0;
  for (const record of records) {
    if (record.type !== 'step') continue;
    sum += (record.observation?.length ?? 0) + (record.action?.length ?? 0);
    for (const { content } of record.messages?.input ?? [])
      sum += typeof content === 'string' ? content.length : 1000;
    sum += (record.tokens?.ids.length ?? 0) * 8;
  }
  return sum;
}
