import { messageText } from '../conversation/conversation-steps.js';
import { json, known } from '../fields.js';
import type { Mapped } from '../format.js';
import { groupedBy } from '../rows/grouped-by.js';
import { RowFault, type Skip } from '../skip.js';
import { TokenContext } from '../tokens/token-context.js';
import type { WireEnd, WireEpisode, WireMessage, WireRecord, WireReward, WireStep } from '@retrace/recording';
import { ConversationContext } from './conversation-context.js';
import { OfferedTools } from './offered-tools.js';
import { AgentTree } from './agent-tree.js';
import type { ModelCall, TraceContext, TraceNode } from './trace-node.js';

/**
 * Turns the spans of a trace into episodes: each call of a model is a step, in order of time. The calls of an agent that another agent
 * called are an episode of their own, whose parent is the caller's. Two spans of the same response are one call.
 *
 * @throws RowFault `NO_AGENT_TURN` when no model was called
 */
export function traceRecords(nodes: readonly TraceNode[], context: TraceContext): Mapped {
  const ordered = [...nodes].sort(
    (a, b) => a.sequence - b.sequence || (a.startUs ?? 0) - (b.startUs ?? 0) || (a.id < b.id ? -1 : 1),
  );
  const tree = new AgentTree(ordered);
  const skipped: Skip[] = [];
  const calls = uniqueCalls(ordered, (detail) =>
    skipped.push({ code: 'CALL_FAILED', detail, row: context.row }),
  );
  if (calls.length === 0)
    throw new RowFault('NO_AGENT_TURN', 'no span of it is a successful call of a model');
  const callsOf = groupedBy(calls, ({ node }) => tree.subagentOf(node));
  const nodesOf = groupedBy(ordered, (node) => tree.subagentOf(node));
  const owners = [...new Set([null, ...callsOf.keys()])];
  const episodes = owners.map((owner) => {
    const own = callsOf.get(owner) ?? [];
    const episode = owner === null ? context.episode : `${context.episode}/${owner.id}`;
    const parent = owner === null ? null : tree.callerOf(owner);
    const part: TracePart = {
      context,
      episode,
      parentEpisode:
        owner === null ? null : parent === null ? context.episode : `${context.episode}/${parent.id}`,
      owner,
      calls: own,
      nodes: nodesOf.get(owner) ?? [],
      root: owner ?? tree.root,
    };
    // The parent has no call of its own, yet its sub-agents name it.
    return own.length === 0 ? emptyRecords(part) : partRecords(part);
  });
  return { episodes, skipped };
}

interface CallNode {
  readonly node: TraceNode;
  readonly call: ModelCall;
}

interface TracePart {
  readonly context: TraceContext;
  readonly episode: string;
  readonly parentEpisode: string | null;
  readonly owner: TraceNode | null;
  readonly calls: readonly CallNode[];
  /** All nodes of this agent, calls too, in order. */
  readonly nodes: readonly TraceNode[];
  readonly root: TraceNode | null;
}

function uniqueCalls(nodes: readonly TraceNode[], onFailed: (detail: string) => void): CallNode[] {
  const calls: CallNode[] = [];
  const places = new Map<string, number>();
  for (const node of nodes) {
    const { call } = node;
    if (node.kind !== 'call' || call === null) continue;
    if (call.output === null && call.tokens === null) {
      onFailed(`span ${node.id} (${node.name}) has no answer${whyNone(node)}`);
      continue;
    }
    const place = call.responseId === '' ? undefined : places.get(call.responseId);
    if (place !== undefined) {
      calls[place] = { node: calls[place].node, call: mergeCalls(calls[place].call, call) };
      continue;
    }
    if (call.responseId !== '') places.set(call.responseId, calls.length);
    calls.push({ node, call });
  }
  return calls;
}

function whyNone({ failure, cut = [] }: TraceNode): string {
  if (failure !== '') return `: ${failure}`;
  return cut.length === 0 ? '' : `: the trace is incomplete: ${cut.join(', ')}`;
}

/** Joins two records of one call: what the first lacks comes from the second. */
function mergeCalls(a: ModelCall, b: ModelCall): ModelCall {
  return {
    input: a.input.length > 0 ? a.input : b.input,
    output: a.output ?? b.output,
    usage: a.usage ?? b.usage,
    model: a.model || b.model,
    engine: a.engine || b.engine,
    sampling: a.sampling ?? b.sampling,
    tokens: a.tokens ?? b.tokens,
    tools: a.tools ?? b.tools,
    responseId: a.responseId,
  };
}

