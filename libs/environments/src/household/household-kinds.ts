/** Kinds of rooms. */
export const ROOM_KINDS = ['kitchen', 'livingroom', 'bedroom', 'bathroom'] as const;
export type RoomKind = (typeof ROOM_KINDS)[number];

/** A kind of thing, by rules that ALFRED's simulator has and ALFWorld's planner takes over. */
export interface ThingKind {
  /** Kinds of receptacles that it can be put into or onto. */
  readonly fits: ReadonlySet<string>;
  /** Rooms that have it. */
  readonly rooms: ReadonlySet<string>;
  /** Of `clean`, `heat`, `cool`, `slice`: that which can be done to it; `hold` for a vessel; `cut` for a knife. */
  readonly allows: ReadonlySet<string>;
}

/** Where almost everything fits. */
const TABLES = ['countertop', 'diningtable', 'coffeetable', 'sidetable'];

function kind(rooms: string, fits: string, allows = ''): ThingKind {
  const places = fits.split(' ').flatMap((place) => (place === 'tables' ? TABLES : [place]));
  return { fits: new Set(places), rooms: new Set(rooms.split(' ')), allows: new Set(allows.split(' ')) };
}

/** Things by the word that names their kind. */
export const THING_KINDS: Readonly<Record<string, ThingKind>> = {
  alarmclock: kind('bedroom', 'tables desk dresser shelf'),
  apple: kind('kitchen', 'tables fridge garbagecan microwave sinkbasin', 'heat cool clean slice'),
  baseballbat: kind('bedroom', 'tables bed'),
  basketball: kind('bedroom', 'tables armchair bed desk dresser ottoman sofa'),
  book: kind('livingroom bedroom', 'tables armchair bed cabinet desk drawer dresser ottoman shelf sofa'),
  bowl: kind(
    'kitchen bedroom',
    'tables cabinet desk dresser fridge microwave shelf sinkbasin',
    'cool clean hold',
  ),
  bread: kind('kitchen', 'tables fridge garbagecan microwave', 'heat cool slice'),
  butterknife: kind('kitchen', 'tables drawer sinkbasin', 'clean cut'),
  candle: kind('livingroom bathroom', 'tables cabinet desk drawer dresser shelf toilet'),
  cd: kind('bedroom', 'tables cabinet desk drawer dresser garbagecan safe shelf'),
  cellphone: kind('livingroom bedroom', 'tables armchair bed desk drawer dresser ottoman safe shelf sofa'),
  cloth: kind(
    'bathroom',
    'tables armchair bathtubbasin cabinet desk drawer dresser garbagecan laundryhamper ottoman shelf sinkbasin sofa toilet',
    'clean',
  ),
  creditcard: kind('livingroom bedroom', 'tables armchair desk drawer dresser ottoman safe shelf sofa'),
  cup: kind(
    'kitchen',
    'tables cabinet desk dresser fridge microwave shelf sinkbasin',
    'heat cool clean hold',
  ),
  dishsponge: kind(
    'kitchen bathroom',
    'tables bathtubbasin cabinet drawer garbagecan shelf sinkbasin toilet',
    'clean',
  ),
  egg: kind('kitchen', 'tables fridge garbagecan microwave sinkbasin', 'heat cool clean slice'),
  fork: kind('kitchen', 'tables drawer sinkbasin', 'clean'),
  glassbottle: kind('kitchen', 'tables cabinet desk dresser fridge microwave shelf sinkbasin'),
  handtowel: kind(
    'bathroom',
    'tables bathtubbasin cabinet drawer garbagecan handtowelholder shelf sinkbasin toilet',
  ),
  kettle: kind('kitchen', 'tables cabinet shelf sinkbasin stoveburner', 'clean'),
  keychain: kind('livingroom bedroom', 'tables armchair desk drawer dresser ottoman safe shelf sofa'),
  knife: kind('kitchen', 'tables drawer sinkbasin', 'clean cut'),
  ladle: kind('kitchen', 'tables cabinet drawer sinkbasin', 'clean'),
  laptop: kind('livingroom bedroom', 'tables armchair bed desk dresser ottoman sofa'),
  lettuce: kind('kitchen', 'tables fridge garbagecan sinkbasin', 'cool clean slice'),
  mug: kind(
    'kitchen bedroom',
    'tables cabinet coffeemachine desk dresser fridge microwave shelf sinkbasin',
    'heat cool clean hold',
  ),
  newspaper: kind(
    'livingroom',
    'tables armchair bed cabinet desk drawer dresser garbagecan ottoman shelf sofa toilet',
  ),
  pan: kind('kitchen', 'tables cabinet fridge sinkbasin stoveburner', 'cool clean hold'),
  pen: kind('bedroom', 'tables desk drawer dresser garbagecan shelf'),
  pencil: kind('bedroom', 'tables desk drawer dresser garbagecan shelf'),
  peppershaker: kind('kitchen', 'tables cabinet drawer shelf'),
  pillow: kind('livingroom bedroom', 'armchair bed ottoman sofa'),
  plate: kind(
    'kitchen',
    'tables cabinet desk dresser fridge microwave shelf sinkbasin',
    'heat cool clean hold',
  ),
  plunger: kind('bathroom', 'cabinet'),
  pot: kind('kitchen', 'tables cabinet fridge shelf sinkbasin stoveburner', 'cool clean hold'),
  potato: kind('kitchen', 'tables fridge garbagecan microwave sinkbasin', 'heat cool clean slice'),
  remotecontrol: kind('livingroom', 'tables armchair desk drawer dresser ottoman shelf sofa'),
  saltshaker: kind('kitchen', 'tables cabinet drawer shelf'),
  soapbar: kind('bathroom', 'tables bathtubbasin cabinet drawer garbagecan shelf sinkbasin toilet', 'clean'),
  soapbottle: kind('kitchen bathroom', 'tables cabinet desk drawer garbagecan shelf toilet'),
  spatula: kind('kitchen', 'tables drawer sinkbasin', 'clean'),
  spoon: kind('kitchen', 'tables drawer sinkbasin', 'clean'),
  spraybottle: kind('bathroom', 'tables cabinet desk drawer dresser garbagecan shelf toilet'),
  statue: kind('livingroom', 'tables desk dresser safe shelf'),
  tennisracket: kind('bedroom', 'tables bed desk dresser'),
  tissuebox: kind('livingroom bathroom', 'tables cabinet desk drawer dresser garbagecan shelf toilet'),
  toiletpaper: kind(
    'bathroom',
    'tables cabinet desk drawer dresser garbagecan shelf toilet toiletpaperhanger',
  ),
  tomato: kind('kitchen', 'tables fridge garbagecan microwave sinkbasin', 'heat cool clean slice'),
  towel: kind('bathroom', 'towelholder'),
  vase: kind('livingroom', 'tables cabinet desk dresser safe shelf'),
  watch: kind('livingroom', 'tables desk drawer dresser safe shelf'),
  wateringcan: kind('livingroom', 'tables cabinet desk drawer dresser shelf'),
  winebottle: kind('kitchen', 'tables cabinet desk dresser fridge garbagecan shelf', 'cool'),
};

