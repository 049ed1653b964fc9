import type { ChoiceAddition } from '@retrace/chat';
import type { Tokenizer, TurnColumns } from '@retrace/policy';
import type { SampledTokens } from '../engine/answer-request.js';
import { TextStream } from '../engine/text-stream.js';
import type { SamplingFields } from './sampling-fields.js';
import { ToolCallStream } from './tool-call-stream.js';
import type { RequestTools } from './tools.js';

/** Addition of new tokens to a choice, with all that is known of them. */
export interface ChoiceDelta extends ChoiceAddition {
  readonly columns: TurnColumns;
}

/** Reads the tokens of one choice as words and tool calls. */
export class ChoiceReader {
  private readonly text: TextStream;
  private readonly calls: ToolCallStream;
  private numCharacters = 0;

  constructor(
    tokenizer: Tokenizer,
    private readonly sampling: SamplingFields,
    tools: RequestTools | null,
  ) {
    this.text = new TextStream(tokenizer, sampling);
    this.calls = new ToolCallStream(tools);
  }

  read({ columns, stopReason }: SampledTokens): ChoiceDelta {
    const words = this.calls.push(this.text.push(columns.tokenIds, stopReason));
    const ended = stopReason === null ? null : this.calls.end();
    const content = words + (ended?.content ?? '');
    const toolCalls = ended?.toolCalls ?? [];
    const textOffset = this.numCharacters;
    this.numCharacters += content.length;
    return {
      content,
      toolCalls,
      columns,
      textOffset,
      end: stopReason && {
        finishReason: toolCalls.length > 0 ? 'tool_calls' : stopReason === 'length' ? 'length' : 'stop',
        stopReason: this.stopOf(columns, stopReason),
      },
    };
  }

  private stopOf({ tokenIds }: TurnColumns, stopReason: string): string | number | null {
    if (stopReason === 'stopString') return this.text.matchedStop;
    const last = tokenIds[tokenIds.length - 1];
    return stopReason === 'stop' && this.sampling.stopTokenIds.includes(last) ? last : null;
  }
}

/** Joins what a choice got bit by bit. */
export function joinDeltas(deltas: readonly ChoiceDelta[]): ChoiceDelta {
  const columns = deltas.map((delta) => delta.columns);
  return {
    content: deltas.map(({ content }) => content).join(''),
    toolCalls: deltas.flatMap(({ toolCalls }) => toolCalls),
    columns: {
      tokenIds: Int32Array.from(columns.flatMap(({ tokenIds }) => [...tokenIds])),
      logprobs: Float32Array.from(columns.flatMap(({ logprobs }) => [...logprobs])),
      rawLogprobs: Float32Array.from(columns.flatMap(({ rawLogprobs }) => [...rawLogprobs])),
      entropies: Float32Array.from(columns.flatMap(({ entropies }) => [...entropies])),
      policyVersions: Int32Array.from(columns.flatMap(({ policyVersions }) => [...policyVersions])),
      likeliest: columns.flatMap(({ likeliest }) => likeliest ?? []),
    },
    textOffset: 0,
    end: deltas.at(-1)?.end ?? null,
  };
}
