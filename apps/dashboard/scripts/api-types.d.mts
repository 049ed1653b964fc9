export const TYPES_FILE: string;
export function renderApiTypes(): Promise<string>;