/** The lamp that things are looked at under. It can't be taken. */
export const LAMP = 'desklamp';

/** Where a lamp can be. */
export const LAMP_PLACES: ReadonlySet<string> = new Set(['desk', 'dresser', 'sidetable']);

/** Kinds of receptacles that are to be opened. */
export const OPENABLE: ReadonlySet<string> = new Set(['cabinet', 'drawer', 'fridge', 'microwave', 'safe']);

/** Kinds of receptacles of a room: how many of each there are, at least and at most, in large and in small rooms. */
export const ROOM_CONTENTS: Readonly<
  Record<
    RoomKind,
    readonly (readonly [kind: string, large: readonly [number, number], small: readonly [number, number]])[]
  >
> = {
  kitchen: [
    ['cabinet', [4, 8], [1, 3]],
    ['coffeemachine', [1, 1], [0, 0]],
    ['countertop', [2, 3], [1, 1]],
    ['diningtable', [0, 1], [0, 1]],
    ['drawer', [3, 6], [0, 2]],
    ['fridge', [1, 1], [1, 1]],
    ['garbagecan', [1, 1], [0, 0]],
    ['microwave', [1, 1], [1, 1]],
    ['shelf', [0, 3], [0, 1]],
    ['sidetable', [0, 1], [0, 0]],
    ['sinkbasin', [1, 1], [1, 1]],
    ['stoveburner', [2, 4], [0, 0]],
  ],
  livingroom: [
    ['armchair', [1, 2], [0, 1]],
    ['cabinet', [0, 4], [0, 0]],
    ['coffeetable', [1, 2], [1, 1]],
    ['diningtable', [0, 1], [0, 0]],
    ['drawer', [0, 5], [0, 2]],
    ['dresser', [0, 1], [0, 1]],
    ['garbagecan', [1, 1], [0, 0]],
    ['ottoman', [0, 1], [0, 0]],
    ['safe', [0, 1], [0, 0]],
    ['shelf', [0, 5], [0, 2]],
    ['sidetable', [1, 2], [1, 1]],
    ['sofa', [1, 1], [1, 1]],
  ],
  bedroom: [
    ['armchair', [0, 1], [0, 0]],
    ['bed', [1, 1], [1, 1]],
    ['desk', [1, 2], [1, 1]],
    ['drawer', [2, 6], [1, 2]],
    ['dresser', [0, 1], [0, 1]],
    ['garbagecan', [1, 1], [0, 1]],
    ['laundryhamper', [0, 1], [0, 0]],
    ['safe', [0, 1], [0, 0]],
    ['shelf', [0, 5], [0, 2]],
    ['sidetable', [1, 2], [0, 1]],
  ],
  bathroom: [
    ['bathtubbasin', [0, 1], [0, 0]],
    ['cabinet', [2, 4], [1, 2]],
    ['countertop', [1, 1], [0, 1]],
    ['drawer', [0, 4], [0, 2]],
    ['garbagecan', [1, 1], [1, 1]],
    ['handtowelholder', [1, 2], [0, 1]],
    ['shelf', [0, 2], [0, 1]],
    ['sidetable', [0, 1], [0, 0]],
    ['sinkbasin', [1, 2], [1, 1]],
    ['toilet', [1, 1], [1, 1]],
    ['toiletpaperhanger', [1, 1], [0, 0]],
    ['towelholder', [1, 1], [0, 0]],
  ],
};

/** All kinds of receptacles. */
export const RECEPTACLE_KINDS: readonly string[] = [
  ...new Set(Object.values(ROOM_CONTENTS).flatMap((contents) => contents.map(([name]) => name))),
].sort();
