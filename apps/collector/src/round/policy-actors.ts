import { longestContext, type Recipe } from '@retrace/config';
import {
  Generator,
  PolicySource,
  type CheckpointFiles,
  type PolicyOffers,
  type PolicyText,
  type Transformer,
} from '@retrace/policy';
import type { PolicyPublished } from '@retrace/trajectory';
import type { WarningLog } from '@retrace/log';
import type { Actor } from '../turn/actor.js';
import { loadWhenReadable } from '../actors/load-when-readable.js';
import { PolicyActor } from '../actors/policy-actor.js';
import type { PolicyEndpoint } from '../actors/policy-endpoint.js';
import type { EpisodeLoops } from '../loop/episode-loop.js';

export interface PolicyActorsOptions {
  readonly recipe: Recipe;
  readonly checkpoints: CheckpointFiles;
  readonly text: PolicyText;
  readonly loops: EpisodeLoops;
  /** The server that samples; null samples here. */
  readonly endpoint: PolicyEndpoint | null;
  /** Policies that the trainer offers before it publishes them. */
  readonly offered?: PolicyOffers;
  /** The process that acts (default `collector`). */
  readonly source?: 'collector' | 'validator';
  /** Gets a warning when the weights of a policy are missing or damaged. */
  readonly warnings: Pick<WarningLog, 'raise'>;
  readonly signal: AbortSignal;
}

/** How the turns of a round are sampled. */
export interface Decoding {
  readonly greedy: boolean;
  readonly temperature: number;
  /** Default 0: all tokens. */
  readonly topK?: number;
  /** Default 1: all tokens. */
  readonly topP?: number;
}

/** Makes published policy versions act. One version is loaded at a time. */
export class PolicyActors {
  private readonly policies: PolicySource;
  private generator: Generator | null = null;

  constructor(private readonly options: PolicyActorsOptions) {
    this.policies = new PolicySource(options.checkpoints, options.offered);
  }

  /** The version that acts; −1 before the first. */
  get version(): number {
    return this.policies.version;
  }

  /** Whether a published policy is the one that acts. */
  has(policy: PolicyPublished): boolean {
    return this.policies.has(policy);
  }

  async open(policy: PolicyPublished, decoding: Decoding): Promise<Actor> {
    const model = await loadWhenReadable(this.policies, policy, this.options);
    return this.actorOf(policy, model, decoding);
  }

  /** Makes an offered policy act, before it is published; null where it is not on offer. */
  async openOffered(policyVersion: number, decoding: Decoding): Promise<Actor | null> {
    const model = await this.policies.take(policyVersion);
    return model && this.actorOf({ policyVersion, location: '' }, model, decoding);
  }

  private async actorOf(
    { policyVersion, location }: Pick<PolicyPublished, 'policyVersion' | 'location'>,
    model: Transformer,
    { greedy, temperature, topK = 0, topP = 1 }: Decoding,
  ): Promise<Actor> {
    const { recipe, text, endpoint, loops } = this.options;
    const maxTokens = longestContext(recipe);
    const { maxNewTokens } = recipe.context;
    const sampling = { temperature, topK, topP, greedy, maxNewTokens };
    const stops = { stopStrings: recipe.context.stopStrings, ownStopStrings: loops.stopStrings };
    if (endpoint) {
      await endpoint.serve(policyVersion, model, location);
      return endpoint.actor({ maxTokens, sampling, ...stops });
    }
    this.generator ??= new Generator(model, {
      maxSlots: recipe.collection.concurrentEpisodes,
      maxTokens,
      maxNewTokens,
      decode: (tokenIds) => text.tokenizer.decode(tokenIds),
    });
    this.generator.setPolicyVersion(policyVersion);
    return new PolicyActor({ generator: this.generator, text, maxTokens, sampling, ...stops });
  }

  /** Hot swap: the weights change under the live episodes, whose tokens record the version that sampled them. */
  async swap(policy: PolicyPublished): Promise<void> {
    if (policy.policyVersion === this.policies.version) return;
    const model = await loadWhenReadable(this.policies, policy, this.options);
    this.generator?.setPolicyVersion(policy.policyVersion);
    await this.options.endpoint?.serve(policy.policyVersion, model, policy.location);
  }
}
