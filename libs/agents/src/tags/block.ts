/** A stretch of text between a tag and its closing tag. */
export interface Block {
  /** Text between the tags, trimmed. */
  readonly content: string;
  /** Where the opening tag starts, and where the closing tag ends. */
  readonly start: number;
  readonly end: number;
  /** False when the text ends before the closing tag. */
  readonly isClosed: boolean;
}

/** Finds tags of one name in any case, in time linear in the text. */
export class TagReader {
  private readonly opening: RegExp;
  private readonly closing: RegExp;

  /** `tag` is made of letters and `_`. */
  constructor(readonly tag: string) {
    this.opening = new RegExp(`<${tag}>`, 'gi');
    this.closing = new RegExp(`</${tag}>`, 'gi');
  }

  /** First block at or after `from`; null when no tag opens there. */
  block(text: string, from = 0): Block | null {
    const start = indexOfMatch(this.opening, text, from);
    if (start === -1) return null;
    const contentStart = start + this.tag.length + 2;
    const close = indexOfMatch(this.closing, text, contentStart);
    if (close === -1)
      return { content: text.slice(contentStart).trim(), start, end: text.length, isClosed: false };
    const end = close + this.tag.length + 3;
    return { content: text.slice(contentStart, close).trim(), start, end, isClosed: true };
  }

  /** Up to `most` closed blocks one after the other. */
  blocks(text: string, most: number): readonly Block[] {
    const found: Block[] = [];
    for (
      let next = this.block(text);
      next?.isClosed && found.length < most;
      next = this.block(text, next.end)
    ) {
      found.push(next);
    }
    return found;
  }

  closingTag(text: string, from = 0): number {
    return indexOfMatch(this.closing, text, from);
  }

  count(text: string): number {
    return text.match(this.opening)?.length ?? 0;
  }

  write(content: string): string {
    return `<${this.tag}>${content}</${this.tag}>`;
  }
}

function indexOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}
