import { sqlTokens } from '@retrace/store/user-sql';
import { classOf, COLUMN_TEXTS, CONSTANT_TEXTS, elementClassOf, splitTypes } from './sql-types.mjs';

/**
 * @typedef {import('./sql-types.mjs').Expression} Expression
 * @typedef {{ name: string, isAggregate: number, isHigherOrder: number, aliasTo: string, examples: string }} SqlFunction
 *
 * An argument of a call that worked: the class of its type (`lambda` for a lambda), and the expression.
 * @typedef {{ class: string, expression: Expression, rows: { numTries: number, numResults: number } }} Slot `rows`: how columns did there
 *
 * A call that worked, for others like it.
 * @typedef {{ combinator: string, parameters: string, over: string, slots: Slot[] }} Shape
 *
 * @typedef {{ entry: FunctionEntry, shape: Shape, text: string, isConstant: boolean }} Call
 * @typedef {{ function: SqlFunction, shapes: Map<string, Shape>, numTries: number, numResults: number }} FunctionEntry
 */

/** Classes that arguments of unknown functions are tried with. */
const COMMON_CLASSES =
  'UInt8|Int|Int|Float|String|String|Date|DateTime|DateTime64|Array(Int)|Array(UInt8)|Array(Float)|Array(String)|Map(String, Int)|Map(Int, Int)|Tuple(Int, Int)|Interval|UUID|Decimal'
    .split('|')
    .map((name) => name.trim());
/** Arguments with which a function of unknown arguments is tried, one list after the other; then come random ones. */
const FIRST_ARGUMENTS = `
  String ¦ Int ¦ Int, Int ¦ String, String ¦ Array(Int) ¦ Float ¦ DateTime ¦ Array(Int), Int ¦ UInt8 ¦ Date, Int ¦ DateTime, Int ¦ Array(String), String ¦ Map(String, Int) ¦
  Tuple(Int, Int), Tuple(Int, Int) ¦ JSON ¦ Int, Int, Int ¦ String, String, String ¦ UInt8, Int, Int ¦ Map(String, Int), String ¦ Int, Tuple(Int, Int) ¦ Dynamic ¦ Dynamic, String ¦
  UUID ¦ FixedString ¦ String, Array(String) ¦ Tuple(Int, String) ¦ Tuple(Int, String), String ¦ Decimal, Decimal ¦ String, Int ¦ Variant, String ¦ Array(Int), Array(Int) ¦
  String, Int, Int ¦ Int, Int, Int, Int ¦ Interval, Tuple(Interval) ¦ DateTime64 ¦ Date ¦ Array(UInt8), Array(Float) ¦ DateTime, String ¦ Int, String ¦`
  .split('¦')
  .map((list) => list.trim());
/** The same for aggregate and window functions, with parameters before and the window after. */
const FIRST_AGGREGATES = `
  (Int) ¦ (Int, Int) ¦ (0.5)(Int) ¦ (0.5)(Int, Int) ¦ (Int) OVER (ORDER BY step) ¦ () OVER (ORDER BY step) ¦ (3)(Int) ¦ (Array(Int)) ¦ (String) ¦ (UInt8) ¦ (Float, Float) ¦ (Float, UInt8) ¦
  (100, 0.5)(Int) ¦ (0.1, 0.9)(Float) ¦ (0.1, 0.9)(Int, Int) ¦ (100, 0.1, 0.9)(Int) ¦ (Int, Int) OVER (ORDER BY step) ¦ (3)(Int, Int) ¦ (10)(Float, Float) ¦ (Map(String, Int)) ¦
  (Array(Int), Array(Int)) ¦ (10)(Float, DateTime) ¦ (10)(Int) OVER (ORDER BY step) ¦ (0.01, 0.5)(Float) ¦ (0.01, 0.1, 0.9)(Float) ¦ (JSON) ¦ (Dynamic) ¦ (3600)(DateTime, UInt8, UInt8) ¦ ('(?1)(?2)')(DateTime, UInt8, UInt8) ¦
  (UInt8, UInt8) ¦ (Float, DateTime) OVER (ORDER BY step) ¦ (5, 0, 100)(Int) ¦ ([1, 2])(Map(Int, Int)) ¦ ([1, 2])(Array(Int), Array(Int)) ¦ ((100))(Int) ¦ (10)(Float, Int) ¦ (String, Int) ¦ (0.5)(Float, Int) ¦ (0.5)(Float, Float) ¦
  (0.95)(Float, UInt8) ¦ (4)(Int) OVER (ORDER BY step) ¦ (0, 100, 10)(Int, Int)`
  .split('¦')
  .map((list) => list.trim());
