import type { MonitorsRecipe, Recipe } from '@retrace/config';
import { repeatedSteps, slowStore, staleGroups } from './data-monitors.js';
import {
  FIRST_UPDATES,
  WINDOW,
  type EpisodeFigures,
  type Finding,
  type Monitor,
  type PastUpdate,
  type UpdateFigures,
} from './monitor.js';
import {
  clippedTokens,
  entropyCollapse,
  gradientSpike,
  lengthExplosion,
  ratioDrift,
  zeroGradientGroups,
} from './policy-monitors.js';
import { missingRewards, rewardHacking, saturatedRewards } from './reward-monitors.js';

/** The monitors by the name of the rule that they watch, which warnings carry. */
export const MONITORS = {
  missingRewards,
  saturatedRewards,
  rewardHacking,
  entropyCollapse,
  zeroGradientGroups,
  clippedTokens,
  lengthExplosion,
  gradientSpike,
  ratioDrift,
  repeatedSteps,
  staleGroups,
  slowStore,
} as const satisfies Record<string, Monitor>;

export type MonitoredRule = keyof typeof MONITORS;

/** The rules of a recipe; null where it has none watched. */
export function monitorRules({
  monitors,
  engine,
}: Pick<Recipe, 'monitors' | 'engine'>): MonitorsRecipe | null {
  if (monitors === null) return null;
  // In 16 bits single tokens are off however right all is; an update whose mean is off ends the run.
  const isIn16Bits = engine?.precision === 'bfloat16' && monitors?.ratioDeviation === undefined;
  return { ...monitors, ...(isIn16Bits && { ratioDeviation: null }) };
}

/** Watches the updates of the policy of one run. A trainer that resumes begins with an empty past. */
export class RunMonitors {
  private readonly past: PastUpdate[] = [];

  /** @param rules null watches nothing */
  constructor(private readonly rules: MonitorsRecipe | null) {}

  /** The rules that this update breaks. */
  observe(
    update: UpdateFigures,
    episodes: EpisodeFigures,
  ): readonly (Finding & { readonly rule: MonitoredRule })[] {
    const { rules, past } = this;
    if (rules === null) return [];
    // Made again, since its engine was lost before the commit.
    if (past.at(-1)?.updateNumber === update.updateNumber) past.pop();
    const input = { update, episodes, before: past, rules };
    const findings = (Object.keys(MONITORS) as MonitoredRule[]).flatMap((rule) => {
      const finding = MONITORS[rule](input);
      return finding === null ? [] : [{ rule, ...finding }];
    });
    past.push({ ...update, uniformEntropy: episodes.uniformEntropy });
    if (past.length > WINDOW) past.splice(FIRST_UPDATES, 1);
    return findings;
  }
}