function partRecords(part: TracePart): WireRecord[] {
  const { episode, calls } = part;
  const messages = new ConversationContext();
  const tokens = new TokenContext();
  const tools = new OfferedTools();
  const steps = calls.map(({ node, call }, index): WireStep => {
    const { prompt, completion, logprobs, version } = call.tokens ?? NO_TOKENS;
    const { cut = [] } = node;
    const { input, isRewritten } = messages.append(call.input, call.output);
    const definitions = tools.changed(call.tools);
    const info = known({
      keptMessages: isRewritten ? 0 : undefined,
      toolDefinitions: definitions ?? undefined,
      cutAttributes: cut.length === 0 ? undefined : cut,
    });
    return known<WireStep>({
      type: 'step',
      episode,
      step: index,
      messages: { input, output: call.output },
      info: Object.keys(info).length === 0 ? undefined : json(info),
      usage: call.usage ?? undefined,
      tokens:
        call.tokens === null
          ? undefined
          : tokens.append({
              prompt,
              completion,
              logprobs,
              versions: version === null ? null : completion.map(() => version),
            }),
      untrainable: cut.length === 0 ? undefined : `the trace is incomplete: ${cut.join(', ')}`,
      sampling: call.sampling ?? undefined,
      engine: call.engine || undefined,
      model: call.model || undefined,
      generationMs:
        node.startUs === undefined || node.endUs === undefined || node.endUs < node.startUs
          ? undefined
          : (node.endUs - node.startUs) / 1000,
      occurredAt: node.endUs ?? node.startUs,
    });
  });
  const { rewarded, assigned } = placeRewards(part, steps);
  return [makeStart(part), ...rewarded, makeEnd(part, steps.length, listRest(part, messages)), ...assigned];
}

const NO_TOKENS = { prompt: [], completion: [], logprobs: null, version: null };

function emptyRecords(part: TracePart): WireRecord[] {
  const { assigned } = placeRewards(part, []);
  return [makeStart(part), makeEnd(part, 0, []), ...assigned];
}

function makeStart({ context, episode, parentEpisode, root, calls }: TracePart): WireEpisode {
  const metadata = known({ ...context.metadata, name: root?.name || undefined });
  return known<WireEpisode>({
    type: 'episode',
    episode,
    environment: context.environment,
    agent: root?.agentName || undefined,
    tags: context.tags.length === 0 ? undefined : context.tags,
    metadata: Object.keys(metadata).length === 0 ? undefined : json(metadata),
    parentEpisode: parentEpisode ?? undefined,
    occurredAt: root?.startUs ?? calls.at(0)?.node.startUs,
  });
}

function makeEnd(
  { context, episode, root, nodes }: TracePart,
  numSteps: number,
  rest: readonly WireMessage[],
): WireEnd {
  const text = rest.map(messageText).filter((part) => part !== '');
  const latest = nodes.reduce<number | undefined>(
    (max, { endUs }) => (endUs === undefined ? max : Math.max(max ?? 0, endUs)),
    undefined,
  );
  return known<WireEnd>({
    type: 'end',
    episode,
    ...(context.end ?? endByRoot(root)),
    finalObservation: text.length === 0 ? undefined : text.join('\n'),
    numSteps,
    occurredAt: root?.endUs ?? latest,
  });
}

function endByRoot(root: TraceNode | null): Pick<WireEnd, 'endReason' | 'detail'> {
  if (root === null) {
    return { endReason: 'truncated', detail: 'the trace has no root span, so how it ended is unknown' };
  }
  if (root.failure !== '') return { endReason: 'truncated', detail: root.failure };
  if (root.endUs === undefined) return { endReason: 'truncated', detail: 'the root span did not end' };
  return { endReason: 'terminated' };
}

/** Results of tools that no call of a model read. */
function listRest({ nodes, calls }: TracePart, messages: ConversationContext): WireMessage[] {
  const lastCall = calls.at(-1)?.node;
  const after = lastCall === undefined ? -1 : nodes.indexOf(lastCall);
  return nodes
    .slice(after + 1)
    .flatMap(({ toolResult }) => (toolResult === null ? [] : [toolResult]))
    .filter((message) => !messages.hasToolResult(message.tool_call_id));
}

/**
 * Gives each reward its step: the first one of a step is its reward, others are assigned beside it, and those of the whole episode
 * after its end.
 */
function placeRewards(
  { nodes, calls, episode }: TracePart,
  steps: readonly WireStep[],
): { readonly rewarded: readonly WireStep[]; readonly assigned: readonly WireReward[] } {
  const rewarded = [...steps];
  const assigned: WireReward[] = [];
  const stepOf = new Map(calls.map(({ node }, index) => [node.id, index]));
  let preceding: number | null = null;
  for (const node of nodes) {
    const own = stepOf.get(node.id) ?? null;
    preceding = own ?? preceding;
    for (const { id, name, value, source, rationale, of } of node.rewards) {
      const step = of === 'episode' ? null : of === 'own-call' ? own : preceding;
      if (step !== null && of === 'preceding-call' && rewarded[step].reward === undefined) {
        rewarded[step] = { ...rewarded[step], reward: value };
        continue;
      }
      assigned.push(
        known<WireReward>({
          type: 'reward',
          id,
          episode,
          step,
          name,
          value,
          source,
          rationale: rationale || undefined,
          occurredAt: node.endUs ?? node.startUs,
        }),
      );
    }
  }
  return { rewarded, assigned };
}
