import { randomUUID } from 'node:crypto';
import { writtenToolCalls } from '@retrace/agents';
import type { ChoiceAddition } from '@retrace/chat';
import { jsonField } from '@retrace/jinja';
import { lengthOfBeginning } from '../engine/text-stream.js';
import type { RequestTools } from './tools.js';

const OPENING = '<tool_call>';

export interface ReadTurn {
  /** Text that has not been passed on yet. */
  readonly content: string;
  readonly toolCalls: ChoiceAddition['toolCalls'];
}

/** Tells the words of a turn from its tool calls: words are passed on at once, calls when the turn has ended. */
export class ToolCallStream {
  private text = '';
  private numPassed = 0;

  /** @param tools null: all text is words */
  constructor(private readonly tools: RequestTools | null) {}

  /** Adds text of the turn; returns words that are no part of a call. */
  push(text: string): string {
    if (this.tools === null) return text;
    this.text += text;
    const opening = this.text.indexOf(OPENING, this.numPassed);
    const open = opening >= 0 ? opening : this.text.length - lengthOfBeginning(this.text, OPENING);
    // White space before a call is no part of the words.
    return this.passUpTo(this.text.slice(0, open).trimEnd().length);
  }

  /** Ends the turn. One whose calls break the format, or its tools' schemas, is words as a whole. */
  end(): ReadTurn {
    if (this.tools === null) return { content: '', toolCalls: [] };
    const { valid, toolCalls } = this.tools.format.parse(this.text, { legalActions: null });
    if (!valid || toolCalls.length === 0) {
      return { content: this.passUpTo(this.text.length), toolCalls: [] };
    }
    const content = this.passUpTo(this.text.slice(0, this.text.indexOf(OPENING)).trimEnd().length);
    // As the model wrote them: parsed and written again, 3.0 would be 3.
    const written = writtenToolCalls(this.text);
    return {
      content,
      toolCalls: toolCalls.map(({ name }, n) => ({
        id: `call_${randomUUID().replaceAll('-', '')}`,
        type: 'function',
        function: { name, arguments: jsonField(written[n], 'arguments') ?? '{}' },
      })),
    };
  }

  private passUpTo(end: number): string {
    const passed = this.text.slice(this.numPassed, end);
    this.numPassed = Math.max(this.numPassed, end);
    return passed;
  }
}
