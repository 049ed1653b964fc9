import { clause, UnsuitableDraw, type LevelBuilder } from './level-builder.js';
import { LOCATION_NAMES, type ClauseTask, type MissionTask, type Verb } from './mission.js';
import { COLORS, MOVABLE_KINDS } from './thing.js';

/** Limits of BabyAI's sentence generator. */
export interface AnyMissionRules {
  readonly numThings: number;
  readonly lockedRoomChance: number;
  /** Whether descriptions may say where a thing is. */
  readonly hasLocations: boolean;
  /** Whether things may have to be moved out of the way. */
  readonly needsUnblocking: boolean;
  /** Whether all that is meant may be behind a locked door. */
  readonly needsUnlocking: boolean;
  readonly verbs: readonly Verb[];
  /** How clauses may be joined: one, two in any order, or parts one after the other. */
  readonly forms: readonly ('one' | 'and' | 'sequence')[];
}

export const ANY_MISSION: AnyMissionRules = {
  numThings: 18,
  lockedRoomChance: 0.5,
  hasLocations: true,
  needsUnblocking: true,
  needsUnlocking: true,
  verbs: ['go to', 'pick up', 'open', 'put'],
  forms: ['one', 'and', 'sequence'],
};

const MOST_TRIES = 100;

/** Draws rooms with or without a locked one, things, the agent, and any sentence that the rules allow. */
export function drawAnyMission(builder: LevelBuilder, rules: AnyMissionRules): MissionTask {
  const isLocked = builder.random.nextFloat() < rules.lockedRoomChance;
  const lockedRoom = isLocked ? addLockedRoom(builder) : null;
  builder.connectAll();
  builder.addThings(rules.numThings, { areUnique: false });
  do builder.placeAgent();
  while (lockedRoom !== null && builder.agentIsIn(lockedRoom));
  if (!rules.needsUnblocking) builder.requireReachable();
  const mission = new AnyMission(builder, rules, lockedRoom).draw(rules.forms);
  for (const drawn of mission.parts.flat()) requireSensible(builder, drawn, rules);
  return mission;
}

function addLockedRoom(builder: LevelBuilder): readonly [number, number] {
  const room = builder.anyRoom();
  const { color } = builder.addDoor(room, { isLocked: true });
  for (;;) {
    const keyRoom = builder.anyRoom();
    if (keyRoom[0] === room[0] && keyRoom[1] === room[1]) continue;
    builder.addThing(keyRoom, 'key', color);
    return room;
  }
}

class AnyMission {
  constructor(
    private readonly builder: LevelBuilder,
    private readonly rules: AnyMissionRules,
    private readonly lockedRoom: readonly [number, number] | null,
  ) {}

  draw(forms: AnyMissionRules['forms']): MissionTask {
    const form = this.builder.pick(forms);
    if (form !== 'sequence') return { parts: [this.part(form)], order: null };
    const parts = [
      this.part(this.builder.pick(['one', 'and'])),
      this.part(this.builder.pick(['one', 'and'])),
    ];
    return { parts, order: this.builder.pick(['then', 'after']) };
  }

  private part(form: 'one' | 'and'): ClauseTask[] {
    return form === 'one' ? [this.oneClause()] : [this.oneClause(), this.oneClause()];
  }

  private oneClause(): ClauseTask {
    const verb = this.builder.pick(this.rules.verbs);
    const anything = [...MOVABLE_KINDS, 'door'];
    if (verb === 'go to') return clause(verb, this.description(anything));
    if (verb === 'open') return clause(verb, this.description(['door']));
    const target = this.description(MOVABLE_KINDS);
    return verb === 'put' ? clause(verb, target, this.description(anything)) : clause(verb, target);
  }

  /** A description of something that is there, and outside the locked room unless unlocking is asked for. */
  private description(kinds: readonly string[]): string {
    const { builder, rules, lockedRoom } = this;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const color = builder.pick([null, ...COLORS]);
      const kind = builder.pick(kinds);
      const location = rules.hasLocations && builder.chance() ? builder.pick(LOCATION_NAMES) : null;
      const text = [color, kind, location].filter((word) => word !== null).join(' ');
      const fitting = builder.fitting(text);
      const isMeant =
        rules.needsUnlocking || lockedRoom === null
          ? fitting.length > 0
          : fitting.some((thing) => !builder.isInRoom(thing, lockedRoom));
      if (isMeant) return text;
    }
    throw new UnsuitableDraw('nothing that could be described');
  }
}

/** @throws UnsuitableDraw for things that are beside each other already or might be the same, and for a key that opens a door */
export function requireSensible(
  builder: LevelBuilder,
  [, target, beside]: ClauseTask,
  { needsUnblocking }: Pick<AnyMissionRules, 'needsUnblocking'>,
): void {
  const targets = builder.fitting(target);
  const places = beside === null ? [] : builder.fitting(beside);
  if (targets.some((thing) => places.includes(thing))) throw new UnsuitableDraw('one thing for two');
  const isBeside = targets.some(({ x, y }) =>
    places.some((place) => Math.abs(place.x - x) + Math.abs(place.y - y) === 1),
  );
  if (isBeside) throw new UnsuitableDraw('things that are beside each other');
  if (!needsUnblocking) return;
  const locked = builder.things.filter(({ state }) => state === 'locked').map(({ color }) => color);
  const isNeededKey = [target, beside].some(
    (text) => text !== null && locked.some((color) => text.startsWith(`${color} key`)),
  );
  if (isNeededKey) throw new UnsuitableDraw('a key that opens a door');
}
