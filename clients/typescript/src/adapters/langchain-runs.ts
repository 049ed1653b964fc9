import type { EndFields, Episode, EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { ChatMessage, JsonObject, Sampling } from '../wire/records.js';
import { RecordedAgent } from './recorded-agent.js';

/** An agent that begins: the outermost chain, graph or model, or the one that a tool or a node starts. */
export interface LangChainStart {
  /** LangChain's id of the run, which is the episode's id as well. */
  readonly runId: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface LangChainRecorderOptions {
  /** Tags, task, group and so on of the episode that begins. */
  readonly describe?: (start: LangChainStart) => EpisodeOptions;
  /** Receives each episode as it begins, to reward it later. */
  readonly onEpisode?: (episode: Episode, start: LangChainStart) => void;
}

/** Metadata of a run of LangChain. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A run of LangChain while it lasts. */
export interface RunNode {
  readonly parentId: string | undefined;
  readonly kind: 'chain' | 'tool' | 'model';
  readonly name: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly startedAtMs: number;
  /** The episode of this run, if it is the outermost of an agent that called a model. */
  agent?: RecordedAgent;
  prompt?: readonly ChatMessage[];
  sampling?: Sampling;
  /** Definitions of the tools that a call of a model offers. */
  offeredTools?: readonly JsonObject[];
  model?: string;
  callId?: string;
}

/** The runs of LangChain that go on, as a tree, and the episodes of those that are agents. */
export class LangChainRuns {
  private readonly nodes = new Map<string, RunNode>();

  constructor(
    private readonly run: Run,
    private readonly options: LangChainRecorderOptions,
  ) {}

  find(runId: string): RunNode | undefined {
    return this.nodes.get(runId);
  }

  begin(runId: string, node: Omit<RunNode, 'startedAtMs'>): void {
    this.nodes.set(runId, { ...node, startedAtMs: performance.now() });
  }

  /** Begins the episode of the agent that a run belongs to, and of those around it, unless they have begun. */
  beginEpisode(runId: string): RecordedAgent {
    const outermost = this.outermostOf(runId);
    const node = this.nodes.get(outermost);
    if (node?.agent) return node.agent;
    const around = node?.parentId === undefined ? undefined : this.beginEpisode(node.parentId);
    const { name = 'agent', tags = [], metadata = {} } = node ?? {};
    const start = { runId: outermost, name, tags, metadata };
    const agent = new RecordedAgent(this.run, {
      id: outermost,
      agent: name,
      tags: tags.filter((tag) => !tag.includes(':')),
      ...(around && { parentEpisode: around.episode.id }),
      ...this.options.describe?.(start),
    });
    if (node) node.agent = agent;
    this.options.onEpisode?.(agent.episode, start);
    return agent;
  }

  /** The run that is an agent of its own and holds this one: the outermost, a run that a tool started, or a graph in a node of another. */
  private outermostOf(runId: string): string {
    for (let id = runId; ;) {
      const node = this.nodes.get(id);
      const parentId = node?.parentId;
      const parent = parentId === undefined ? undefined : this.nodes.get(parentId);
      if (!node || !parent || parentId === undefined) return id;
      if (parent.kind === 'tool' && node.kind !== 'tool') return id;
      const depth = graphDepth(parent.metadata);
      if (depth > 0 && graphDepth(node.metadata) > depth) return parentId;
      id = parentId;
    }
  }

  /** The agent that a run belongs to, if its episode has begun. */
  agentOf(runId: string): RecordedAgent | undefined {
    return this.nodes.get(this.outermostOf(runId))?.agent;
  }

  forget(runId: string): void {
    this.nodes.delete(runId);
  }

  /** Ends the episode that a run has, if it has one, and forgets the run. */
  finish(runId: string, fields: EndFields): void {
    this.nodes.get(runId)?.agent?.end(fields);
    this.nodes.delete(runId);
  }
}

/** How many graphs a run is inside of: LangGraph names the nodes from the outermost to the innermost, with bars between them. */
function graphDepth({ langgraph_checkpoint_ns: namespace }: Metadata): number {
  return typeof namespace === 'string' && namespace !== '' ? namespace.split('|').length : 0;
}
