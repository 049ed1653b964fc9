import { MOST_COMPARED_UNITS, numberAnchors, numberGroups, numberSimilarAnchors } from '@retrace/algorithms';
import type { EpisodeColumns } from '@retrace/trajectory';

interface NumberedAnchors {
  /** [S] The state that each step stood in, equal numbers for equal or, with a threshold, similar ones of a group; −1 for none. */
  readonly anchors: Int32Array;
  readonly warnings: readonly string[];
}

/** @param similarity threshold from which states of a group count as one; undefined: only equal ones do */
export function numberedAnchors(
  { anchors, groupIds, stepOffsets }: Pick<EpisodeColumns, 'anchors' | 'groupIds' | 'stepOffsets'>,
  similarity: number | undefined,
): NumberedAnchors {
  if (similarity === undefined) return { anchors: numberAnchors(anchors), warnings: [] };
  const groupOfStep = new Int32Array(anchors.length);
  numberGroups(groupIds).groupIds.forEach((group, e) =>
    groupOfStep.fill(group, stepOffsets[e], stepOffsets[e + 1]),
  );
  const numbered = numberSimilarAnchors({ anchors, groupOfStep, threshold: similarity });
  const { numUncomparedGroups } = numbered;
  const warnings =
    numUncomparedGroups === 0
      ? []
      : [
          `groups whose different states have more than ${MOST_COMPARED_UNITS} characters in all, too many to look for similar ` +
            `ones: ${numUncomparedGroups}; in them only equal states count as one`,
        ];
  return { anchors: numbered.anchors, warnings };
}