const NUM_ARGUMENTS = [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5];
const PARAMETERS = ['', '', '', '(0.5)', '(2)', '(10)', '(0.1, 0.9)', "(',')", '(3, 0.5)', '(1, 2)'];
const COMBINATORS =
  'If|Array|Map|Distinct|OrNull|OrDefault|ForEach|ArgMax|ArgMin|SimpleState|ArrayIf|DistinctIf'.split('|');
const WINDOWS = [
  '',
  ' OVER ()',
  ' OVER (ORDER BY step)',
  ' OVER (PARTITION BY step % 7 ORDER BY step)',
  ' OVER (ORDER BY step ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)',
];
const SOURCES = [
  'steps',
  'steps',
  '(SELECT * FROM steps LIMIT 10)',
  '(SELECT * FROM steps LIMIT 0)',
  'steps ARRAY JOIN token_ids AS t',
  'steps AS s JOIN runs AS r ON s.run_id = r.run_id',
];
const WRAPPERS = ['any', 'max', 'groupArray', 'uniqExact', 'count', 'topK(3)', 'groupUniqArray', 'argMax'];
const MAX_EXPRESSIONS_OF_CLASS = 150;
const MAX_SHAPES = 40;
const MAX_EXAMPLES = 4;
const MAX_EARLY_TRIES = 100;
/** Longest call that becomes an argument of others. */
const MAX_ARGUMENT_LENGTH = 250;

/**
 * Makes random statements that mostly run. It learns from the answers: a call that gave a result shows which classes of arguments its
 * function takes, and becomes an argument of others. Functions take turns, so that all are called equally often.
 */
export class SqlFuzzer {
  /** @type {Map<string, Expression[]>} */
  expressions = new Map();
  /** @type {Map<string, FunctionEntry>} */
  entries = new Map();
  /** @type {FunctionEntry[]} */
  deck = [];

  /**
   * @param {readonly SqlFunction[]} functions
   * @param {number} seed
   */
  constructor(functions, seed) {
    this.random = mulberry32(seed);
    for (const one of functions)
      this.entries.set(one.name, { function: one, shapes: new Map(), numTries: 0, numResults: 0 });
  }

