import { ShapeError } from './shape-error.ts';
import { describeIssues, type StandardSchema } from './standard-schema.ts';

/** What a schema makes of a value. A schema that fails, in whichever way, is a ShapeError that names the `row`. */
export async function validate<T>(schema: StandardSchema<T>, value: unknown, row: unknown): Promise<T> {
  let issues: readonly string[];
  try {
    const result = await schema['~standard'].validate(value);
    if (result.issues === undefined) return result.value;

    issues = describeIssues(result.issues);
  } catch {
    // What it threw may quote the record.
    issues = ['the schema threw instead of reporting an issue'];
  }
  throw new ShapeError('wrong_shape', issues, idOf(row));
}

/** The id of a row, where it can be read. */
export function idOf(row: unknown): string | undefined {
  return isObject(row) && typeof row.id === 'string' && row.id !== '' ? row.id : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
