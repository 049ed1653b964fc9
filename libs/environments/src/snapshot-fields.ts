import { isJsonObject, type Json } from '@retrace/trajectory';
import { EnvironmentError } from './errors.js';

/**
 * Reads the fields of a snapshot of a built-in environment. Each snapshot names the environment that made it, so that one world's is
 * never restored in another. All methods throw EnvironmentError `INVALID_SNAPSHOT`, which names the field, its value and the rule.
 */
export class SnapshotFields {
  private readonly fields: Readonly<Record<string, Json>>;

  /** @param world as the snapshot names it, for example `frozen-lake` */
  constructor(
    private readonly world: string,
    snapshot: Json,
  ) {
    this.fields = isJsonObject(snapshot) ? snapshot : {};
    if (this.fields.world !== world) throw this.fault('world', `be ${JSON.stringify(world)}`);
  }

  /** The task that the episode was reset with; the environment checks it as at a reset. */
  get task(): Json {
    return this.json('task');
  }

  json(field: string): Json {
    const value = this.fields[field];
    if (value === undefined) throw this.fault(field, 'be there');
    return value;
  }

  /** An integer from `least` to `most`. */
  integer(field: string, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.fields[field];
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
      throw this.fault(field, `be an integer from ${least} to ${most}`);
    }
    return value as number;
  }

  /** Integers from `least` to `most`, `length` of them where it is given. */
  integers(field: string, least: number, most: number, length?: number): readonly number[] {
    const value = this.fields[field];
    const isInside = (item: Json): boolean =>
      Number.isSafeInteger(item) && (item as number) >= least && (item as number) <= most;
    if (
      !Array.isArray(value) ||
      !value.every(isInside) ||
      (length !== undefined && value.length !== length)
    ) {
      const count = length === undefined ? '' : `${length} `;
      throw this.fault(field, `be a list of ${count}integers from ${least} to ${most}`);
    }
    return value as readonly number[];
  }

  boolean(field: string): boolean {
    const value = this.fields[field];
    if (typeof value !== 'boolean') throw this.fault(field, 'be true or false');
    return value;
  }

  text(field: string): string {
    const value = this.fields[field];
    if (typeof value !== 'string') throw this.fault(field, 'be a text');
    return value;
  }

  /** The error for a field that breaks a rule; `rule` completes "must …". */
  fault(field: string, rule: string): EnvironmentError {
    const value = JSON.stringify(this.fields[field])?.slice(0, MAX_SHOWN_CHARACTERS);
    return new EnvironmentError(
      'INVALID_SNAPSHOT',
      `snapshot of ${this.world}: ${field} is ${value}, must ${rule}`,
    );
  }
}

const MAX_SHOWN_CHARACTERS = 200;