  /**
   * Learns the types of constants and columns, and the calls in the engine's own examples.
   *
   * @param {(sql: string) => Promise<string[] | null>} typesOf the result's columns; null for a statement that fails
   */
  async begin(typesOf) {
    for (const text of CONSTANT_TEXTS) await this.learnExpression(text, typesOf, true);
    for (const text of COLUMN_TEXTS) await this.learnExpression(text, typesOf, false);
    const left = [...this.entries.values()];
    const learn = async () => {
      for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
        const { name, aliasTo, examples } = entry.function;
        const texts = [examples, this.entries.get(aliasTo)?.function.examples ?? ''];
        const calls = texts.flatMap((text) => findCalls(text, name, aliasTo));
        for (const call of calls.slice(0, MAX_EXAMPLES)) await this.learnExample(entry, call, typesOf);
      }
    };
    await Promise.all([learn(), learn()]);
  }

  /** @returns {{ sql: string, call: Call }} */
  next() {
    if (this.deck.length === 0) this.deck = this.shuffled([...this.entries.values()]);
    const entry = this.silentFunction() ?? this.deck.pop();
    const { isAggregate } = entry.function;
    entry.numTries++;
    const die = this.random();
    if (isAggregate) return this.aggregateStatement(entry, die);
    const overRows = die >= 0.45 && (entry.shapes.size > 0 || this.random() < 0.4);
    const call = this.call(entry, overRows);
    return { call, sql: this.scalarStatement(call.text, overRows ? die : 0) };
  }

  /** Now and then a function that gave no result yet, so that its arguments are found soon. @returns {FunctionEntry | undefined} */
  silentFunction() {
    if (this.random() > 0.2) return undefined;
    const silent = [...this.entries.values()].filter(
      ({ numResults, numTries }) => numResults === 0 && numTries < MAX_EARLY_TRIES,
    );
    return silent.length === 0 ? undefined : this.choose(silent);
  }

  /**
   * Learns from the answer to a statement of `next`.
   *
   * @param {Call} call
   * @param {string | null} type of the statement's first column; null where it failed
   */
  learn({ entry, shape, text, isConstant }, type) {
    for (const slot of shape.slots) {
      if (slot.expression.isConstant) continue;
      slot.rows.numTries++;
      if (type !== null) slot.rows.numResults++;
    }
    if (type === null) return;
    entry.numResults++;
    this.keepShape(entry, shape);
    if (!entry.function.isAggregate && type !== '' && text.length <= MAX_ARGUMENT_LENGTH)
      this.keepExpression({ text, type, isConstant });
  }

  /** @param {FunctionEntry} entry @param {number} die */
  aggregateStatement(entry, die) {
    const call = this.call(entry, true);
    const source = this.choose(SOURCES);
    // Window functions are learned with their windows.
    if (call.shape.over !== '' || die < 0.6) return { call, sql: `SELECT ${call.text} FROM ${source}` };
    const key = this.expressionOf('UInt8', false).text;
    if (die < 0.75)
      return { call, sql: `SELECT ${call.text}, ${key} AS k FROM steps GROUP BY k ORDER BY k LIMIT 10` };
    if (die < 0.9) return { call, sql: `SELECT ${call.text}${this.choose(WINDOWS)} FROM steps LIMIT 100` };
    return { call, sql: `SELECT (SELECT ${call.text} FROM ${source}) AS a, toString(a)` };
  }

  /** @param {string} text of a call @param {number} die */
  scalarStatement(text, die) {
    if (die < 0.45) return `SELECT ${text}`;
    if (die < 0.7) return `SELECT ${text} FROM ${this.choose(SOURCES)} LIMIT 100`;
    if (die < 0.78) return `SELECT ${text}, ${this.choose(WRAPPERS)}(${text}) FROM steps GROUP BY 1 LIMIT 20`;
    if (die < 0.86) return `SELECT ${text} FROM steps ORDER BY ${text} DESC, step LIMIT 10`;
    if (die < 0.93) return `SELECT ${text} AS c FROM steps WHERE isNotNull(c) AND toString(c) != '' LIMIT 10`;
    return `WITH ${text} AS c SELECT c, d FROM (SELECT ${text} AS d, * FROM steps LIMIT 100) WHERE d = c LIMIT 5`;
  }

  /** @param {FunctionEntry} entry @param {boolean} overRows whether arguments may be columns @returns {Call} */
  call(entry, overRows) {
    const die = this.random();
    const shape =
      entry.shapes.size === 0 || die < 0.08
        ? this.guess(entry, overRows)
        : this.vary(this.choose([...entry.shapes.values()]), entry, overRows);
    const { combinator, parameters, over, slots } = shape;
    const inside = slots.map(({ expression }) => expression.text).join(', ');
    return {
      entry,
      shape,
      text: `${entry.function.name}${combinator}${parameters}(${inside})${over}`,
      isConstant: !entry.function.isAggregate && slots.every(({ expression }) => expression.isConstant),
    };
  }

  /** Arguments for a function of which nothing is known. @param {FunctionEntry} entry @param {boolean} overRows @returns {Shape} */
  guess({ function: { isAggregate, isHigherOrder }, numTries, shapes }, overRows) {
    if (shapes.size === 0 && isAggregate && numTries <= 2 * FIRST_AGGREGATES.length)
      return this.firstAggregate(FIRST_AGGREGATES[(numTries - 1) % FIRST_AGGREGATES.length]);
    if (shapes.size === 0 && !isAggregate && numTries <= 2 * FIRST_ARGUMENTS.length) {
      const slots = this.slotsOf(FIRST_ARGUMENTS[(numTries - 1) % FIRST_ARGUMENTS.length], overRows);
      if (isHigherOrder) slots.unshift(this.lambdaSlot(slots));
      return { combinator: '', parameters: '', over: '', slots };
    }
    const numArguments = this.choose(NUM_ARGUMENTS);
    const slots = Array.from({ length: numArguments }, () =>
      slotOf(this.expressionOf(this.choose(COMMON_CLASSES), overRows)),
    );
    if (isHigherOrder) slots.unshift(this.lambdaSlot(slots));
    const isParametric = isAggregate && this.random() < 0.6;
    return {
      combinator: '',
      parameters: isParametric ? this.choose(PARAMETERS) : '',
      over: isAggregate && this.random() < 0.3 ? this.choose(WINDOWS) : '',
      slots,
    };
  }

  /** @param {string} call such as `(0.5)(Int, Int) OVER ()` @returns {Shape} */
  firstAggregate(call) {
    const [inside, over = ''] = call.split(/ (?=OVER)/);
    const cut = inside.lastIndexOf(')(') + 1;
    const slots = this.slotsOf(inside.slice(cut + 1, -1), true);
    return { combinator: '', parameters: inside.slice(0, cut), over: over === '' ? '' : ` ${over}`, slots };
  }

  /** @param {string} classes with commas between them @param {boolean} overRows @returns {Slot[]} */
  slotsOf(classes, overRows) {
    return splitTypes(classes).map((name) => slotOf(this.expressionOf(name, overRows)));
  }

  /** Another call like one that worked. @param {Shape} known @param {FunctionEntry} entry @param {boolean} overRows @returns {Shape} */
  vary(known, entry, overRows) {
    const slots = known.slots.map((slot) => {
      const die = this.random();
      if (slot.class === 'lambda') return die < 0.5 ? slot : this.lambdaSlot(known.slots);
      if (die < 0.25 && (overRows || slot.expression.isConstant)) return slot;
      if (die < 0.3) return { ...slot, expression: this.expressionOf(this.choose(COMMON_CLASSES), overRows) };
      const takesColumns = slot.rows.numTries < 4 || slot.rows.numResults > 0;
      return { ...slot, expression: this.expressionOf(slot.class, overRows && takesColumns) };
    });
    const { isAggregate } = entry.function;
    if (!isAggregate || known.combinator !== '' || known.over !== '' || this.random() < 0.75)
      return { ...known, slots };
    return this.combine({ ...known, slots }, this.choose(COMBINATORS));
  }

  /** The shape with a combinator, and the arguments that it takes. @param {Shape} shape @param {string} combinator @returns {Shape} */
  combine(shape, combinator) {
    let slots = shape.slots;
    const wrap = (open, close, kind) =>
      slots.map(({ expression: { text, type, isConstant } }) =>
        slotOf({ text: `${open}${text}${close}`, type: kind(type), isConstant }),
      );
    if (/^(?:Array|ForEach)/.test(combinator)) slots = wrap('[', ']', (type) => `Array(${type})`);
    if (combinator === 'Map') slots = wrap("map('a', ", ')', (type) => `Map(String, ${type})`);
    if (/If$/.test(combinator)) slots = [...slots, slotOf(this.expressionOf('UInt8', true))];
    if (/^Arg/.test(combinator)) slots = [...slots, slotOf(this.expressionOf('Int', true))];
    return { ...shape, combinator, slots };
  }

  /** A lambda over the elements of the array among the other arguments. @param {readonly Slot[]} slots @returns {Slot} */
  lambdaSlot(slots) {
    const element = slots.map((slot) => elementClassOf(slot.class)).find((name) => name !== null) ?? 'Int';
    const others = slots.filter((slot) => /^(?:Array|Map)\(/.test(slot.class)).length;
    const names = slots.some((slot) => slot.class.startsWith('Map(')) || others > 1 ? '(x, y)' : 'x';
    const bodies = [
      'x',
      'x = x',
      'toString(x)',
      '(x, x)',
      'x > 1',
      this.expressionOf(this.choose(COMMON_CLASSES), false).text,
      this.callOn(element),
      this.callOn(element),
    ];
    if (names === '(x, y)') bodies.push('y', 'x = y', 'x < y', '(y, x)', '(x, y)');
    return slotOf({ text: `${names} -> ${this.choose(bodies)}`, type: 'lambda', isConstant: true });
  }

  /** A call of some function with `x` in the place of an argument of this class. @param {string} wanted */
  callOn(wanted) {
    for (let attempt = 0; attempt < 30; attempt++) {
      const entry = this.choose([...this.entries.values()]);
      if (entry.function.isAggregate || entry.shapes.size === 0) continue;
      const { slots } = this.choose([...entry.shapes.values()]);
      const place = slots.findIndex((slot) => slot.class === wanted);
      if (place < 0 || slots.some((slot) => slot.class === 'lambda' || !slot.expression.isConstant)) continue;
      const texts = slots.map(({ expression }, i) => (i === place ? 'x' : expression.text));
      return `${entry.function.name}(${texts.join(', ')})`;
    }
    return 'x';
  }

  /** @param {string} wanted class @param {boolean} overRows whether it may be a column @returns {Expression} */
  expressionOf(wanted, overRows) {
    const classes = wanted === 'Int' && this.random() < 0.3 ? ['UInt8', 'Int'] : [wanted];
    const all = classes.flatMap((name) => this.expressions.get(name) ?? []);
    const fitting = overRows ? all : all.filter(({ isConstant }) => isConstant);
    const rows = overRows && this.random() < 0.6 ? fitting.filter(({ isConstant }) => !isConstant) : [];
    if (rows.length > 0) return this.choose(rows);
    if (fitting.length > 0) return this.choose(fitting);
    return { text: 'NULL', type: 'Nullable(Nothing)', isConstant: true };
  }

  /** @param {string} text @param {(sql: string) => Promise<string[] | null>} typesOf @param {boolean} isConstant */
  async learnExpression(text, typesOf, isConstant) {
    const types = await typesOf(`SELECT ${text}${isConstant ? '' : ' FROM steps LIMIT 1'}`);
    if (types === null) return null;
    const expression = { text, type: types[0], isConstant };
    this.keepExpression(expression);
    return expression;
  }

  /** @param {FunctionEntry} entry @param {{ parameters: string, arguments: string[] }} call @param {(sql: string) => Promise<string[] | null>} typesOf */
  async learnExample(entry, call, typesOf) {
    const text = `${entry.function.name}${call.parameters}(${call.arguments.join(', ')})`;
    const isLambda = (one) => one.includes('->');
    const types = await typesOf(
      `SELECT ${[text, ...call.arguments.filter((one) => !isLambda(one))].join(', ')}`,
    );
    if (types === null) return;
    const [, ...argumentTypes] = types;
    const slots = call.arguments.map((one) =>
      slotOf({ text: one, type: isLambda(one) ? 'lambda' : argumentTypes.shift(), isConstant: true }),
    );
    for (const { expression } of slots) if (expression.type !== 'lambda') this.keepExpression(expression);
    entry.numResults++;
    this.keepShape(entry, { combinator: '', parameters: call.parameters, over: '', slots });
  }

  /** @param {FunctionEntry} entry @param {Shape} shape */
  keepShape({ shapes }, shape) {
    const classes = shape.slots.map((slot) => classOf(slot.expression.type));
    const key = `${shape.combinator}${shape.parameters}${shape.over}(${classes.join(', ')})`;
    if (shapes.has(key) || shapes.size >= MAX_SHAPES) return;
    shapes.set(key, { ...shape, slots: shape.slots.map(({ expression }) => slotOf(expression)) });
  }

  /** @param {Expression} expression */
  keepExpression(expression) {
    const name = classOf(expression.type);
    const known = this.expressions.get(name) ?? [];
    if (known.some(({ text }) => text === expression.text)) return;
    if (known.length < MAX_EXPRESSIONS_OF_CLASS) known.push(expression);
    else known[Math.floor(this.random() * known.length)] = expression;
    this.expressions.set(name, known);
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  choose(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  /** @template T @param {readonly T[]} list */
  shuffled(list) {
    return list
      .map((value) => ({ value, place: this.random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ value }) => value);
  }
}

/** @param {Expression} expression @returns {Slot} */
function slotOf(expression) {
  return { class: classOf(expression.type), expression, rows: { numTries: 0, numResults: 0 } };
}

/** The calls of a function in a text that contains SQL. @param {string} text @param {string} name @param {string} otherName */
export function findCalls(text, name, otherName) {
  const names = [name, otherName].filter(Boolean).map((one) => one.toLowerCase());
  const calls = [];
  for (const [, sql] of text.matchAll(/```sql[^\n]*\n(.*?)```/gs)) {
    let tokens;
    try {
      tokens = [...sqlTokens(sql)];
    } catch {
      continue;
    }
    tokens.forEach((token, i) => {
      if (token.kind !== 'word' || !names.includes(token.text.toLowerCase())) return;
      const first = readBrackets(sql, tokens, i + 1);
      if (first === null) return;
      const second = readBrackets(sql, tokens, first.next);
      calls.push({
        parameters: second === null ? '' : `(${first.parts.join(', ')})`,
        arguments: (second ?? first).parts,
      });
    });
  }
  return calls;
}

/** Splits what is between a bracket and the one that closes it at commas; null where there is no bracket. */
function readBrackets(sql, tokens, start) {
  if (tokens[start]?.text !== '(') return null;
  const parts = [];
  let depth = 0;
  let from = start + 1;
  for (let i = start; i < tokens.length; i++) {
    const { text } = tokens[i];
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    if (depth === 0 || (depth === 1 && text === ',')) {
      if (i > from) parts.push(sql.slice(tokens[from].start, tokens[i - 1].end));
      from = i + 1;
    }
    if (depth === 0) return { parts, next: i + 1 };
  }
  return null;
}

/** @param {number} seed */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
