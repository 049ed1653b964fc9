import type { SseEvent } from './sse-event.js';

/** A part of a stream that ends with a blank line. */
export interface SseFrame {
  /** Its text as it came, blank line included: all frames together are the stream. */
  readonly raw: string;
  /** null for a frame without data: a comment, as servers send to keep a connection alive. */
  readonly event: SseEvent | null;
  /** Whether it has lines, and none of them is data, a comment or another field of an event: not an event that could be read. */
  readonly isUnreadable?: true;
}

const FIELDS: readonly string[] = ['data', 'event', 'id', 'retry'];
const END_OF_LINE = /\r\n|\n|\r/;
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
/** A blank line is at most so long. */
const MAX_BLANK_LINE = 4;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Cuts a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) into its frames, in time that grows with the length
 * of the stream, however its frames are cut.
 */
export class SseFrames {
  /** The texts of a frame that has not ended. */
  private parts: string[] = [];
  /** The end of those texts: a blank line may begin there. */
  private tail = '';
  private numHeld = 0;

  /** Length of the frame that has not ended. */
  get heldCharacters(): number {
    return this.numHeld;
  }

  /** @returns the frames that this text completes */
  add(text: string): SseFrame[] {
    const frames: SseFrame[] = [];
    const known = this.tail.length;
    const seen = this.tail + text;
    let start = known;
    BLANK_LINE.lastIndex = 0;
    for (let match = BLANK_LINE.exec(seen); match; match = BLANK_LINE.exec(seen)) {
      const end = BLANK_LINE.lastIndex;
      // The line feed that belongs to this carriage return may still come.
      if (end === seen.length && match[0].endsWith('\r')) break;
      frames.push(toFrame(this.takeHeld() + seen.slice(start, end)));
      start = end;
    }
    this.hold(seen.slice(start));
    this.tail = seen.slice(Math.max(frames.length > 0 ? start : 0, seen.length - MAX_BLANK_LINE));
    return frames;
  }

  /** @returns what came after the last blank line, which some servers leave out at their end; null when nothing did */
  finish(): SseFrame | null {
    const rest = this.takeHeld();
    return rest === '' ? null : toFrame(rest);
  }

  private hold(text: string): void {
    if (text !== '') this.parts.push(text);
    this.numHeld += text.length;
  }

  private takeHeld(): string {
    const held = this.parts.join('');
    this.parts = [];
    this.tail = '';
    this.numHeld = 0;
    return held;
  }
}

/** The frame with other data. Its further lines stay: names, ids, comments. */
export function withData({ raw }: SseFrame, data: string): string {
  const lines = raw.split(END_OF_LINE);
  const first = lines.findIndex(isData);
  const kept = lines.filter((line, i) => line !== '' && (i === first || !isData(line)));
  return `${kept.map((line) => (isData(line) ? `data: ${data}` : line)).join('\n')}\n\n`;
}

function isData(line: string): boolean {
  return line === 'data' || line.startsWith('data:');
}

function toFrame(raw: string): SseFrame {
  let event: string | null = null;
  const data: string[] = [];
  let isUnreadable = false;
  const text = raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw;
  for (const line of text.split(END_OF_LINE)) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    // A comment has no name.
    else if (name !== '' && !FIELDS.includes(name)) isUnreadable = true;
  }
  return data.length > 0
    ? { raw, event: { event, data: data.join('\n') } }
    : { raw, event: null, ...(isUnreadable && { isUnreadable }) };
}
