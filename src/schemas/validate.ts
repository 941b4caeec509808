import { causeText } from '../internal/text.ts';
import { ShapeError } from './shape-error.ts';
import { describeIssues, type StandardSchema } from './standard-schema.ts';

/** Whose schema it is, and the row that it belongs to. */
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
    const thrown = causeText(cause);
    throw new ShapeError(
      'wrong_shape',
      [`the schema threw${thrown === '' ? '' : ` (${thrown})`} instead of reporting an issue`],
      {
        recordId,
        ofCaller,
        cause,
      },
    );
  }
  throw new ShapeError('wrong_shape', issues, { recordId, ofCaller });
}

/** The id of a row, if it can be read. */
export function idOf(row: unknown): string | undefined {
  return isObject(row) && typeof row.id === 'string' && row.id !== '' ? row.id : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
