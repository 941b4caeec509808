import type { CollectionName } from '../../collections/index.ts';
import { collections } from '../../collections/index.ts';
import { type FieldKind, fits } from '../../schemas/record.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Fields } from '../store/shape.ts';
import { Refusal, type Violation } from './problem.ts';

const EXPECTED: Readonly<Record<FieldKind, string>> = {
  string: 'This value should be of type string.',
  money: 'This value should be a decimal string such as "129.0000".',
  boolean: 'This value should be of type boolean.',
  integer: 'This value should be of type integer.',
  number: 'This value should be of type number.',
  array: 'This value should be of type array.',
};

const isBlank = (value: unknown) => value === undefined || value === null || value === '';

/** What is wrong with a single field of a body; undefined for nothing. */
function problemOf(
  collection: CollectionName,
  field: string,
  value: unknown,
  options: ResolvedSandboxOptions,
) {
  const { fields, serverFilled } = collections[collection];
  if (serverFilled.includes(field)) return 'This field is filled by the service.';
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === undefined)
    return options.unknownFields === 'reject' ? 'This field was not expected.' : undefined;
  if (value === null) return undefined;
  if (!fits(kind, value)) return EXPECTED[kind];

  const statuses = field === 'status' ? options.allowedStatuses : undefined;
  const allowed = statuses === undefined || statuses.some((status) => status === value);
  return allowed ? undefined : `The value should be one of ${statuses?.join(', ')}.`;
}

/**
 * The documented fields of a body, or 422 with a violation for each field that does not fit. `before` is the record
 * that an update changes: a required field may be left out of the body, but not cleared.
 */
export function readFields(
  collection: CollectionName,
  body: Fields,
  options: ResolvedSandboxOptions,
  before: Fields = {},
): Fields {
  const violations: Violation[] = [];
  for (const [field, value] of Object.entries(body)) {
    const message = problemOf(collection, field, value, options);
    if (message !== undefined) violations.push({ propertyPath: field, message });
  }
  for (const field of options.requiredFields) {
    const value = Object.hasOwn(body, field) ? body[field] : before[field];
    if (isBlank(value)) violations.push({ propertyPath: field, message: 'This value should not be blank.' });
  }
  if (violations.length > 0) {
    const detail = violations.map(({ propertyPath, message }) => `${propertyPath}: ${message}`).join('\n');
    throw new Refusal('validation_failed', detail, { violations });
  }

  const known = collections[collection].fields;
  return Object.fromEntries(Object.entries(body).filter(([field]) => Object.hasOwn(known, field)));
}
