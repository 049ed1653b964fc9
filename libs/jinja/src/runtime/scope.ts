import type { Value } from '../values/value.js';

/** The variables of a block, with those of the blocks around it. */
export class VariableScope {
  private readonly values = new Map<string, Value>();

  constructor(private readonly outer: VariableScope | null = null) {}

  get(name: string): Value | undefined {
    return this.values.has(name) ? this.values.get(name) : this.outer?.get(name);
  }

  set(name: string, value: Value): void {
    this.values.set(name, value);
  }
}
