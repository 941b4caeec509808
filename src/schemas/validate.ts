import { causeText } from '../internal/text.ts';
import { ShapeError } from './shape-error.ts';
import { describeIssues, type StandardSchema } from './standard-schema.ts';

interface Validation {
  readonly row: unknown;
  readonly ofCaller: boolean;
}

/** The output of a schema. If validation fails, in whichever way, a ShapeError names the `row`. */
export async function validate<T>(
  schema: StandardSchema<T>,
  value: unknown,
  { row, ofCaller }: Validation,
): Promise<T> {
  const recordId = idOf(row);
  let issues: readonly string[];
  try {
    const result = await schema['~standard'].validate(value);
    if (result.issues === undefined) return result.value;

    issues = describeIssues(result.issues);
  } catch (cause) {
    throw threw('the schema', cause, { recordId, ofCaller });
  }
  throw new ShapeError('wrong_shape', issues, { recordId, ofCaller });
}

/** Reads the output of the caller's schema, whose getters may throw. If one does, a ShapeError names the `row`. */
export function readOutput<T>(row: unknown, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ShapeError) throw cause;
    throw threw('a getter in the output of the schema', cause, { recordId: idOf(row), ofCaller: true });
  }
}

function threw(
  what: string,
  cause: unknown,
  of: { readonly recordId: string | undefined; readonly ofCaller: boolean },
): ShapeError {
  const thrown = causeText(cause);
  const issue = `${what} threw${thrown === '' ? '' : ` (${thrown})`} instead of reporting an issue`;
  return new ShapeError('wrong_shape', [issue], { ...of, cause });
}

/** The id of a row, if it can be read. */
export function idOf(row: unknown): string | undefined {
  return isObject(row) && typeof row.id === 'string' && row.id !== '' ? row.id : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
