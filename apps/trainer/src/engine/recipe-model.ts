import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PolicyRecipe, Recipe } from '@retrace/config';
import {
  parseHuggingFaceConfig,
  readLoraConfig,
  type BaseModel,
  type HuggingFaceModelOptions,
  type TransformerConfig,
} from '@retrace/policy';

/** The shape of the model that a recipe makes of random weights. */
export function madeConfig({ model, loss }: Recipe, vocabSize: number): TransformerConfig {
  if (!model)
    throw new TypeError('recipe.model: missing; a model that recipe.policy names is opened, not made');
  const { tieWordEmbeddings = false, lmHeadInitializerStd, ...shape } = model;
  return {
    ...shape,
    ...(!tieWordEmbeddings && { lmHeadInitializerStd }),
    tieWordEmbeddings,
    vocabSize,
    ropeTheta: 10_000,
    rmsNormEps: 1e-6,
    attentionBias: false,
    valueHead: loss.valueCoefficient > 0,
  };
}

/** The options that a recipe opens a model directory with; a directory of adapters is read apart. */
export function directoryOptions({ loss }: Recipe, policy: PolicyRecipe): HuggingFaceModelOptions {
  return {
    maxPositions: policy.maxPositions,
    valueHead: loss.valueCoefficient > 0,
    ...(policy.valueTrunk ? { valueTrunk: policy.valueTrunk } : {}),
    ...(policy.lora ? { lora: policy.lora } : {}),
  };
}

/** The shape of a recipe's model, from the recipe or the directory that it names; no weight is read. */
export async function recipeModelConfig(recipe: Recipe, vocabSize: number): Promise<TransformerConfig> {
  const { policy } = recipe;
  if (!policy) return madeConfig(recipe, vocabSize);
  const path = join(policy.model, 'config.json');
  const lora = policy.adapter ? { lora: await readLoraConfig(policy.adapter) } : {};
  const options = { ...directoryOptions(recipe, policy), ...lora };
  return parseHuggingFaceConfig(JSON.parse(await readFile(path, 'utf8')), options, path);
}

/** Names architecture, tokenizer and base model: equal for all versions of one policy, on every engine. */
export function hashModel(config: TransformerConfig, tokenizerHash: string, base: BaseModel | null): string {
  const identity = [config, tokenizerHash, ...(base ? [base.fingerprint] : [])];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}
