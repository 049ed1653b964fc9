import { fail } from '../jinja-error.js';
import { takeSteps } from '../meter.js';
import { equal } from '../values/comparison.js';
import {
  Instance,
  isList,
  iterate,
  countItems,
  Lazy,
  DictView,
  Tuple,
  Undefined,
  Callable,
  type Value,
} from '../values/value.js';

/** The items of a loop, one after the other, with what `loop` tells of them. */
export class Loop {
  private index = -1;
  private current: Value | undefined;
  private before: Value | undefined;
  /** Read ahead, to know whether another follows. */
  private ahead: readonly Value[] = [];
  private size: number | null = null;
  private lastChanged: Value | undefined;
  private readonly items: Iterator<Value>;

  constructor(
    private readonly source: Value,
    private readonly depth: number,
    private readonly recurse: ((items: Value, depth: number) => Value) | null,
  ) {
    this.items = iterate(source);
  }

  /** The next item; undefined at the end. */
  next(): Value | undefined {
    const [first, ...rest] = this.ahead;
    const item = this.ahead.length > 0 ? first : this.read();
    this.ahead = rest;
    if (item === undefined) return undefined;
    this.index++;
    this.before = this.current;
    this.current = item;
    return item;
  }

  /** The variable `loop`. */
  get variable(): Instance {
    const call = ([items]: readonly Value[]) =>
      this.recurse?.(items, this.depth + 1) ??
      fail('TypeError', "The loop must have the 'recursive' marker to be called recursively.");
    return new Instance('LoopContext', (name) => this.attribute(name), { call });
  }

  private attribute(name: string): Value | undefined {
    switch (name) {
      case 'index':
        return BigInt(this.index + 1);
      case 'index0':
        return BigInt(this.index);
      case 'revindex':
        return BigInt(this.length() - this.index);
      case 'revindex0':
        return BigInt(this.length() - this.index - 1);
      case 'first':
        return this.index === 0;
      case 'last':
        return this.peek() === undefined;
      case 'length':
        return BigInt(this.length());
      case 'depth':
        return BigInt(this.depth + 1);
      case 'depth0':
        return BigInt(this.depth);
      case 'previtem':
        return this.before ?? new Undefined('there is no previous item');
      case 'nextitem':
        return this.peek() ?? new Undefined('there is no next item');
      case 'cycle':
        return new Callable(
          'cycle',
          (args) => args[this.index % args.length] ?? fail('TypeError', 'no items for cycling given'),
        );
      case 'changed':
        return new Callable('changed', (args) => this.changed(new Tuple(args)));
      default:
        return undefined;
    }
  }

  private changed(value: Value): boolean {
    if (this.lastChanged !== undefined && equal(this.lastChanged, value)) return false;
    this.lastChanged = value;
    return true;
  }

  private read(): Value | undefined {
    takeSteps(1);
    const next = this.items.next();
    return next.done ? undefined : next.value;
  }

  private peek(): Value | undefined {
    if (this.ahead.length === 0) {
      const item = this.read();
      if (item !== undefined) this.ahead = [item];
    }
    return this.ahead[0];
  }

  private length(): number {
    if (this.size !== null) return this.size;
    const isSized = isList(this.source) || !(this.source instanceof Lazy) || this.source instanceof DictView;
    if (isSized) return (this.size = countItems(this.source));
    const ahead = [...this.ahead];
    for (let item = this.read(); item !== undefined; item = this.read()) ahead.push(item);
    this.ahead = ahead;
    return (this.size = this.index + 1 + ahead.length);
  }
}
