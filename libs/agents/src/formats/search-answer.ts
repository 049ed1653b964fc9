import type { ActionFormat, ActionFormatOptions } from '../action-format.js';
import { type Block, TagReader } from '../tags/block.js';
import { soleAction } from './sole-action.js';
import { invalidTurn, validTurn } from './turns.js';

const INSTRUCTIONS = `Think first, and then either search or answer:
<think>your reasoning</think><search>your query</search>
<think>your reasoning</think><answer>your final answer</answer>`;

const THINK = new TagReader('think');
const SEARCH = new TagReader('search');
const ANSWER = new TagReader('answer');

/** A search or the final answer, as verl-agent's search environment takes them: the action keeps its tags. */
export function searchAnswerFormat({ strict }: ActionFormatOptions): ActionFormat {
  return {
    name: 'search-answer',
    instructions: INSTRUCTIONS,
    stopStrings: ['</search>', '</answer>'],
    parse(text) {
      const first = THINK.block(text);
      const think = first?.isClosed ? first : null;
      const reply = text.slice(think?.end ?? 0);
      const thought = think?.content;
      const found = firstClosed(reply);
      if (found === null) {
        return invalidTurn('Your answer has no <search>…</search> or <answer>…</answer>.', { thought });
      }
      const { block, tag } = found;
      const around = text.slice(0, think?.start ?? 0) + reply.slice(0, block.start) + reply.slice(block.end);
      const problem =
        SEARCH.count(reply) + ANSWER.count(reply) > 1
          ? 'Search or answer once in a turn, and not both.'
          : strict
            ? strictProblem(think, around)
            : null;
      const actions = strict && problem !== null ? [] : [tag.write(block.content)];
      return problem === null ? validTurn(actions, { thought }) : invalidTurn(problem, { actions, thought });
    },
    write: ({ thought = '', actions }) => THINK.write(thought) + soleAction('search-answer', actions),
  };
}

function strictProblem(think: Block | null, around: string): string | null {
  if (think === null) return 'Your answer must begin with <think>…</think>.';
  return around.trim() === '' ? null : 'Nothing may stand outside the tags.';
}

function firstClosed(text: string): { readonly block: Block; readonly tag: TagReader } | null {
  const [first] = [SEARCH, ANSWER]
    .map((tag) => ({ tag, block: tag.block(text) }))
    .filter((found): found is { tag: TagReader; block: Block } => found.block?.isClosed === true)
    .sort((a, b) => a.block.start - b.block.start);
  return first ?? null;
}
