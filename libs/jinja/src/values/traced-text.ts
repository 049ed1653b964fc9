import { takeSize } from '../meter.js';

/**
 * A text that remembers which of its parts came from where, as numbers that the caller of a template chose; 0 is the template itself.
 * Slices and joined texts keep the origins of their parts. A text that is computed otherwise has the highest origin of all it was made of.
 */
export class TracedText {
  constructor(
    readonly text: string,
    /** In order, not overlapping, none of them empty; what is between them is the template's. */
    readonly spans: readonly OriginSpan[],
  ) {}
}

export interface OriginSpan {
  readonly start: number;
  readonly end: number;
  readonly origin: number;
}

export type Text = string | TracedText;

export function isText(value: unknown): value is Text {
  return typeof value === 'string' || value instanceof TracedText;
}

export function plainText(text: Text): string {
  return typeof text === 'string' ? text : text.text;
}

/** A whole text of one origin. */
export function traced(text: string, origin: number): Text {
  return origin === 0 || text === '' ? text : new TracedText(text, [{ start: 0, end: text.length, origin }]);
}

/** The highest origin of a text's parts. */
export function originOfText(text: Text): number {
  if (typeof text === 'string') return 0;
  return text.spans.reduce((highest, { origin }) => Math.max(highest, origin), 0);
}

/** A part of a text, by offsets in UTF-16. */
export function sliceText(text: Text, start: number, end = plainText(text).length): Text {
  if (typeof text === 'string') return text.slice(start, end);
  const spans = text.spans
    .map((span) => ({
      ...span,
      start: Math.max(span.start, start) - start,
      end: Math.min(span.end, end) - start,
    }))
    .filter((span) => span.start < span.end);
  const part = text.text.slice(start, end);
  return spans.length === 0 ? part : new TracedText(part, spans);
}

export function joinTexts(parts: readonly Text[], separator: Text = ''): Text {
  const between = plainText(separator).length;
  takeSize(parts.reduce((sum, part) => sum + plainText(part).length + between, 0));
  const isPlain = typeof separator === 'string' && parts.every((part) => typeof part === 'string');
  if (isPlain) return parts.join(separator);
  const texts: string[] = [];
  const spans: OriginSpan[] = [];
  let length = 0;
  const add = (part: Text) => {
    if (typeof part !== 'string')
      for (const { start, end, origin } of part.spans)
        spans.push({ start: length + start, end: length + end, origin });
    texts.push(plainText(part));
    length += plainText(part).length;
  };
  parts.forEach((part, n) => {
    if (n > 0) add(separator);
    add(part);
  });
  return spans.length === 0 ? texts.join('') : new TracedText(texts.join(''), spans);
}
