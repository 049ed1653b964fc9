type ErrorFields = Readonly<{
  message: string;
  type: string;
  /** Field of the request that is wrong. */
  param?: string | null;
  code: string | null;
}>;

/** The body of an answer that is an error, in the form of OpenAI's API. */
export type ErrorBody = Readonly<{ error: Required<ErrorFields> }>;

/** Writes an error in the form of OpenAI's API, which its clients understand. */
export function errorBody({ message, type, param = null, code }: ErrorFields): ErrorBody {
  return { error: { message, type, param, code } };
}
