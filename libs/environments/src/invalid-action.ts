/** Reward of an action that the environment cannot parse; the turn is lost, too. */
export const INVALID_ACTION_REWARD = -0.1;
export const INVALID_ACTION_NAMES: readonly string[] = ['invalidAction'];
export const INVALID_ACTION_VALUES: readonly number[] = [INVALID_ACTION_REWARD];
