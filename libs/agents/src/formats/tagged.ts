import type { ActionFormat, ActionFormatOptions, ParsedTurn } from '../action-format.js';
import { type Block, TagReader } from '../tags/block.js';
import { legalSpelling } from './legal-spelling.js';
import { invalidTurn, validTurn } from './turns.js';
import { soleAction } from './sole-action.js';

export interface TaggedFormatSpec {
  readonly name: string;
  /** Tags of thoughts; one block is needed. The first is the one that is written. */
  readonly thoughtTags: readonly string[];
  readonly actionTag: string;
  readonly instructions: string;
}

interface TaggedReply {
  readonly thought: string | null;
  /** Content of the block of the action; null when none opens. */
  readonly action: string | null;
  /** A sentence for the agent; null when the reply keeps to the format. */
  readonly problem: string | null;
}

/** A thought in one tag, then an action in another, as verl-agent, OpenManus-RL and RAGEN use them. */
export class TaggedReplies {
  private readonly thoughts: readonly TagReader[];
  private readonly action: TagReader;
  private readonly strict: boolean;

  constructor(spec: TaggedFormatSpec, { strict }: Pick<ActionFormatOptions, 'strict'>) {
    this.thoughts = spec.thoughtTags.map((tag) => new TagReader(tag));
    this.action = new TagReader(spec.actionTag);
    this.strict = strict;
  }

  read(text: string): TaggedReply {
    return this.strict ? this.readStrictly(text) : this.readLeniently(text);
  }

  write(thought: string, action: string): string {
    return `${this.thoughts[0].write(thought)}${this.action.write(action)}`;
  }

  /** Only blanks may stand outside the two blocks, and no tag inside them. */
  private readStrictly(text: string): TaggedReply {
    const [first] = this.thoughtBlocks(text);
    const action = this.action.block(text, first?.end);
    const reply = { thought: first?.content ?? null, action: action?.content ?? null };
    const problemWith = (problem: string | null): TaggedReply => ({ ...reply, problem });
    if (first === undefined || text.slice(0, first.start).trim() !== '') {
      return problemWith(`Your answer must begin with ${this.thoughts[0].write('…')}.`);
    }
    if (!action?.isClosed || text.slice(first.end, action.start).trim() !== '') {
      return problemWith(`${this.action.write('…')} must follow your reasoning.`);
    }
    if (text.slice(action.end).trim() !== '') {
      return problemWith(`Nothing may follow ${this.action.write('…')}.`);
    }
    const numTags = [...this.thoughts, this.action].reduce((sum, tag) => sum + tag.count(text), 0);
    return problemWith(numTags > 2 ? 'Every tag may be used only once.' : null);
  }

  /** The first action after the thought, with any words around the blocks; the prompt may have opened the thought. */
  private readLeniently(text: string): TaggedReply {
    const { thought, end } = this.thoughtOf(text);
    const action = this.action.block(text, end);
    const reply = { thought, action: action?.content ?? null };
    if (action === null) return { ...reply, problem: `Your answer has no ${this.action.write('…')}.` };
    if (!action.isClosed) return { ...reply, problem: `Your answer does not close <${this.action.tag}>.` };
    return {
      ...reply,
      problem: thought === null ? `Your answer has no ${this.thoughts[0].write('…')}.` : null,
    };
  }

  private thoughtOf(text: string): { readonly thought: string | null; readonly end: number } {
    const blocks = this.thoughtBlocks(text);
    if (blocks.length > 0) {
      const action = this.action.block(text, blocks[0].end)?.start ?? text.length;
      const before = blocks.filter((block) => block.end <= action);
      return { thought: before.map(({ content }) => content).join('\n'), end: before[before.length - 1].end };
    }
    const close = this.thoughts[0].closingTag(text);
    if (close === -1) return { thought: null, end: 0 };
    return { thought: text.slice(0, close).trim(), end: close + this.thoughts[0].tag.length + 3 };
  }

  /** The first closed block of each tag of thoughts, in the order of the text. */
  private thoughtBlocks(text: string): readonly Block[] {
    return this.thoughts
      .map((tag) => tag.block(text))
      .filter((block): block is Block => block?.isClosed === true)
      .sort((a, b) => a.start - b.start);
  }
}

/** A format of one action, between tags. */
export function taggedFormat(spec: TaggedFormatSpec, { strict }: ActionFormatOptions): ActionFormat {
  const replies = new TaggedReplies(spec, { strict });
  return {
    name: spec.name,
    instructions: spec.instructions,
    stopStrings: [`</${spec.actionTag}>`],
    parse(text, { legalActions }): ParsedTurn {
      const { thought, action, problem } = replies.read(text);
      const isEmpty = action === null || action === '';
      const actions =
        isEmpty || (strict && problem !== null)
          ? []
          : [(!strict && legalActions && legalSpelling(action, legalActions)) || action];
      if (problem !== null) return invalidTurn(problem, { actions, thought });
      return isEmpty
        ? invalidTurn(`<${spec.actionTag}> is empty.`, { thought })
        : validTurn(actions, { thought });
    },
    write: ({ thought = '', actions }) => replies.write(thought, soleAction(spec.name, actions)),
  };
}
