import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { exactJson, hasHiddenContent } from '../internal/json-text.ts';
import { isPromise } from '../internal/realm.ts';
import { checks, problemOf } from '../schemas/field-kinds.ts';
import { describeIssues, type StandardSchema } from '../schemas/standard-schema.ts';
import type { OwnFieldSchemas } from '../schemas/zod-fields.ts';
import type { CollectionDefinition } from './define.ts';

interface WriteRules extends Pick<CollectionDefinition, 'fields' | 'serverFilled'> {
  readonly schemas?: OwnFieldSchemas | undefined;
  /** Whether `null` clears a field: in a patch, and in a row of a push, which can be an update. */
  readonly clears?: boolean;
}

/**
 * The JSON text of a body, made once, so that every attempt sends the same bytes. `undefined` means left out; `null`
 * is sent. Fields that this version does not know go out as they are: the service adds fields without notice.
 *
 * @throws InvalidInputError for a field that the service fills, a value of the wrong kind, and a value that JSON cannot represent.
 */
export function writeBody(definition: WriteRules, body: unknown, argument: string): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || hasHiddenContent(body)) {
    throw new InvalidInputError(argument, 'must be an object of fields; await it if it is a promise');
  }
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined) checkField(definition, `${argument}.${name}`, { name, value });
  }
  // A copy, because a `toJSON` on its prototype would send other fields than those that were checked.
  return jsonOf({ ...body }, argument);
}

/** The JSON text of a value of the caller. An error names the member of an object that JSON cannot represent. */
export function jsonOf(value: unknown, argument: string): string {
  try {
    return exactJson(value);
  } catch {
    throw new InvalidInputError(
      `${argument}${memberAt(value)}`,
      'is or contains a value that JSON cannot represent, such as NaN, a function, a BigInt or a cycle',
    );
  }
}

/** The name of the member without JSON, after a point; empty if it is not known. */
function memberAt(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  for (const [name, member] of Object.entries(value)) {
    try {
      if (member !== undefined) exactJson(member);
    } catch {
      return `.${name}`;
    }
  }
  return '';
}

function checkField(
  { fields, serverFilled, schemas, clears = false }: WriteRules,
  argument: string,
  { name, value }: { name: string; value: unknown },
): void {
  if (serverFilled.includes(name)) throw new InvalidInputError(argument, 'is filled by the service');
  if (value === null && (clears || schemas === undefined)) return;

  const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (kind !== undefined && value !== null && !checks[kind](value)) {
    throw new InvalidInputError(argument, problemOf(kind, value));
  }
  // Among them a toJSON, which would decide what is sent.
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new InvalidInputError(argument, 'must be a JSON value');
  }
  if (schemas !== undefined && Object.hasOwn(schemas, name)) checkBySchema(schemas[name], argument, value);
}

/** A body that the caller's own schema rejects would fail each later read of the record. */
function checkBySchema(schema: StandardSchema<unknown> | undefined, argument: string, value: unknown): void {
  const result = schema?.['~standard'].validate(value);
  if (isPromise(result)) {
    // An asynchronous check is left to the service and to the next read.
    result.then(undefined, () => {});
    return;
  }
  if (result?.issues === undefined) return;
  throw new InvalidInputError(
    argument,
    `does not match the schema: ${describeIssues(result.issues).join('; ')}`,
  );
}
