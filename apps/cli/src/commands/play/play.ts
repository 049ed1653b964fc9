import {
  openPlayer,
  playTasks,
  readPlayerName,
  scriptedAgent,
  type Player,
  type TaskSelection,
} from '@retrace/collector';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { openEnvironment } from '@retrace/environment-sources';
import type { EnvironmentSpec } from '@retrace/environments';
import { ControlTail, PatientLog } from '@retrace/log';
import {
  playTag,
  readPlay,
  type PlayedTask,
  type PlayPrice,
  type PlayRecord,
  type StartedPlay,
} from '@retrace/store';
import { newRunId, type Json } from '@retrace/trajectory';
import { CliError } from '../../cli-error.js';
import { readCodeVersion } from '../../installation.js';
import { wholePolicyName } from '../../run/policy-name.js';
import type { StoreSession } from '../../services/connection.js';
import { commandEnvironment } from '../../data-directory/environment.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import type { PlayRequest } from './play-request.js';
import type { PolicyPrice } from './policy-price.js';
import { printPlay } from './print-play.js';
import { describeCommand, endRuns, StartedAttempts } from './started-attempts.js';
import { requirePlace, whereToPlay } from './where-to-play.js';
import { openCheckpoints } from '../../services/checkpoints.js';

/** A play under way. */
interface Playing {
  readonly playId: string;
  /** Attempts that earlier runs of the play have ended. */
  readonly started: StartedAttempts;
  readonly options: PlayRequest;
  readonly recipe: Recipe | undefined;
  readonly session: StoreSession;
  readonly control: ControlTail;
  readonly engine: string;
  readonly signal: AbortSignal;
}

/**
 * Plays every policy in every environment and prints the report. When interrupted it reports the episodes that have ended.
 *
 * @param resumed an interrupted play with these options, of which what has ended is not played again
 * @throws CliError `OPTION_INVALID`; what `openEnvironment` and `openPlayer` throw, before anything is played
 */
export async function play(options: PlayRequest, resumed: StartedPlay | null = null): Promise<void> {
  const players = options.policies.map(readPlayerName);
  const recipe = options.recipe === undefined ? undefined : resolveRecipe(options.recipe);
  requirePlace(options);
  requireKnownPrices(options);
  const { name } = await openBackend(options.backend === undefined ? {} : { prefer: [options.backend] });
  // Policies of runs are not in a directory that does not exist.
  const create = !players.some(({ kind }) => kind === 'stored');
  const report = await withStore({ dataDir: options.dataDir, create }, async (session) => {
    const playId = resumed?.playId ?? newRunId();
    await withInterrupt(async (signal) => {
      const control = new ControlTail(new PatientLog(session.log, { signal }));
      try {
        await control.catchUp();
        if (resumed !== null) await endRuns(control, resumed);
        const started = new StartedAttempts(resumed);
        const samePolicy = (policy: string) => started.samePolicy(policy);
        const environments = whereToPlay(options, { recipe, control, samePolicy });
        const playing = {
          playId,
          started,
          options,
          recipe,
          session,
          control,
          signal,
          engine: `retrace ${name}`,
        };
        await playEverywhere(playing, environments);
      } finally {
        control.close();
      }
    });
    await session.catchUp();
    return readPlay(session.client, playId);
  });
  if (report === null) throw new CliError('PLAY_UNKNOWN', 'play: interrupted before its first run');
  printPlay(report, options);
}

async function playEverywhere(
  playing: Playing,
  environments: readonly Recipe['environment'][],
): Promise<void> {
  const { policies } = playing.options;
  for (const environment of environments) {
    const { spec, close } = await openEnvironment(environment);
    try {
      // A wrong name is told before hours of episodes.
      for (const policy of policies) requireAgent(policy, spec);
      for (const policy of policies) {
        if (playing.signal.aborted) return;
        await playPolicy(playing, { policy, spec, numRuns: policies.length * environments.length });
      }
    } finally {
      await close();
    }
  }
}

