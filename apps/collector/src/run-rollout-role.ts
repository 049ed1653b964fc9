import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { matrixProducts, parseRecipe, requireFit, type EnvironmentFacts, type Recipe } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import {
  ControlTail,
  holdRole,
  openLog,
  PatientLog,
  WarningLog,
  type EventLog,
  type Share,
} from '@retrace/log';
import { checkpointsAt, openPolicyText, type OfferedPolicy, type PolicyText } from '@retrace/policy';
import type { Supervised, ValidatorConfig } from '@retrace/process';
import type { KnownEvents } from '@retrace/trajectory/codec';
import { openLoop } from './loop/open-loop.js';
import type { Rollouts } from './rollouts.js';
import { TrajectoryWriter } from './writer/trajectory-writer.js';

/** How long the end of the process waits for an unavailable log. */
const RELEASE_MS = 5_000;

/** Nobody waits for episodes of a validation before all of them have ended. */
const VALIDATOR_LINGER_MS = 250;

/** The parts that the work of a role gets. */
export interface RolloutParts extends Rollouts {
  readonly warnings: WarningLog;
  /** Why this backend was chosen. */
  readonly backendReason: string;
}

/** Parts that a collector or a validator has in common with a trainer of its process. */
export interface SharedParts {
  /** Open already; the caller closes it. */
  readonly log: EventLog;
  readonly offered: OfferedPolicy;
  /** Gets what they write. */
  readonly known: KnownEvents;
}

interface RolloutRole {
  readonly supervised: Supervised;
  readonly source: 'collector' | 'validator';
  /** Only one process at a time holds this name on the log, or this share of it. */
  readonly lockName: string;
  readonly share?: Share;
  /** Null keeps events in memory while the log is unavailable. */
  readonly spoolDirectory: string | null;
  /** Where the trainer is in the same process. */
  readonly shared?: Pick<SharedParts, 'log' | 'known'>;
  readonly work: (parts: RolloutParts) => Promise<void>;
}

/** Opens what a process needs to play episodes of a run, has it work, and closes everything again. */
export async function runRolloutRole(
  config: ValidatorConfig,
  { supervised, source, lockName, share, spoolDirectory, shared, work }: RolloutRole,
): Promise<void> {
  const { runId } = config;
  const log = shared?.log ?? (await openLog(config.log, source));
  const role = await holdRole(config.log, lockName, { share });
  const signal = AbortSignal.any([supervised.signal, role.lost]);
  const onNotice = (message: string) => void warnings.raise({ source, message });
  const patientLog = new PatientLog(log, { signal, onNotice });
  const control = new ControlTail(patientLog);
  const warnings = new WarningLog({ control, runId, show: supervised.warn });
  await control.catchUp();
  const recipe = parseRecipe(control.run(runId).started.recipe);
  const backend = await openBackend({
    ...matrixProducts(recipe),
    prefer: config.backend === null ? undefined : [config.backend],
  });
  const environment = await openEnvironment(recipe.environment, recipe.tasks);
  const text = await openText(recipe, environment.spec);
  const spool =
    config.spool && spoolDirectory !== null ? { ...config.spool, directory: spoolDirectory } : undefined;
  const lingerMs = source === 'validator' ? VALIDATOR_LINGER_MS : undefined;
  const known = shared?.known;
  const writer = await TrajectoryWriter.open(log, { lingerMs, signal, onNotice, spool, known });
  const parts: RolloutParts = {
    ...{ runId, recipe, control, warnings, writer, text, signal },
    environment: environment.spec,
    log: patientLog,
    checkpoints: checkpointsAt(config.checkpoints),
    loops: await openLoop(recipe),
    engine: `retrace ${backend.name}`,
    backendReason: backend.reason,
  };
  let numLeftBytes: number;
  try {
    try {
      await work(parts);
    } finally {
      await environment.close();
    }
  } finally {
    numLeftBytes = await writer.close();
    await Promise.race([warnings.flush(), sleep(RELEASE_MS)]);
  }
  if (role.lost.aborted) throw new Error(`another process is the ${source} of run ${runId} now`);
  if (numLeftBytes > 0) onNotice(`${numLeftBytes} bytes stay in the spool for the next start`);
  await Promise.race([warnings.flush(), sleep(RELEASE_MS)]);
  control.close();
  // With the log unavailable neither call would end for minutes; the log frees a role once its holder is gone.
  const endings = [() => role.release(), ...(shared ? [] : [() => patientLog.close()])];
  for (const ending of endings) await Promise.race([ending(), sleep(RELEASE_MS)]);
}

/** @throws ConfigError `RECIPE_INVALID` where the environment does not fit the recipe */
function openText(recipe: Recipe, environment: EnvironmentFacts): Promise<PolicyText> {
  requireFit(recipe, environment);
  return openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: environment.words,
    directory: recipe.policy?.model,
    useChatTemplate: recipe.policy?.chatTemplate,
  });
}
