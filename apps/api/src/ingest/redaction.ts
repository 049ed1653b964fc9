import { readRedactionRules, RecordingError, redact, type RedactionRules } from '@retrace/recording';
import { ApiError } from '../api-error.js';
import type { ApiConfig } from '../config/api-config.js';

/** Hides what the operator's rules name, and counts it. */
export class Redaction {
  /** Texts that each rule has hidden since the start. */
  readonly counts = new Map<string, number>();

  private constructor(private readonly rules: RedactionRules | null) {}

  /** @throws ApiError `REDACTION_RULES_INVALID` */
  static async load({ redactionRules: file }: Pick<ApiConfig, 'redactionRules'>): Promise<Redaction> {
    if (file === null) return new Redaction(null);
    try {
      return new Redaction(await readRedactionRules(file));
    } catch (cause) {
      if (!(cause instanceof RecordingError)) throw cause;
      throw new ApiError('REDACTION_RULES_INVALID', cause.message, { cause });
    }
  }

  apply<T extends object>(value: T): T {
    if (this.rules === null) return value;
    return redact(value, this.rules, (rule) => {
      this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
    });
  }
}