async function playPolicy(
  playing: Playing,
  {
    policy,
    spec,
    numRuns,
  }: { readonly policy: string; readonly spec: EnvironmentSpec; readonly numRuns: number },
): Promise<void> {
  const { options, session, control, recipe, signal, playId, engine, started } = playing;
  const { seeds, splits, tasks, attempts, temperature, topK, topP, greedy } = options;
  const selections = splits.flatMap((split) =>
    seeds.map((seed): TaskSelection => ({ split, seed, numTasks: tasks, numAttempts: attempts })),
  );
  const numPlanned = selections.length * tasks * attempts - started.numEnded(policy, spec.name);
  if (numPlanned <= 0) return;
  const maxConcurrent = Math.min(options.concurrency, numPlanned);
  const player = await openPlayer({
    name: started.samePolicy(policy, spec.name) ?? wholePolicyName(policy, control.state.runs, spec.name),
    ...{ control, spec, recipe, signal, maxSlots: maxConcurrent },
    checkpoints: openCheckpoints(session.directory),
    sampling: withoutUndefined({ temperature, topK, topP, greedy }),
    apiKeyVariable: options.apiKeyVariable,
    variables: commandEnvironment,
  });
  const record = toRecord({ playId, policy, player, numPlanned, numRuns, options });
  try {
    await playTasks({
      ...{ control, spec, player, selections, maxConcurrent, engine, signal },
      log: session.log,
      run: {
        name: `play-${spec.name}-${policy}`.slice(0, 200),
        seed: seeds[0],
        recipe: runRecipe(record, { spec, player, selections }),
        tags: ['play', playTag(playId)],
      },
      describe: ({ group, groupMember }, { seed }) => {
        const family = readFamily(spec, group.sampled.task);
        const task: PlayedTask = { seed, task: group.place, attempt: groupMember, family };
        return { play: { ...task } };
      },
      isEnded: ({ group, groupMember }, { split, seed }) =>
        started.hasEnded(policy, spec.name, { split, seed, task: group.place, attempt: groupMember }),
      codeVersion: await readCodeVersion(),
      warn: (message) => console.error(`warning: ${message}`),
    });
  } finally {
    player.close();
  }
}

function toRecord({
  player,
  options,
  ...record
}: Pick<PlayRecord, 'playId' | 'policy' | 'numPlanned' | 'numRuns'> & {
  readonly player: Player;
  readonly options: PlayRequest;
}): PlayRecord {
  const { description, hasOwnTokens } = player;
  return {
    ...{ ...record, description },
    greedy: options.greedy ?? false,
    hasOwnTokens,
    price: findPrice(record.policy, options.prices),
    command: describeCommand(options),
  };
}

function runRecipe(
  record: PlayRecord,
  {
    spec,
    player: { source, description },
    selections,
  }: {
    readonly spec: EnvironmentSpec;
    readonly player: Player;
    readonly selections: readonly TaskSelection[];
  },
): Json {
  return JSON.parse(
    JSON.stringify({
      play: record,
      environment: spec.name,
      policy: description,
      selections,
      numEpisodes: record.numPlanned,
      fromRun: source?.runId ?? null,
      policyVersion: source?.policyVersion ?? null,
    }),
  ) as Json;
}

function requireKnownPrices({ prices, policies }: PlayRequest): void {
  const unknown = prices.find(({ policy }) => policy !== null && !policies.includes(policy));
  if (unknown === undefined) return;
  const message = `--price names "${unknown.policy}", which is no --policy; use one of ${policies.join(', ')}`;
  throw new CliError('OPTION_INVALID', message);
}

function findPrice(policy: string, prices: readonly PolicyPrice[]): PlayPrice | null {
  const own = prices.findLast((price) => price.policy === policy);
  return (own ?? prices.findLast((price) => price.policy === null))?.price ?? null;
}

function requireAgent(policy: string, spec: EnvironmentSpec): void {
  if (readPlayerName(policy).kind === 'scripted') scriptedAgent(spec, policy);
}

/** '' where the environment has no families, or the task could not be drawn. */
function readFamily(spec: EnvironmentSpec, task: Json): string {
  return task === null ? '' : (spec.familyOf?.(task) ?? '');
}

function withoutUndefined<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
