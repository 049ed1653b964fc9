import { IsBoolean, IsOptional } from '@retrace/validation';
import { Advanced } from './field-rules.js';

/** How a run is divided into processes. It changes nothing that a run computes, so this field is no part of a recipe's hash. */
export class ProcessRecipe {
  /**
   * Whether trainer and collector are one process, with one set of weights: the collector gets the next policy before its files are written.
   * Without it, where they work one after the other: `collection.maxStaleness` is 0, one collector samples in its own process, and the engine is TensorFlow.js.
   */
  @IsOptional() @IsBoolean() readonly colocate?: boolean;

  /**
   * Whether the process that is trainer and collector also validates, from the first update on: it starts no second TensorFlow. Training and validation then take turns.
   * It has no effect where trainer and collector are two processes. Without it: on a machine with at most two processors, for a policy that begins with random weights
   * in a built-in environment.
   */
  @Advanced() @IsOptional() @IsBoolean() readonly colocateValidator?: boolean;
}
