import type { Json } from '@retrace/trajectory';
import { COLORS, HEADINGS, KINDS, type Thing } from './thing.js';

const VERBS = ['go to', 'pick up', 'open', 'put'] as const;
export type Verb = (typeof VERBS)[number];

/** Where things stood when the episode began, as seen by the agent and only in its room. */
const LOCATIONS = {
  'on your left': (_ahead: number, right: number) => right < 0,
  'on your right': (_ahead: number, right: number) => right > 0,
  'in front of you': (ahead: number) => ahead > 0,
  'behind you': (ahead: number) => ahead < 0,
} as const;
export const LOCATION_NAMES = Object.keys(LOCATIONS) as (keyof typeof LOCATIONS)[];

/** One clause as JSON: verb, description, for `put` what it is put beside, and whether the wrong door or thing fails the task. */
export type ClauseTask = readonly [verb: Verb, target: string, beside: string | null, isStrict: boolean];

/** Clauses of a part are carried out in any order; of two parts, `then` means the first first, `after` the second first. */
export interface MissionTask {
  readonly [field: string]: Json;
  readonly parts: readonly (readonly ClauseTask[])[];
  readonly order: 'then' | 'after' | null;
}

/** A description with the things that it fits, which are fixed when the episode begins. */
export interface Target {
  readonly text: string;
  readonly things: ReadonlySet<number>;
  /** Whether it fits more than one thing, so that it is `a` thing. */
  readonly isOneOfMany: boolean;
}

export interface Clause {
  readonly verb: Verb;
  readonly target: Target;
  readonly beside: Target | null;
  readonly isStrict: boolean;
}

export interface Mission {
  readonly clauses: readonly Clause[];
  /** Indices of the clauses of each part, in the order in which parts are carried out. */
  readonly stages: readonly (readonly number[])[];
  /** As AgentGym words it, which says `and` for every order. */
  readonly text: string;
}

/** The start of an episode, by which descriptions are read. */
export interface MissionScene {
  readonly things: readonly Thing[];
  readonly agent: { readonly x: number; readonly y: number; readonly heading: number };
  readonly roomSize: number;
}

/** Reads a mission; null where it is none, or names what is not there. */
export function readMission(value: unknown, scene: MissionScene): Mission | null {
  if (typeof value !== 'object' || value === null) return null;
  const { parts, order = null } = value as Partial<Record<keyof MissionTask, unknown>>;
  const isOrder =
    parts instanceof Array && (parts.length === 1 ? order === null : order === 'then' || order === 'after');
  if (!Array.isArray(parts) || !isOrder || parts.length < 1 || parts.length > 2) return null;
  const read = parts.map((part: unknown) =>
    Array.isArray(part) && (part.length === 1 || part.length === 2)
      ? part.map((clause: unknown) => readClause(clause, scene))
      : [null],
  );
  const clauses = read.flat().filter((clause) => clause !== null);
  if (clauses.length < read.flat().length) return null;
  const first = read[0].map((_, i) => i);
  const later = clauses.map((_, i) => i).slice(first.length);
  const stages = read.length === 1 ? [first] : order === 'after' ? [later, first] : [first, later];
  const texts = read.map((part) => part.map((clause) => clause && describeClause(clause)).join(' and '));
  return { clauses, stages, text: texts.join(order === 'then' ? ', and ' : ' and ') };
}

function describeClause({ verb, target, beside }: Clause): string {
  return beside === null
    ? `${verb} ${describeTarget(target)}`
    : `put ${describeTarget(target)} next to ${describeTarget(beside)}`;
}

function describeTarget({ text, isOneOfMany }: Target): string {
  return `${isOneOfMany ? 'a' : 'the'} ${text}`;
}

function readClause(value: unknown, scene: MissionScene): Clause | null {
  const [verb, about, place, isStrict] = Array.isArray(value) ? (value as unknown[]) : [];
  if (!VERBS.includes(verb as Verb) || typeof isStrict !== 'boolean') return null;
  const target = readTarget(about, scene);
  const beside = place === null ? null : readTarget(place, scene);
  if (target === null || target.things.size === 0 || (verb === 'put') !== (beside !== null)) return null;
  if (beside?.things.size === 0) return null;
  return { verb: verb as Verb, target, beside, isStrict };
}

/** Reads `red ball`, `object`, `door on your left`; null where it is no description. */
export function readTarget(value: unknown, { things, agent, roomSize }: MissionScene): Target | null {
  const match = typeof value === 'string' ? DESCRIPTION.exec(value) : null;
  if (!match?.groups) return null;
  const { color, kind, location } = match.groups as Partial<Record<string, string>>;
  const [forward, right] = [HEADINGS[agent.heading], HEADINGS[(agent.heading + 1) % 4]];
  const roomOf = (at: number): number => Math.floor(at / (roomSize - 1)) * (roomSize - 1);
  const isInRoom = (x: number, y: number): boolean =>
    x >= roomOf(agent.x) &&
    x < roomOf(agent.x) + roomSize &&
    y >= roomOf(agent.y) &&
    y < roomOf(agent.y) + roomSize;
  const isMeant = (thing: Thing): boolean => {
    if (thing.state === 'boxed' || (color !== undefined && thing.color !== color)) return false;
    if (kind !== 'object' && thing.kind !== kind) return false;
    if (location === undefined) return true;
    const [x, y] = [thing.x - agent.x, thing.y - agent.y];
    const isThere = LOCATIONS[location as keyof typeof LOCATIONS];
    return (
      isInRoom(thing.x, thing.y) && isThere(x * forward[0] + y * forward[1], x * right[0] + y * right[1])
    );
  };
  const fitting = things.flatMap((thing, index) => (isMeant(thing) ? [index] : []));
  // Walls are grey objects to BabyAI.
  const fitsWalls = kind === 'object' && (color ?? 'grey') === 'grey';
  return { text: value as string, things: new Set(fitting), isOneOfMany: fitting.length > 1 || fitsWalls };
}

const DESCRIPTION = new RegExp(
  `^(?:(?<color>${COLORS.join('|')}) )?(?<kind>${KINDS.join('|')}|object)(?: (?<location>${LOCATION_NAMES.join('|')}))?$`,
);
