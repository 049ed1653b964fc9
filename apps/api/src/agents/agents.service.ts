import { Injectable } from '@nestjs/common';
import type { AgentAddress } from '@retrace/process';
import { ApiConfig } from '../config/api-config.js';
import { AccessControl } from '../keys/access-control.js';
import { ProblemError, type ProblemCode } from '../problems/problem.js';
import { RunControl } from '../run-queue/run-control.js';
import type { AgentProxy, AskPolicyRequest, PolicyAnswer } from './agents.dto.js';
import { readCompletion } from './read-completion.js';

/** The first question starts the process that answers and loads the weights. */
const TIMEOUT_MS = 120_000;

const PROBLEM_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  404: 'NOT_FOUND',
  429: 'TOO_MANY_CLIENTS',
};

interface Failure {
  readonly error?: { readonly message?: string; readonly param?: string | null } | null;
}

/** Asks policies through the proxy that the supervisor of this server runs for agents. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly control: RunControl,
    private readonly access: AccessControl,
    private readonly config: ApiConfig,
  ) {}

  /** Null where no proxy runs. @throws ProblemError `RUN_CONTROL_UNANSWERED` */
  async proxy(): Promise<AgentProxy | null> {
    const agents = await this.address();
    return agents && { ...agents, needsKey: agents.policiesAnswer && (await this.access.needsKey()) };
  }

  /** @throws ProblemError `NOT_FOUND`, `POLICY_UNAVAILABLE`, `TOO_MANY_CLIENTS`, `INVALID_REQUEST`, `RUN_CONTROL_UNANSWERED` */
  async ask(runId: string, asked: AskPolicyRequest): Promise<PolicyAnswer> {
    const proxy = await this.address();
    if (proxy === null)
      throw new ProblemError('NOT_FOUND', 'This server runs no proxy for agents, so no policy can be asked');
    if (!proxy.policiesAnswer)
      throw new ProblemError(
        'NOT_FOUND',
        'The proxy of this server passes calls on to another model server (RETRACE_PROXY_UPSTREAM), so no policy can be asked',
      );
    const { response, body } = await this.post(proxy, runId, asked).catch((error: unknown) => {
      throw new ProblemError('POLICY_UNAVAILABLE', `The proxy gave no answer: ${(error as Error).message}`);
    });
    const answer = response.ok ? readCompletion(body, response.headers) : null;
    if (answer === null) throw toProblem(response.status, (body ?? {}) as Failure, asked);
    return answer;
  }

  private async address(): Promise<AgentAddress | null> {
    const answer = await this.control.ask?.({ kind: 'show' });
    if (answer === undefined) return null;
    if (!answer.ok) throw new ProblemError('RUN_CONTROL_UNANSWERED', answer.message);
    return answer.agents;
  }

  /** Asks with the key of this server, never with that of the caller, which is for this API only. */
  private async post(
    { url }: AgentAddress,
    runId: string,
    { text, policy, maxTokens }: AskPolicyRequest,
  ): Promise<{ readonly response: Response; readonly body: unknown }> {
    const { agentsKey } = this.config;
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-retrace-end': 'terminated',
        'x-retrace-tags': 'asked',
        ...(agentsKey !== null && { authorization: `Bearer ${agentsKey}` }),
      },
      body: JSON.stringify({
        model: policy === 'first' ? `run:${runId}@first` : `run:${runId}`,
        messages: [{ role: 'user', content: text }],
        max_tokens: maxTokens,
        logprobs: true,
        return_token_ids: true,
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { response, body: (await response.json()) as unknown };
  }
}

function toProblem(status: number, { error }: Failure, { text, maxTokens }: AskPolicyRequest): ProblemError {
  const message = error?.message ?? `The proxy answered with status ${status}, and without a text`;
  if (status !== 400) return new ProblemError(PROBLEM_OF_STATUS[status] ?? 'POLICY_UNAVAILABLE', message);
  const [field, value] =
    error?.param === 'max_tokens' ? ['maxTokens', maxTokens] : ['text', text.slice(0, MAX_SHOWN)];
  return new ProblemError('INVALID_REQUEST', message, [{ field: `${field}`, value, rule: message }]);
}

const MAX_SHOWN = 200;
