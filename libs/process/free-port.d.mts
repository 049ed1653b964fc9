/** @param preferred taken where it is free, such as the port that others know from before */
export function findFreePort(preferred?: number): Promise<number>;
