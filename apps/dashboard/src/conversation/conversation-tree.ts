import type { EpisodeBranch, EpisodeDetail, StepDetail } from '../api/schema';
import { type ChatToolCall, readChat } from '../episodes/read-chat';
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

/**
 * Builds the tree of an episode: its turns, below them their tool calls with the answers, the agents that they called, and the forks that begin there.
 *
 * @param runId run of the episode
 * @param steps those that are loaded, in their order
 */
export function buildConversation(
  runId: string,
  origin: Origin,
  steps: readonly StepDetail[],
  branches: readonly EpisodeBranch[],
): readonly ConversationNode[] {
  const answers = readAnswers(steps);
  const agents = placeAgents(steps, branches);
  const turns = steps.map((step) =>
    turnNode(
      step,
      answers,
      agents.get(step.step) ?? [],
      branches.filter((branch) => branch.kind === 'fork' && branch.step === step.step),
    ),
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

/** Texts that tools answered, by the ids of their calls. */
function readAnswers(steps: readonly StepDetail[]): ReadonlyMap<string, string> {
  const entries = steps.flatMap(({ messages }) => readChat(messages)?.input ?? []);
  return new Map(
    entries.filter(({ toolCallId }) => toolCallId !== '').map(({ toolCallId, text }) => [toolCallId, text]),
  );
}

/**
 * The agents that each turn called. A record names only the episode that called, so an agent is placed by time: at the last turn that was recorded before it started; null before all turns.
 */
function placeAgents(
  steps: readonly StepDetail[],
  branches: readonly EpisodeBranch[],
): ReadonlyMap<number | null, readonly EpisodeBranch[]> {
  const placed = new Map<number | null, EpisodeBranch[]>();
  for (const branch of branches) {
    if (branch.kind !== 'call') continue;
    const startedMs = Date.parse(branch.startedAt);
    const turn = steps.findLast(({ occurredAt }) => Date.parse(occurredAt) <= startedMs)?.step ?? null;
    placed.set(turn, [...(placed.get(turn) ?? []), branch]);
  }
  return placed;
}

function turnNode(
  step: StepDetail,
  answers: ReadonlyMap<string, string>,
  agents: readonly EpisodeBranch[],
  forks: readonly EpisodeBranch[],
): ConversationNode {
  const output = readChat(step.messages)?.output ?? null;
  const calls = output?.toolCalls ?? [];
  const agentNodes = agents.map(branchNode);
  // With one call it is the one that started them; of several, which did is not recorded.
  const isOfOnlyCall = calls.length === 1;
  const target: NodeTarget = { kind: 'step', step: step.step };
  return {
    ...{ id: `step ${step.step}`, kind: 'turn', label: `Step ${step.step}`, target },
    detail: cut(output?.text || (calls.length === 0 ? step.action : '')),
    children: [
      ...calls.map((call, place) =>
        callNode(call, `step ${step.step} call ${place}`, {
          target,
          answer: answers.get(call.id),
          agents: isOfOnlyCall ? agentNodes : [],
        }),
      ),
      ...(isOfOnlyCall ? [] : agentNodes),
      ...forksNode(step.step, forks),
    ],
  };
}

interface CallParts {
  readonly target: NodeTarget;
  /** Undefined where none was recorded. */
  readonly answer: string | undefined;
  readonly agents: readonly ConversationNode[];
}

function callNode(call: ChatToolCall, id: string, { target, answer, agents }: CallParts): ConversationNode {
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
    children: [...agents, ...(answer === undefined ? [] : [answerNode])],
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
    id: episodeId,
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
