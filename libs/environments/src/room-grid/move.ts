/** Moves of BabyAI: turn left, turn right, forward, pick up, drop, toggle. */
export const LEFT = 0;
export const RIGHT = 1;
export const FORWARD = 2;
export const PICK_UP = 3;
export const DROP = 4;
export const TOGGLE = 5;
