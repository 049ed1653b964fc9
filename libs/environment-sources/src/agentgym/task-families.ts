import { EnvironmentSourceError } from '../errors.js';

/** Level of a task of babyai: the server takes the index modulo forty. */
export function babyAiLevel(index: number): string {
  return BABYAI_LEVELS[index % BABYAI_LEVELS.length];
}

/** Kind of task of alfworld, from `pick_and_place_simple-Mug-None-Desk-308/trial_T2019…`. */
export function alfworldTask(answer: unknown): string | null {
  const { task_type: told } = (answer ?? {}) as { readonly task_type?: unknown };
  return typeof told === 'string' ? told.split('-')[0] : null;
}

/**
 * First observation of sciworld: the task, then the room, as AgentGym's client shows them.
 *
 * @throws EnvironmentSourceError `PROTOCOL_VIOLATION` where the answer tells no task: an agent could not know what to do
 */
export function scienceTask(answer: unknown, observation: string): string {
  const { task_description: task } = (answer ?? {}) as { readonly task_description?: unknown };
  if (typeof task === 'string') return `${task}\n${observation}`;
  throw new EnvironmentSourceError(
    'PROTOCOL_VIOLATION',
    `AgentGym: reset: task_description is ${JSON.stringify(task)}, must be a text`,
  );
}

/**
 * Depth of a goal of textcraft by the commands that its first observation lists: `depth-1` where all ingredients are got. A name that no
 * command makes, as that of a kind of items, counts as got.
 */
export function craftingDepth(answer: unknown): string | null {
  const { observation } = (answer ?? {}) as { readonly observation?: unknown };
  if (typeof observation !== 'string') return null;
  const goal = /\nGoal: craft (.*)\.$/.exec(observation)?.[1];
  const commands = [...observation.matchAll(/^craft \d+ (.*?) using (.*)$/gm)];
  const inputsByOutput = new Map<string, string[][]>();
  for (const [, output, inputs] of commands) {
    const names = inputs.split(', ').map((portion) => portion.trim().replace(/^\d+ /, ''));
    inputsByOutput.set(output, [...(inputsByOutput.get(output) ?? []), names]);
  }
  const depthOf = (name: string, above: ReadonlySet<string>): number => {
    const recipes = inputsByOutput.get(name) ?? [];
    if (recipes.length === 0) return 0;
    if (above.has(name)) return Infinity;
    const inside = new Set([...above, name]);
    return 1 + Math.min(...recipes.map((names) => Math.max(...names.map((one) => depthOf(one, inside)))));
  };
  const depth = goal === undefined ? Infinity : depthOf(goal, new Set());
  return Number.isFinite(depth) ? `depth-${depth}` : null;
}

/** Levels in the order of the server's table. */
const BABYAI_LEVELS: readonly string[] = [
  ...['GoToRedBallGrey', 'GoToRedBall', 'GoToRedBallNoDists', 'GoToObjS6', 'GoToLocalS8N7', 'GoToObjMazeS7'],
  ...['GoToImpUnlock', 'GoToSeqS5R2', 'GoToRedBlueBall', 'GoToDoor', 'GoToObjDoor', 'Open', 'OpenRedDoor'],
  ...[
    'OpenDoorLoc',
    'OpenRedBlueDoorsDebug',
    'OpenDoorsOrderN4Debug',
    'Pickup',
    'UnblockPickup',
    'PickupLoc',
  ],
  ...[
    'PickupDistDebug',
    'PickupAbove',
    'PutNextLocalS6N4',
    'PutNextS7N4Carrying',
    'Unlock',
    'UnlockLocalDist',
  ],
  ...['KeyInBox', 'UnlockPickupDist', 'BlockedUnlockPickup', 'UnlockToUnlock', 'ActionObjDoor', 'FindObjS7'],
  ...['KeyCorridorS6R3', 'OneRoomS20', 'MoveTwoAcrossS8N9', 'SynthS5R2', 'SynthLoc', 'SynthSeq'],
  ...['MiniBossLevel', 'BossLevel', 'BossLevelNoUnlock'],
];
