import { readFile } from 'node:fs/promises';
import {
  listBaseModels,
  checkServer,
  readAdapterFile,
  TinkerClient,
  TinkerError,
} from '@retrace/trainer/tinker';
import type { CheckedServer } from '@retrace/trainer/tinker';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { renderTable } from '../../terminal/table.js';

interface CheckServerOptions extends Pick<CommonOptions, 'json'> {
  readonly url: string;
  readonly baseModel?: string;
  readonly rank: number;
  readonly tokenFile?: string;
}

/** A server that is there answers within this. */
const PATIENCE_MS = 20_000;
const SNAPSHOTS: Readonly<Record<string, string>> = {
  true: 'stays as it was',
  false: 'changes with its model',
  null: 'has no logprobs of contexts',
};
/** Saved states of one processor continue with the same bits; on GPUs sums may be in another order. */
const SAME_BITS = 0;

/**
 * Prints what a server does, and what that means for a recipe.
 *
 * @throws CliError `CHECK_FAILED` for a server that no run can be trained in, `ENGINE_UNAVAILABLE` for one that does not answer, `OPTION_INVALID`
 */
export async function checkEngineServer(options: CheckServerOptions): Promise<void> {
  const { url, rank, tokenFile, json } = options;
  const client = await openClient(url, tokenFile);
  try {
    const baseModel = options.baseModel ?? onlyOne(await listBaseModels(client));
    const found = await checkServer(client, { model: { baseModel, rank }, readAdapter: readAdapterFile });
    if (json === true) console.log(JSON.stringify({ url: client.url, baseModel, rank, ...found }, null, 2));
    else console.log(renderTable(['promise', 'found', 'so'], listRows(found)));
  } catch (error) {
    if (!(error instanceof TinkerError)) throw error;
    const code = error.code === 'NO_ANSWER' ? 'ENGINE_UNAVAILABLE' : 'CHECK_FAILED';
    throw new CliError(code, `${client.url}: ${error.message}`, { cause: error });
  } finally {
    await client.close();
  }
}

async function openClient(url: string, tokenFile: string | undefined): Promise<TinkerClient> {
  try {
    const apiKey = tokenFile === undefined ? {} : { apiKey: (await readFile(tokenFile, 'utf8')).trim() };
    return new TinkerClient({ url, patienceMs: PATIENCE_MS, ...apiKey });
  } catch (cause) {
    throw new CliError('OPTION_INVALID', (cause as Error).message, { cause });
  }
}

function onlyOne(models: readonly string[]): string {
  if (models.length === 1) return models[0];
  const found = models.length === 0 ? 'names none' : `has ${models.join(', ')}`;
  throw new CliError('OPTION_INVALID', `--base-model: is required, as the server ${found}`);
}

function listRows(found: CheckedServer): readonly (readonly [string, string, string])[] {
  const isMean = found.reduction === 'datumMean';
  return [
    [
      'gradients add up as',
      isMean ? 'means over data of means over tokens' : 'sums over tokens',
      isMean
        ? 'Retrace scales what it sends; optimizer.weightDecay must be 0'
        : 'Retrace sends them as they are',
    ],
    [
      'a call that is sent again',
      found.repeatsAnswers ? 'is answered again, and applied once' : 'is not answered again',
      found.repeatsAnswers ? 'lost answers cost nothing' : 'a lost answer costs the update under way',
    ],
    [
      'grad_clip_norm',
      found.clipsGradients ? 'is honoured' : 'is ignored',
      found.clipsGradients ? 'optimizer.maxGradientNorm holds' : 'optimizer.maxGradientNorm must be 1e9',
    ],
    ['lora_alpha', `${found.loraAlpha}`, `policy.lora.alpha must be ${found.loraAlpha}`],
    [
      'a saved state continues',
      found.resumedDifference === SAME_BITS
        ? 'with the same bits'
        : `within ${found.resumedDifference.toPrecision(2)} nats`,
      'resumed and replayed updates are as close',
    ],
    [
      'a policy saved for samplers',
      SNAPSHOTS[`${found.keepsSnapshots}`],
      found.keepsSnapshots === null
        ? 'to sample there, collection.endpoint.maxLogprobDifference must be null'
        : 'Retrace samples from copies of its own',
    ],
  ];
}
