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

/** @param headers with the run and the episode in which the proxy recorded the call */
export function readCompletion(
  { policy_version: newest, choices: [choice] }: Completion,
  headers: Pick<Headers, 'get'>,
): PolicyAnswer {
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
