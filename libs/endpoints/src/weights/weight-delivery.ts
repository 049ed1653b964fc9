/** Weights of one policy version, as files in a directory that the server sees. */
export interface DeliveredWeights {
  /** Names this version among all that the server ever gets: `retrace-<run>-<version>`. */
  readonly name: string;
  readonly directory: string;
  /** Where the engine that made them keeps them; absent or `''` where the files are all there is. */
  readonly location?: string;
}

/** Weights that a server says it serves, when it is asked after a delivery. */
export interface ConfirmedWeights {
  /** Version as the server says it: the name of the files. */
  readonly version: string;
  /** Name under which requests ask for these weights. */
  readonly model: string;
}

/**
 * A way to bring policy versions to a server that samples.
 *
 * Implementers:
 * - `deliver` resolves only once the server itself, asked after the change, has said that it serves these weights.
 * - Delivering what is served already changes nothing, so a restarted collector may deliver again.
 * - Where the server can pause, no token is sampled while weights are half replaced, and it is resumed after a failure, too.
 */
export interface WeightDelivery {
  /** Files that the server reads: adapters in peft's format, or a whole model; or none, where the server has the weights and their location names them. */
  readonly form: 'adapter' | 'model' | 'location';
  /**
   * Turns that are under way during a delivery: they `keep` the weights that they began with, `switch` to the new ones, which their answers
   * then say for each token, or must have `ended` before, and no other may begin.
   */
  readonly turnsUnderWay: 'keep' | 'switch' | 'ended';
  /** Where a loss of the weights shows, as after a restart of the server: in a turn itself, which fails or says other weights, or only a question. */
  readonly lossShows: 'inTurns' | 'whenAsked';
  /** Name of the weights that a turn would get now which asks for these; null where it would get none that a delivery named. @throws EndpointError */
  serving(name: string, signal?: AbortSignal): Promise<string | null>;
  /** @throws EndpointError when the server refuses, or then says that it serves other weights; the signal's reason once it aborts */
  deliver(weights: DeliveredWeights, signal?: AbortSignal): Promise<ConfirmedWeights>;
  /** Takes an older version away from the server, where it keeps several. @throws EndpointError */
  retire(name: string, signal?: AbortSignal): Promise<void>;
}
