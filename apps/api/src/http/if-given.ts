import { ValidateIf } from '@retrace/validation';

/** Checks a property of a body only where it is given. (`IsOptional` would take null, too.) */
export const IfGiven = () => ValidateIf((_, value) => value !== undefined);
