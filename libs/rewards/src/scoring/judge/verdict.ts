import { createHash } from 'node:crypto';
import { completionCounts, asCount, asObject } from '@retrace/chat';
import { EndpointError } from '@retrace/endpoints';
import type { JudgeAnswer, JudgeRequest } from '../../judge.js';

/** A judge's answer to one question, as it is in the event log: enough to score again without the judge. */
export interface JudgeVerdict {
  /** SHA-256, hex, of the question: `requestBody`. */
  readonly promptHash: string;
  readonly model: string;
  /** null when the judge refused to answer. */
  readonly score: number | null;
  readonly rationale: string;
  /** The judge's message, word for word. */
  readonly raw: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The verdict on a question that counts: the first, of those in log order. */
export function firstOn(hash: string, verdicts: readonly JudgeVerdict[] = []): JudgeVerdict | undefined {
  return verdicts.find(({ promptHash: asked }) => asked === hash);
}

/** Answer to the component that asked: a refusal leaves the reward missing. */
export function toJudgeAnswer({ score, rationale }: JudgeVerdict): JudgeAnswer {
  return score === null
    ? { kind: 'none', reason: `judge: refused: ${rationale}` }
    : { kind: 'verdict', score, rationale };
}

/** The body of a chat completion request (OpenAI's API, as vLLM and SGLang serve it), with the form of the answer. */
export function requestBody(request: JudgeRequest): object {
  const { model, system, user, minScore, maxScore, temperature, maxTokens, seed } = request;
  return {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    temperature,
    max_tokens: maxTokens,
    seed,
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'verdict',
        strict: true,
        schema: {
          type: 'object',
          properties: {
            rationale: { type: 'string' },
            score: { type: 'number', minimum: minScore, maximum: maxScore },
          },
          required: ['rationale', 'score'],
          additionalProperties: false,
        },
      },
    },
  };
}

export function promptHash(request: JudgeRequest): string {
  return createHash('sha256')
    .update(JSON.stringify(requestBody(request)))
    .digest('hex');
}

/**
 * Reads a chat completion.
 *
 * @throws EndpointError `MALFORMED_ANSWER` when it is not a completion, was cut off, is not JSON of that form, or its score is outside the range
 */
export function readVerdict(answer: unknown, request: JudgeRequest): JudgeVerdict {
  const { choices } = asObject(answer);
  const choice = asObject(Array.isArray(choices) ? choices[0] : null);
  const { content, refusal } = asObject(choice.message);
  const common = { promptHash: promptHash(request), model: request.model, ...readJudgeTokens(answer) };
  if (typeof refusal === 'string' && refusal !== '') {
    return { ...common, score: null, rationale: refusal, raw: refusal };
  }
  if (typeof content !== 'string') throw malformed('the answer holds no message');
  if (choice.finish_reason === 'length') throw malformed('the answer was cut off at maxTokens');
  let verdict: { readonly score?: unknown; readonly rationale?: unknown } | null;
  try {
    verdict = JSON.parse(content) as typeof verdict;
  } catch {
    throw malformed(`the answer is not JSON: ${content.slice(0, 80)}`);
  }
  const { minScore, maxScore } = request;
  const { score, rationale } = verdict ?? {};
  if (typeof score !== 'number' || !(score >= minScore && score <= maxScore)) {
    throw malformed(
      `score is ${JSON.stringify(score) ?? 'missing'}, must be a number from ${minScore} to ${maxScore}`,
    );
  }
  if (typeof rationale !== 'string') throw malformed('rationale is missing, must be a text');
  return { ...common, score, rationale, raw: content };
}

/** Tokens that a chat completion says it took; 0 where it does not say. */
export function readJudgeTokens(answer: unknown): Pick<JudgeVerdict, 'promptTokens' | 'completionTokens'> {
  const { inputTokens, outputTokens } = completionCounts(asObject(asObject(answer).usage), asCount);
  return { promptTokens: inputTokens ?? 0, completionTokens: outputTokens ?? 0 };
}

function malformed(message: string): EndpointError {
  return new EndpointError('MALFORMED_ANSWER', message);
}
