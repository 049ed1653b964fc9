import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { LAMP } from './household-kinds.js';
import {
  fits,
  HELD,
  heldThing,
  isAccessible,
  neededMark,
  ON,
  SEEN,
  treatmentPlace,
  type Command,
  type HouseholdState,
} from './household-rules.js';
import type { Household } from './household-task.js';
import { HouseholdWorld } from './household.js';

/** Knows where everything is, and goes the short way. */
export const householdExpert: ScriptedAgent = {
  name: 'expert',
  act: (environment) => new Plan(asHousehold(environment), () => true).next(),
};

/** Knows what it has seen, as a policy does: it looks into one receptacle after the other, in the order of the list, that could have the thing. */
export const householdSearcher: ScriptedAgent = {
  name: 'searcher',
  act(environment) {
    const world = asHousehold(environment);
    const { receptacleMarks } = world.state;
    return new Plan(world, (receptacle) => (receptacleMarks[receptacle] & SEEN) !== 0).next();
  },
};

/** The next command on the way to the goal, given which receptacles' contents are known. */
class Plan {
  private readonly household: Household;
  private readonly state: HouseholdState;
  private readonly held: number;

  constructor(
    private readonly world: HouseholdWorld,
    private readonly isKnown: (receptacle: number) => boolean,
  ) {
    this.household = world.rules;
    this.state = world.state;
    this.held = heldThing(this.state);
  }

  next(): string {
    const { task, things } = this.household;
    if (this.held >= 0 && things[this.held].kind !== task.thing) return this.putDown();
    if (task.family === 'examine-in-light') return this.examineInLight();
    const target = this.chooseTarget();
    if (this.held < 0) return this.fetch((thing) => this.state.places[thing] !== target);
    const wanted = neededMark(this.household);
    if ((this.state.thingMarks[this.held] & wanted) !== wanted) {
      return this.at(this.indexOf(treatmentPlace(this.household)), (command) => command.verb === task.family);
    }
    return this.at(target, (command) => command.verb === 'put');
  }

  /** Puts down what is no use: here if it fits, else at the first receptacle where it does. */
  private putDown(): string {
    const here = this.state.at;
    const receptacle =
      here >= 0 && fits(this.household, this.held, here)
        ? here
        : this.household.receptacles.findIndex((_, i) => fits(this.household, this.held, i));
    return this.at(receptacle, ({ verb }) => verb === 'put');
  }

  private examineInLight(): string {
    if (this.held < 0) return this.fetch(() => true);
    const { things } = this.household;
    const { places, thingMarks } = this.state;
    const lamp = things.findIndex(({ kind }, i) => kind === LAMP && this.isKnown(places[i]));
    if (lamp < 0) return this.search(() => true);
    // A lamp that is on shines for whoever arrives.
    return (thingMarks[lamp] & ON) !== 0
      ? this.at(places[lamp], ({ verb }) => verb === 'examine')
      : this.at(places[lamp], ({ verb, thing }) => verb === 'use' && thing === lamp);
  }

  /** The receptacle that has most of the task's things already, as far as is known, or else the first of its kind. */
  private chooseTarget(): number {
    const { task, receptacles, things } = this.household;
    const numAt = (receptacle: number): number =>
      this.isKnown(receptacle)
        ? things.filter(({ kind }, i) => kind === task.thing && this.state.places[i] === receptacle).length
        : 0;
    const targets = [...receptacles.keys()].filter((i) => receptacles[i].kind === task.target);
    if (task.family !== 'place-two') return targets[0];
    return targets.reduce((best, i) => (numAt(i) > numAt(best) ? i : best));
  }

  /** Takes a thing of the task, or looks for one. */
  private fetch(isUseful: (thing: number) => boolean): string {
    const { task, things } = this.household;
    const { places, at } = this.state;
    const found = [...things.keys()].filter(
      (i) => things[i].kind === task.thing && places[i] !== HELD && this.isKnown(places[i]) && isUseful(i),
    );
    if (found.length === 0) return this.search((receptacle) => this.couldHave(receptacle));
    const thing = found.find((i) => places[i] === at) ?? found[0];
    return this.at(places[thing], (command) => command.verb === 'take' && command.thing === thing);
  }

  private couldHave(receptacle: number): boolean {
    const { task, things, receptacles } = this.household;
    const isElsewhere = task.family === 'place' || task.family === 'place-two';
    const thing = things.findIndex(({ kind }) => kind === task.thing);
    return (
      fits(this.household, thing, receptacle) &&
      !(isElsewhere && receptacles[receptacle].kind === task.target)
    );
  }

  /** Looks into the next receptacle of the list. */
  private search(isWorthwhile: (receptacle: number) => boolean): string {
    const { receptacles } = this.household;
    const unknown = [...receptacles.keys()].filter((i) => !this.isKnown(i));
    const receptacle = unknown.find(isWorthwhile) ?? unknown[0];
    return this.at(receptacle, ({ verb }) => verb === 'open');
  }

  /** Goes to a receptacle, opens it where what is wanted needs it, and then does what is wanted. */
  private at(receptacle: number, isWanted: (command: Command) => boolean): string {
    const commands = [...this.world.commands];
    const found = (test: (command: Command) => boolean): string | undefined =>
      commands.find(([, command]) => test(command))?.[0];
    const action =
      this.state.at === receptacle
        ? (found(isWanted) ??
          (isAccessible(this.household, this.state, receptacle)
            ? undefined
            : found(({ verb }) => verb === 'open')))
        : found((command) => command.verb === 'go' && command.receptacle === receptacle);
    if (action !== undefined) return action;
    throw new EnvironmentError('INVALID_ARGUMENT', 'household: the task is solved, or has no solution');
  }

  private indexOf(kind: string | null): number {
    return this.household.receptacles.findIndex((receptacle) => receptacle.kind === kind);
  }
}

function asHousehold(environment: Environment): HouseholdWorld {
  if (environment instanceof HouseholdWorld) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays household only');
}
