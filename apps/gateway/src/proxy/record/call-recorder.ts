import {
  outboxLine,
  type EndReason,
  type EndRecord,
  type OutboxEntry,
  type OutboxLine,
  type RewardRecord,
  type RunRecord,
  type Sender,
  type SpoolQueue,
  type StepRecord,
} from '@retrace/client';
import type { BookEvent, StepAdded } from '../episode/book-event.js';
import { copyHead, type Branch } from '../episode/branch.js';
import { EpisodeBook, type CallPlace } from '../episode/episode-book.js';
import type { PromptKeys } from '../episode/prompt-keys.js';
import type { RecordedCall } from '@retrace/chat';
import { episodeRecord, listPlaces, stepParts, type CallFacts, type EpisodeHeaders } from './call-records.js';
import type { Journal, JournalLine } from './journal.js';
import { nowUs } from './now-us.js';

/** How an episode ends, as far as somebody said it. */
export interface EpisodeEnding {
  readonly endReason: EndReason;
  readonly detail?: string;
  readonly success?: boolean;
}

export type RewardOfEpisode = Pick<RewardRecord, 'name' | 'value' | 'step' | 'source' | 'rationale'>;

interface RecorderParts {
  readonly sender: Sender;
  readonly spool: SpoolQueue;
  readonly journal: Journal;
}

/** The records of a change of the book. */
interface ChangeRecords {
  readonly run: string;
  /** The episode that they belong to; a reward goes to Retrace also where its episode was abandoned. */
  readonly branch?: Branch;
  /** Null where nothing of a record can be stored. */
  readonly records: readonly (RecordEntry | null)[];
  /** Whether they are those of a call, without which the rest of the episode can't be stored. */
  readonly isCall?: boolean;
}

type RecordEntry = Extract<OutboxEntry, { kind: 'record' }>;

/**
 * Records calls as steps of episodes: the book says where a call belongs, the journal keeps it, then the sender brings it to Retrace.
 * Nothing here waits for Retrace or fails on it.
 */
export class CallRecorder {
  private readonly book = new EpisodeBook();
  /** Ends of episodes that were asked for during a call of theirs. */
  private readonly endings = new Map<Branch, EpisodeEnding>();
  /** Episodes that were abandoned as a record of them found no room; calls of them may have been under way. */
  private readonly lost = new WeakSet<Branch>();
  /** Records that the sender has not yet, as the journal is writing them. */
  private numJournaling = 0;
  private isCompacting = false;
  numCalls = 0;
  /** Calls that belong to an episode of which a record was dropped. */
  numLost = 0;

  constructor(private readonly parts: RecorderParts) {}

  /** Takes over what earlier processes wrote. */
  restore(lines: readonly JournalLine[]): void {
    for (const { events, entries } of lines) {
      for (const event of events) this.book.apply(event);
      for (const entry of entries) this.parts.sender.enqueue(entry);
    }
  }

  get numOpenEpisodes(): number {
    return this.book.numOpen;
  }

  /** Records that Retrace has not acknowledged yet. */
  get numPending(): number {
    return this.numJournaling + this.parts.sender.stats.numPending;
  }

  /** Why the journal and the spool could not be written last; null for what was. */
  get diskFailures(): { readonly journal: string | null; readonly spool: string | null } {
    const { journal, spool } = this.parts;
    return { journal: journal.failure, spool: spool.failure };
  }

  /** Finds the place of a call; `record` must follow. @param name of the episode; null = found by the prompt */
  place(run: string, name: string | null, keys: PromptKeys): CallPlace {
    return this.book.place(run, name, keys, Date.now());
  }

  /** Records a call. Resolves once it is in the journal; it goes to Retrace later. */
  record(
    placement: CallPlace,
    call: RecordedCall,
    { headers, ...facts }: CallFacts & { readonly headers: EpisodeHeaders },
  ): Promise<void> {
    const { branch } = placement;
    if (this.lost.has(branch) || !this.parts.journal.hasRoom) {
      this.leaveOut(placement);
      return Promise.resolve();
    }
    const { run } = branch;
    const isNew = branch.numSteps === 0;
    const parts = stepParts(branch, call, facts);
    const step = this.storable(run, parts.record);
    // The book must know the tokens that the server will have.
    const { tokens } = (step?.content ?? {}) as Partial<StepRecord>;
    const group = isNew && branch.origin.kind === 'root' ? headers.group : null;
    const member = group === null ? 0 : this.book.nextMember(run, group);
    const episode = isNew
      ? this.storable(run, episodeRecord(branch, headers, member, facts.occurredAt))
      : null;
    const event: StepAdded = {
      type: 'step',
      head: copyHead(branch),
      step: placement.step,
      ...listPlaces(facts.keys, parts.isAnswered ? call.output : null),
      system: branch.system,
      tokens: tokens ? { keptPrefix: tokens.keptPrefix ?? 0, ids: tokens.ids } : null,
      toolsKey: parts.toolsKey,
      hasPendingCalls: parts.isAnswered && (call.output?.tool_calls?.length ?? 0) > 0,
      ...(group !== null && { group }),
      atMs: Math.floor(facts.occurredAt / 1000),
    };
    this.book.apply(event);
    this.book.release(placement);
    this.numCalls++;
    const written = this.write([event], { run, branch, records: [episode, step], isCall: true });
    const ended = this.endAfterCall(branch);
    return ended ? Promise.all([written, ended]).then(() => undefined) : written;
  }

  /** Ends the episode of a placement, once its call is recorded. */
  endWith({ branch }: CallPlace, ending: EpisodeEnding): void {
    this.endings.set(branch, ending);
  }

