import { atif } from './atif.js';
import { conversations } from './conversations.js';
import type { DatasetFormat } from './dataset-format.js';
import { dpo, rewardPairs } from './preference-pairs.js';
import { prompts } from './prompts.js';
import { sft } from './sft.js';

/** All formats, by the name that users give. */
export const DATASET_FORMATS = {
  sft,
  dpo,
  'reward-pairs': rewardPairs,
  prompts,
  conversations,
  atif,
} as const satisfies Readonly<Record<string, DatasetFormat>>;

export type DatasetFormatName = keyof typeof DATASET_FORMATS;
