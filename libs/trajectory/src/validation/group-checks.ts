import type { GroupsClosed } from '../events/control-events.js';
import type { Problem } from '../fields/problem.js';
import { findVersionRangeProblem } from './between-fields.js';

/** Finds what is wrong with the offsets of the members of closed groups. */
export function findOffsetsProblem(
  offsets: Int32Array,
  numGroups: number,
  numMembers: number,
): Problem | null {
  if (offsets.length !== numGroups + 1) {
    const rule = `must be the number of groupIds + 1, ${numGroups + 1}`;
    return { field: 'payload.memberOffsets.length', value: offsets.length, rule };
  }
  if (offsets[0] === 0 && offsets[numGroups] === numMembers) return null;
  const rule = `must go from 0 to the number of episodeIds, ${numMembers}`;
  return { field: 'payload.memberOffsets', value: offsets.join(', '), rule };
}

/** Finds the first closed group whose size, members or policy versions contradict each other. */
export function findGroupProblem(payload: GroupsClosed): Problem | null {
  const { memberOffsets, groupSizes, reason, policyVersionMin, policyVersionMax } = payload;
  for (const [g, size] of groupSizes.entries()) {
    const numMembers = memberOffsets[g + 1] - memberOffsets[g];
    const members = `payload.memberOffsets[${g + 1}] − memberOffsets[${g}]`;
    if (size < 1) return { field: `payload.groupSizes[${g}]`, value: size, rule: 'must be ≥ 1' };
    if (numMembers < 0 || numMembers > size)
      return { field: members, value: numMembers, rule: `must be from 0 to groupSizes[${g}], ${size}` };
    if (reason === 'complete' && numMembers !== size) {
      const rule = `must be groupSizes[${g}], ${size}, because the group is complete`;
      return { field: members, value: numMembers, rule };
    }
    const range = { policyVersionMin: policyVersionMin[g], policyVersionMax: policyVersionMax[g] };
    const problem = findVersionRangeProblem(range, `payload[${g}]`);
    if (problem !== null) return problem;
  }
  return null;
}
