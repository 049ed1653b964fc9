import type { EpisodeBranch, EpisodeDetail, StepDetail } from '../api-types/schema';
import { type ChatToolCall, readChat, type StepChat } from '../episodes/read-chat';
import { shortId } from '../format/ids';
import { formatNumber } from '../format/numbers';

/** A place that a node of the tree goes to: a step of this episode, or another page. */
export type NodeTarget =
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'page'; readonly address: string };

export interface ConversationNode {
  readonly id: string;
  readonly kind: 'origin' | 'turn' | 'call' | 'answer' | 'agent' | 'fork' | 'forks';
  readonly label: string;
  /** Text, arguments or answer; of a branch its return. */
  readonly detail: string;
  readonly target: NodeTarget | null;
  readonly children: readonly ConversationNode[];
}

const MAX_CHARACTERS = 160;

type Origin = Pick<EpisodeDetail, 'parentEpisodeId' | 'forkedFrom'>;

export interface LoadedSteps {
  /** In their order, from the first of the episode. */
  readonly steps: readonly StepDetail[];
  /** The episode has later steps, which are not loaded yet. */
  readonly hasMore: boolean;
}

/**
 * Builds the tree of an episode: its turns, below them their tool calls with the answers, the agents that started during them, and the forks that begin there.
 *
 * @param runId run of the episode
 */
export function buildConversation(
  runId: string,
  origin: Origin,
  loaded: LoadedSteps,
  branches: readonly EpisodeBranch[],
): readonly ConversationNode[] {
  const { steps } = loaded;
  const chats = steps.map(({ messages }) => readChat(messages));
  const agents = placeAgents(loaded, branches);
  const turns = steps.map((step, place) =>
    turnNode(step, {
      ...{ chats, place },
      agents: agents.get(step.step) ?? [],
      forks: branches.filter((branch) => branch.kind === 'fork' && branch.step === step.step),
    }),
  );
  return [...originNodes(runId, origin), ...(agents.get(null) ?? []).map(branchNode), ...turns];
}

/** Whether the tree of an episode says more than the list of its steps. */
export function hasBranches(nodes: readonly ConversationNode[]): boolean {
  return nodes.some(({ kind, children }) => kind !== 'turn' || children.length > 0);
}

function originNodes(runId: string, { parentEpisodeId, forkedFrom }: Origin): readonly ConversationNode[] {
  const node = (label: string, address: string): ConversationNode => ({
    ...{ id: `origin ${address}`, kind: 'origin', label, detail: '', children: [] },
    target: { kind: 'page', address },
  });
  const parent = parentEpisodeId;
  return [
    ...(parent === null ? [] : [node(`Called by ${shortId(parent)}`, `/runs/${runId}/episodes/${parent}`)]),
    ...(forkedFrom === null
      ? []
      : [
          node(
            `Forked from step ${forkedFrom.step} of ${shortId(forkedFrom.episodeId)}`,
            `/runs/${forkedFrom.runId}/episodes/${forkedFrom.episodeId}`,
          ),
        ]),
  ];
}

/**
 * The agents that started during each turn. A record names only the episode that called, so an agent is placed by time: at the last turn that was recorded
 * before it started; null before all turns. While there are more steps, those after the last loaded one are left out, since their turn is not loaded.
 */
function placeAgents(
  { steps, hasMore }: LoadedSteps,
  branches: readonly EpisodeBranch[],
): ReadonlyMap<number | null, readonly EpisodeBranch[]> {
  const placed = new Map<number | null, EpisodeBranch[]>();
  for (const branch of branches) {
    if (branch.kind !== 'call') continue;
    const startedMs = Date.parse(branch.startedAt);
    const place = steps.findLastIndex(({ occurredAt }) => Date.parse(occurredAt) <= startedMs);
    if (hasMore && place === steps.length - 1) continue;
    const turn = place === -1 ? null : steps[place].step;
    placed.set(turn, [...(placed.get(turn) ?? []), branch]);
  }
  return placed;
}

interface TurnParts {
  /** Of all turns. */
  readonly chats: readonly (StepChat | null)[];
  /** Of the turn among them. */
  readonly place: number;
  readonly agents: readonly EpisodeBranch[];
  readonly forks: readonly EpisodeBranch[];
}

function turnNode(step: StepDetail, { chats, place, agents, forks }: TurnParts): ConversationNode {
  const output = chats[place]?.output ?? null;
  const calls = output?.toolCalls ?? [];
  const target: NodeTarget = { kind: 'step', step: step.step };
  return {
    ...{ id: `step ${step.step}`, kind: 'turn', label: `Step ${step.step}`, target },
    detail: cut(output?.text || (calls.length === 0 ? step.action : '')),
    children: [
      ...calls.map((call, c) =>
        callNode(call, `step ${step.step} call ${c}`, {
          target,
          answer: toAnswer(calls, c, chats.slice(place + 1)),
        }),
      ),
      ...agents.map(branchNode),
      ...forksNode(step.step, forks),
    ],
  };
}

/**
 * The answer to one of a turn's calls in later turns. Some models use an id again: then the answer came before the output of the turn that does, and of
 * several in one prompt the last ones are those of this turn.
 */
function toAnswer(
  calls: readonly ChatToolCall[],
  place: number,
  later: readonly (StepChat | null)[],
): string | undefined {
  const { id } = calls[place];
  if (id === '') return undefined;
  const isOfId = (call: ChatToolCall): boolean => call.id === id;
  for (const chat of later) {
    const answers = chat?.input.filter(({ toolCallId }) => toolCallId === id) ?? [];
    if (answers.length > 0)
      return answers.slice(-calls.filter(isOfId).length)[calls.slice(0, place).filter(isOfId).length]?.text;
    if (chat?.output?.toolCalls.some(isOfId)) return undefined;
  }
  return undefined;
}

interface CallParts {
  readonly target: NodeTarget;
  /** Undefined where none was recorded. */
  readonly answer: string | undefined;
}

function callNode(call: ChatToolCall, id: string, { target, answer }: CallParts): ConversationNode {
  const answerNode: ConversationNode = {
    ...{
      id: `${id} answer`,
      kind: 'answer',
      label: 'Answer',
      detail: cut(answer ?? ''),
      target,
      children: [],
    },
  };
  return {
    ...{ id, kind: 'call', label: call.name, detail: cut(call.arguments), target },
    children: answer === undefined ? [] : [answerNode],
  };
}

function forksNode(step: number, forks: readonly EpisodeBranch[]): readonly ConversationNode[] {
  if (forks.length === 0) return [];
  return [
    {
      ...{ id: `step ${step} forks`, kind: 'forks', detail: '', target: null },
      label: forks.length === 1 ? '1 fork' : `${forks.length} forks`,
      children: forks.map(branchNode),
    },
  ];
}

function branchNode(branch: EpisodeBranch): ConversationNode {
  const { kind, runId, episodeId, agent, sealed } = branch;
  const result =
    branch.return === null ? (sealed ? '' : 'in progress') : `return ${formatNumber(branch.return)}`;
  const outcome = branch.success === null ? '' : branch.success ? 'success' : 'failure';
  return {
    id: `${kind} ${episodeId}`,
    kind: kind === 'call' ? 'agent' : 'fork',
    label: kind === 'call' ? `Agent ${agent}` : `Fork by ${agent}`,
    detail: [result, outcome, shortId(episodeId)].filter(Boolean).join(' · '),
    target: { kind: 'page', address: `/runs/${runId}/episodes/${episodeId}` },
    children: [],
  };
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
