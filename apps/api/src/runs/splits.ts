import type { Split } from '@retrace/trajectory';

export const SPLITS = ['train', 'validation', 'test'] as const satisfies readonly Split[];