  /**
   * Ends an episode and those that came from it. Of forks the one with the newest call is the line that went on, and ends as was said;
   * the others are abandoned.
   *
   * @returns whether there is such an episode
   */
  end(run: string, name: string, ending: EpisodeEnding): boolean {
    const found = this.book.find(run, name);
    if (!found) return false;
    const root =
      this.book.open().find((branch) => branch.run === run && branch.episode === found.root) ?? found;
    const isDerived = found.episode === name && found.episode !== found.root;
    const family = isDerived ? [found] : this.book.familyOf(root);
    const newest = family.map((branch) => this.book.newestOf(branch));
    family.forEach((branch, i) => {
      const detail = `it went on as episode ${newest[i].episode}`;
      void this.endBranch(branch, branch === newest[i] ? ending : { endReason: 'abandoned', detail });
    });
    return true;
  }

  /** Ends episodes without a call since then. */
  endIdle(sinceMs: number, detail: string): void {
    for (const branch of this.book.open()) {
      if (branch.isBusy || branch.lastAtMs > sinceMs) continue;
      void this.endBranch(branch, { endReason: 'abandoned', detail });
    }
  }

  /** Rewards an episode, also one that has ended. @returns the episode's id; null when the journal has no room for the reward */
  reward(run: string, name: string, reward: RewardOfEpisode): string | null {
    const { journal, sender } = this.parts;
    if (!journal.hasRoom) {
      sender.countDropped();
      return null;
    }
    const episode = this.book.find(run, name)?.episode ?? this.book.endedEpisode(run, name) ?? name;
    const record: RewardRecord = {
      type: 'reward',
      id: crypto.randomUUID(),
      episode,
      occurredAt: nowUs(),
      ...reward,
    };
    void this.write([], { run, records: [this.storable(run, record)] });
    return episode;
  }

  /** Leaves in the journal only what the next process needs. */
  compact(): Promise<void> {
    const { journal, spool } = this.parts;
    return journal.replace(
      () => this.book.snapshot(),
      async () => {
        if (!(await spool.written())) throw new Error('the records in it are not in the spool yet');
      },
    );
  }

  /** Writes the journal again where it is long, or lacks a line that the disk refused: a next process would use its step again. */
  tidy(): void {
    const { isLong, lacksLines } = this.parts.journal;
    if (this.isCompacting || !(isLong || lacksLines)) return;
    this.isCompacting = true;
    void this.compact().finally(() => {
      this.isCompacting = false;
    });
  }

  private endAfterCall(branch: Branch): Promise<void> | null {
    const ending = this.endings.get(branch);
    if (!ending) return null;
    this.endings.delete(branch);
    return branch.numSteps > 0 ? this.endBranch(branch, ending) : null;
  }

  private endBranch(branch: Branch, ending: EpisodeEnding): Promise<void> {
    const { run, episode, numSteps } = branch;
    if (branch.isBusy) {
      this.endings.set(branch, ending);
      return Promise.resolve();
    }
    const record: EndRecord = { type: 'end', episode, numSteps, occurredAt: nowUs(), ...ending };
    const event: BookEvent = { type: 'end', run, episode };
    this.book.apply(event);
    return this.write([event], { run, branch, records: [this.storable(run, record)] });
  }

  /** A record as it is stored; null where nothing of it can be. */
  private storable(run: string, content: RunRecord): RecordEntry | null {
    return this.parts.sender.storable({ kind: 'record', run, content }) as RecordEntry | null;
  }

  /** Writes a change into the journal, and gives its records to the sender once it is there; resolves then. */
  private write(events: readonly BookEvent[], change: ChangeRecords): Promise<void> {
    const { journal } = this.parts;
    const entries = change.records.filter((record) => record !== null);
    const lines = entries.map(outboxLine);
    this.numJournaling += entries.length;
    const written = journal.append({ events, entries: lines }, () => {
      this.numJournaling -= entries.length;
      this.send(entries, lines, change);
    });
    this.tidy();
    return written;
  }

  /** Sends records that are in the journal, unless an earlier one of their episode found no room. */
  private send(
    entries: readonly RecordEntry[],
    lines: readonly OutboxLine[],
    { branch, isCall = false }: ChangeRecords,
  ): void {
    if (branch && this.lost.has(branch)) {
      if (isCall) this.countLost(entries.length);
      return;
    }
    const { sender } = this.parts;
    const areTaken = entries.map((entry, i) => sender.enqueueLine(entry, lines[i])).every(Boolean);
    if (areTaken || !branch || !isCall) return;
    this.numLost++;
    this.lose(branch);
  }

  /** Leaves a call out whose episode was abandoned, or which the journal has no room for: then its episode is. */
  private leaveOut(placement: CallPlace): void {
    const { branch } = placement;
    this.endings.delete(branch);
    this.countLost(1);
    if (this.lost.has(branch)) return;
    this.book.release(placement);
    const detail = 'a call of it found no room in the journal of the proxy';
    if (branch.numSteps > 0) void this.endBranch(branch, { endReason: 'abandoned', detail });
  }

  /**
   * Abandons an episode whose records found no room: those after them could not be stored. The sender keeps its end until there is room.
   * Its next call begins another one.
   */
  private lose(branch: Branch): void {
    const { run, episode } = branch;
    this.lost.add(branch);
    const event: BookEvent = { type: 'end', run, episode };
    this.book.apply(event);
    const detail = 'a call of it found no room in the spool of the proxy';
    const content: EndRecord = { type: 'end', episode, endReason: 'abandoned', detail, occurredAt: nowUs() };
    void this.write([event], { run, records: [{ kind: 'record', run, content }] });
  }

  /** Counts a call of an episode that was abandoned while the call was under way. */
  private countLost(numRecords: number): void {
    this.numLost++;
    for (let i = 0; i < numRecords; i++) this.parts.sender.countDropped();
  }
}
