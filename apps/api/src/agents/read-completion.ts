import type { PolicyAnswer } from './agents.dto.js';

/** The parts of an answer of `retrace serve` to a chat that are read. */
export interface Completion {
  readonly policy_version: number;
  readonly choices: readonly {
    readonly message: { readonly content: string | null };
    readonly logprobs: {
      readonly content: readonly { readonly token: string; readonly logprob: number }[];
    } | null;
    readonly token_ids: readonly number[] | null;
    readonly policy_versions: readonly {
      readonly version: number;
      readonly start: number;
      readonly end: number;
    }[];
  }[];
}

/**
 * Reads an answer of the proxy. Null where it is none of a policy.
 *
 * @param headers with the run and the episode in which the proxy recorded the call
 */
export function readCompletion(body: unknown, headers: Pick<Headers, 'get'>): PolicyAnswer | null {
  if (!isCompletion(body)) return null;
  const {
    policy_version: newest,
    choices: [choice],
  } = body;
  const { token_ids: ids, logprobs, message, policy_versions: versions } = choice;
  const sampled = logprobs?.content ?? [];
  return {
    text: message.content ?? '',
    policyVersion: versions.at(0)?.version ?? newest,
    tokens: {
      ids: ids ?? [],
      texts: sampled.map(({ token }) => token),
      actionMask: sampled.map(() => 1),
      logprobs: sampled.map(({ logprob }) => logprob),
      entropies: [],
      policyVersions: versions.flatMap(({ version, start, end }) => Array<number>(end - start).fill(version)),
    },
    recordedRunId: headers.get('x-retrace-run') ?? '',
    episodeId: headers.get('x-retrace-episode') ?? '',
  };
}

/** Whether an answer has a choice with the versions that sampled it, which only the server of a policy gives. */
function isCompletion(body: unknown): body is Completion {
  const { choices } = (body ?? {}) as { readonly choices?: unknown };
  const [choice] = (Array.isArray(choices) ? choices : []) as (Partial<
    Completion['choices'][number]
  > | null)[];
  return choice?.message !== undefined && Array.isArray(choice.policy_versions);
}
