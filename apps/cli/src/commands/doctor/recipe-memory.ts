import { totalmem } from 'node:os';
import { longestContext, type Recipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import {
  estimateGenerationMemory,
  estimateTrainingMemory,
  openPolicyText,
  type MemoryEstimate,
} from '@retrace/policy';
import { recipeModelConfig } from '@retrace/trainer';
import { runCheck, type CheckResult } from './check.js';

export interface RoleMemory {
  readonly role: string;
  readonly count: number;
  /** Of one such process. */
  readonly estimate: MemoryEstimate;
}

export interface RecipeMemory {
  readonly roles: readonly RoleMemory[];
  readonly totalBytes: number;
}

const mebibyte = 2 ** 20;

/** An allowance for what a role has besides what computes: its log, store client and events, and the heap that V8 lets grow. */
const roleBytes = 300 * mebibyte;

/** An allowance for store, sink and API: about twice what docs/results/memory.md measured after half an hour. */
const servicesBytes = 900 * mebibyte;

/** Share of the machine that its system and other programs may need. */
const reservedFraction = 0.05;

/** Peaks of the processes of a run on one machine. */
export async function estimateRecipeMemory(recipe: Recipe, numCollectors = 1): Promise<RecipeMemory> {
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: getEnvironment(recipe.environment).words,
    directory: recipe.policy?.model,
  });
  const config = await recipeModelConfig(recipe, tokenizer.vocabSize);
  const { optimizer, collection } = recipe;
  const rowTokens = longestContext(recipe);
  const numEpisodes = collection.groupsPerRound * collection.groupSize;
  // An episode may be several sequences of the longest context each: only passes bound what is computed at once.
  const passTokens = Math.max(optimizer.maxTokensPerMicroBatch, rowTokens);
  const numShards = optimizer.dataParallel ?? 1;
  const slots = Math.min(collection.concurrentEpisodes, numEpisodes);
  const trainer = estimateTrainingMemory(config, { passTokens, accumulates: true });
  const collector = estimateGenerationMemory(config, {
    maxSlots: slots,
    maxTokens: rowTokens,
    passTokens: Math.min(slots * rowTokens, 2048),
  });
  const roles = [
    {
      role: numShards > 1 ? 'trainer and its workers' : 'trainer',
      count: numShards,
      estimate: asRole(trainer),
    },
    { role: 'collector', count: numCollectors, estimate: asRole(collector) },
    {
      role: 'store and API',
      count: 1,
      estimate: { totalBytes: servicesBytes, parts: [{ name: 'program', bytes: servicesBytes }] },
    },
  ];
  return {
    roles,
    totalBytes: roles.reduce((sum, { count, estimate }) => sum + count * estimate.totalBytes, 0),
  };
}

/** Whether the recipe's processes fit into this machine's memory together; where they don't, what would help, largest part first. */
export function checkRecipeMemory(recipe: Recipe): Promise<CheckResult> {
  return runCheck(`recipe ${recipe.name}`, async () => {
    const memory = await estimateRecipeMemory(recipe);
    const availableBytes = machineBytes() * (1 - reservedFraction);
    const described = memory.roles
      .map(
        ({ role, count, estimate }) =>
          `${role} ${count > 1 ? `${String(count)} × ` : ''}${gibibytes(estimate.totalBytes)}`,
      )
      .join(', ');
    const detail = `needs ${gibibytes(memory.totalBytes)} GiB at its peak (${described}); there are ${gibibytes(availableBytes)}`;
    if (memory.totalBytes <= availableBytes) return { verdict: 'ok', detail };
    return { verdict: 'fail', detail: `${detail}; ${adviceFor(recipe, memory).join('; ')}` };
  });
}

/** What would make the trainer smaller, largest first. */
export function adviceFor(recipe: Recipe, { roles }: RecipeMemory): string[] {
  const bytesOf = (name: string) => roles[0].estimate.parts.find((part) => part.name === name)?.bytes ?? 0;
  const { optimizer, policy, collection } = recipe;
  const rowTokens = longestContext(recipe);
  const remedies: [number, string | null][] = [
    [
      bytesOf('gradients and optimizer'),
      policy && !policy.lora
        ? `train adapters alone (policy.lora) in place of ${gibibytes(bytesOf('gradients and optimizer'))} GiB of gradients and optimizer state`
        : null,
    ],
    [
      bytesOf('activations of a pass'),
      optimizer.maxTokensPerMicroBatch > rowTokens
        ? `set optimizer.maxTokensPerMicroBatch below ${String(optimizer.maxTokensPerMicroBatch)}, down to ${String(rowTokens)}: it changes no result, and a pass takes ${gibibytes(bytesOf('activations of a pass'))} GiB of activations`
        : `shorten the longest context, ${String(rowTokens)} tokens (${policy ? 'policy' : 'model'}.maxPositions)`,
    ],
    [
      roles[1].estimate.parts.find(({ name }) => name === 'keys and values')?.bytes ?? 0,
      collection.concurrentEpisodes > 1
        ? `set collection.concurrentEpisodes below ${String(collection.concurrentEpisodes)}`
        : null,
    ],
    [bytesOf('weights'), 'choose a smaller model'],
  ];
  return remedies
    .toSorted(([a], [b]) => b - a)
    .map(([, remedy]) => remedy)
    .filter((remedy) => remedy !== null);
}

/** What this process may use: the machine's memory, or the smaller limit of its control group. */
function machineBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

function asRole({ parts, totalBytes }: MemoryEstimate): MemoryEstimate {
  return { totalBytes: totalBytes + roleBytes, parts: [...parts, { name: 'role', bytes: roleBytes }] };
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
