import type { JsonObject } from '@retrace/client';
import { objectOfEvent, STREAM_END, type SseEvent } from '../sse/sse-event.js';
import type { RecordedCall, StreamReader } from './protocol.js';

const UNREADABLE = 'an event of the answer could not be read';

/**
 * Reads the events of one streamed answer, and notes the first thing that is missing in it: an event that can't be read, or one that others show to have
 * been lost. Whatever comes after such a hole is no part of the answer.
 */
export abstract class EventsReader implements StreamReader {
  private firstHole: string | undefined;
  private isOver = false;

  /** The first thing that is missing; undefined where nothing is, as far as the events tell. */
  protected get hole(): string | undefined {
    return this.firstHole;
  }

  add(event: SseEvent): void {
    const { data } = event;
    if (data.trim() === '') return;
    if (data === STREAM_END) {
      this.end();
      this.close();
      return;
    }
    const object = objectOfEvent(event);
    if (object === null) this.miss(UNREADABLE);
    else this.read(object);
  }

  abstract finish(isComplete: boolean): RecordedCall;

  protected abstract read(event: JsonObject): void;

  /** The stream says that it ends. */
  protected end(): void {
    // Only some protocols say it by an event that is no object.
  }

  /** Notes that the answer has ended, or failed: what comes now is no part of it. */
  protected close(): void {
    this.isOver = true;
  }

  protected miss(what: string = UNREADABLE): void {
    if (!this.isOver) this.firstHole ??= what;
  }
}
