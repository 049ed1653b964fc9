import { longestContext, parseRecipe } from '@retrace/config';
import { Generator, type CheckpointFiles, type PolicyText } from '@retrace/policy';
import type { PolicyPublished, RunState, SamplingParameters } from '@retrace/trajectory';
import { PolicyActor } from './policy-actor.js';
import { PolicySource } from './policy-source.js';

interface StoredPolicyOptions {
  readonly checkpoints: CheckpointFiles;
  /** The run that published the policy. */
  readonly run: RunState;
  readonly policy: PolicyPublished;
  readonly text: PolicyText;
  readonly maxSlots: number;
  /** Fields that are left out are as in the run. */
  readonly sampling?: Partial<Pick<SamplingParameters, 'temperature' | 'topK' | 'topP'>>;
}

/** A published policy, which acts outside its run: its steps have no policy version, because versions of one run mean nothing in another. */
export async function storedPolicyActor(options: StoredPolicyOptions): Promise<PolicyActor> {
  const { checkpoints, run, policy, text, maxSlots, sampling } = options;
  const recipe = parseRecipe(run.started.recipe);
  const model = await new PolicySource(checkpoints).load(policy);
  const { maxNewTokens, stopStrings } = recipe.context;
  const maxTokens = longestContext(recipe);
  const decode = (tokenIds: Int32Array) => text.tokenizer.decode(tokenIds);
  const generator = new Generator(model, { maxSlots, maxTokens, maxNewTokens, decode });
  generator.setPolicyVersion(-1);
  return new PolicyActor({
    generator,
    text,
    maxTokens,
    sampling: {
      temperature: sampling?.temperature ?? recipe.collection.temperature,
      topK: sampling?.topK ?? 0,
      topP: sampling?.topP ?? 1,
      greedy: false,
      maxNewTokens,
    },
    stopStrings,
  });
}
