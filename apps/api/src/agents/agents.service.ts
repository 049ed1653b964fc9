import { Injectable } from '@nestjs/common';
import type { AgentAddress } from '@retrace/process';
import { ProblemError, type ProblemCode } from '../problems/problem.js';
import { RunControl } from '../run-queue/run-control.js';
import type { AskPolicyRequest, PolicyAnswer } from './agents.dto.js';
import { readCompletion, type Completion } from './read-completion.js';

/** The first question starts the process that answers and loads the weights. */
const TIMEOUT_MS = 120_000;

const PROBLEM_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: 'INVALID_REQUEST',
  401: 'KEY_REQUIRED',
  403: 'SCOPE_MISSING',
  404: 'NOT_FOUND',
};

/** Asks policies through the proxy that the supervisor of this server runs for agents. */
@Injectable()
export class AgentsService {
  constructor(private readonly control: RunControl) {}

  async proxy(): Promise<AgentAddress | null> {
    const answer = await this.control.ask?.({ kind: 'show' });
    return answer?.ok === true ? answer.agents : null;
  }

  /**
   * @param authorization header with the caller's key, which the server of the policy asks for too
   * @throws ProblemError `NOT_FOUND`, `POLICY_UNAVAILABLE`, `INVALID_REQUEST`, `KEY_REQUIRED`, `SCOPE_MISSING`
   */
  async ask(
    runId: string,
    { text, policy, maxTokens }: AskPolicyRequest,
    authorization?: string,
  ): Promise<PolicyAnswer> {
    const proxy = await this.proxy();
    if (proxy === null)
      throw new ProblemError('NOT_FOUND', 'This server runs no proxy for agents, so no policy can be asked');
    const response = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-retrace-end': 'terminated',
        'x-retrace-tags': 'asked',
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify({
        model: policy === 'first' ? `run:${runId}@first` : `run:${runId}`,
        messages: [{ role: 'user', content: text }],
        max_tokens: maxTokens,
        logprobs: true,
        return_token_ids: true,
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ProblemError('POLICY_UNAVAILABLE', `The proxy gave no answer: ${(error as Error).message}`);
    });
    const body = (await response.json()) as Completion | { readonly error?: { readonly message?: string } };
    if ('choices' in body) return readCompletion(body, response.headers);
    const code = PROBLEM_OF_STATUS[response.status] ?? 'POLICY_UNAVAILABLE';
    throw new ProblemError(code, body.error?.message ?? `The proxy answered with status ${response.status}`);
  }
}
