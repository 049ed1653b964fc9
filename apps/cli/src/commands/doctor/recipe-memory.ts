import { totalmem } from 'node:os';
import { initialKlCoefficient, longestContext, needsValidator, type Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import {
  estimateGenerationMemory,
  estimateTrainingMemory,
  openPolicyText,
  type MemoryEstimate,
} from '@retrace/policy';
import { recipeModelConfig } from '@retrace/trainer';
import { runProcesses } from '../../run/planned-processes.js';
import { runCheck, type CheckResult } from './check.js';
import { gibibytes } from './free-space.js';

interface RoleMemory {
  readonly role: string;
  readonly count: number;
  /** Of one such role: of its process, or of its part of the trainer's. */
  readonly bytes: number;
  readonly parts: MemoryEstimate['parts'];
}

interface RecipeMemory {
  readonly roles: readonly RoleMemory[];
  readonly totalBytes: number;
}

const MEBIBYTE = 2 ** 20;

/** Allowance for the parts of a role that do not compute: its log, store client and events, and the growth of V8's heap. */
const ROLE_BYTES = 300 * MEBIBYTE;

/** Allowance for store, sink and API: about twice the figure in docs/results/memory.md after half an hour. */
const SERVICES_BYTES = 900 * MEBIBYTE;

/** Share of the machine's memory left to the system and other programs. */
const RESERVED_FRACTION = 0.05;

/** Estimates the peak memory of each role of a run on this machine. */
export async function estimateRecipeMemory(recipe: Recipe, numCollectors = 1): Promise<RecipeMemory> {
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
  });
  const config = await recipeModelConfig(recipe, tokenizer.vocabSize);
  const { optimizer, collection, loss, preference } = recipe;
  const rowTokens = longestContext(recipe);
  const numEpisodes = collection.groupsPerRound * collection.groupSize;
  // An episode can have several sequences of the longest context. Only the size of a pass limits how much is computed at once.
  const passTokens = Math.max(optimizer.maxTokensPerMicroBatch, rowTokens);
  const numShards = optimizer.dataParallel ?? 1;
  const slots = Math.min(collection.concurrentEpisodes, numEpisodes);
  const training = {
    ...{ passTokens, accumulates: true, recomputesLayers: optimizer.recomputeLayers },
    readsOtherIds: typeof recipe.distillation?.topK === 'number',
  };
  // Only the trainer itself evaluates the reference policy.
  const keepsReference = initialKlCoefficient(loss) > 0 || Boolean(preference);
  const momentsOnDisk = recipe.compute?.optimizerOffload === 'disk';
  const trainer = estimateTrainingMemory(config, { ...training, keepsReference, momentsOnDisk });
  const collector = estimateGenerationMemory(config, {
    maxSlots: slots,
    maxTokens: rowTokens,
    maxNewTokens: recipe.context.maxNewTokens,
  });
  // A role in the trainer's process adds only what it computes with.
  const own = runProcesses(recipe, numCollectors);
  const roles = [
    { role: 'trainer', count: 1, ...asRole(trainer) },
    ...(numShards > 1
      ? [
          {
            role: 'workers',
            count: numShards - 1,
            ...asRole(estimateTrainingMemory(config, training)),
          },
        ]
      : []),
    {
      role: 'collector',
      count: own.numCollectors,
      ...(own.isColocated ? asPart(collector) : asRole(collector)),
    },
    {
      role: 'validator',
      count: Number(needsValidator(recipe)),
      ...(own.isValidatorColocated ? asPart(collector) : asRole(collector)),
    },
    { role: 'store and API', count: 1, bytes: SERVICES_BYTES, parts: [] },
  ].filter(({ count }) => count > 0);
  return {
    roles,
    totalBytes: roles.reduce((sum, { count, bytes }) => sum + count * bytes, 0),
  };
}

/** Checks whether all processes of the recipe fit into this machine's memory; if not, says what would help, largest saving first. */
export function checkRecipeMemory(recipe: Recipe): Promise<CheckResult> {
  return runCheck(`recipe ${recipe.name}`, async () => {
    const memory = await estimateRecipeMemory(recipe);
    const availableBytes = machineBytes() * (1 - RESERVED_FRACTION);
    const described = memory.roles
      .map(({ role, count, bytes }) => `${role} ${count > 1 ? `${count} × ` : ''}${gibibytes(bytes)}`)
      .join(', ');
    const detail = `needs ${gibibytes(memory.totalBytes)} GiB at its peak (${described}); ${gibibytes(availableBytes)} GiB are available`;
    if (memory.totalBytes <= availableBytes) return { verdict: 'ok', detail };
    return { verdict: 'fail', detail: `${detail}; ${adviceFor(recipe, memory).join('; ')}` };
  });
}

/** Lists what would reduce the memory, largest saving first. */
export function adviceFor(recipe: Recipe, { roles }: RecipeMemory): string[] {
  const bytesOf = (name: string, role = 'trainer') =>
    roles.find((candidate) => candidate.role === role)?.parts.find((part) => part.name === name)?.bytes ?? 0;
  const { optimizer, policy, collection } = recipe;
  const rowTokens = longestContext(recipe);
  const remedies: [number, string | null][] = [
    [
      bytesOf('gradients and optimizer'),
      policy && !policy.lora && !policy.adapter
        ? `train only adapters (policy.lora) instead of ${gibibytes(bytesOf('gradients and optimizer'))} GiB of gradients and optimizer state`
        : null,
    ],
    [
      bytesOf('activations of a pass'),
      optimizer.maxTokensPerMicroBatch > rowTokens
        ? `set optimizer.maxTokensPerMicroBatch below ${optimizer.maxTokensPerMicroBatch}, down to ${rowTokens}: results stay the same, and a pass takes ${gibibytes(bytesOf('activations of a pass'))} GiB of activations`
        : `shorten the longest context, ${rowTokens} tokens (${policy ? 'policy' : 'model'}.maxPositions)`,
    ],
    [
      // At least half is saved with several layers.
      bytesOf('activations of a pass') / 2,
      optimizer.recomputeLayers === true
        ? null
        : 'set optimizer.recomputeLayers to true: results stay the same, and a step takes more time',
    ],
    [
      bytesOf('reference policy'),
      initialKlCoefficient(recipe.loss) > 0
        ? `set loss.kl.coefficient to 0: the reference policy takes ${gibibytes(bytesOf('reference policy'))} GiB`
        : null,
    ],
    [
      bytesOf('keys and values', 'collector'),
      collection.concurrentEpisodes > 1
        ? `set collection.concurrentEpisodes below ${collection.concurrentEpisodes}`
        : null,
    ],
    [bytesOf('weights'), 'choose a smaller model'],
  ];
  return remedies
    .toSorted(([a], [b]) => b - a)
    .map(([, remedy]) => remedy)
    .filter((remedy) => remedy !== null);
}

/** The memory that this process may use: the machine's, or the limit of its control group if that is smaller. */
function machineBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

/** A role with a process of its own. */
function asRole({ parts, totalBytes }: MemoryEstimate): Pick<RoleMemory, 'bytes' | 'parts'> {
  return { bytes: totalBytes + ROLE_BYTES, parts };
}

/** A role in the process of another. */
function asPart({ parts, addedBytes }: MemoryEstimate): Pick<RoleMemory, 'bytes' | 'parts'> {
  return { bytes: addedBytes, parts };
}
