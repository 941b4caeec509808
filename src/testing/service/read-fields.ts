import type { CollectionName } from '../../collections/index.ts';
import { collections } from '../../collections/index.ts';
import { checks, type FieldKind, type FieldKindFacts, fieldKinds } from '../../schemas/field-kinds.ts';
import type { Fields } from '../fixtures.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { ProblemError, type Violation } from './problem.ts';

/** As Symfony says it, which names the type. */
function typeMessage(kind: FieldKind): string {
  const { json, pattern, expected, example }: FieldKindFacts = fieldKinds[kind];
  if (pattern === undefined) return `This value should be of type ${json}.`;
  return `This value should be ${expected} such as ${JSON.stringify(example)}.`;
}

/** The UUIDs of Symfony's constraints, which API Platform sends in errors. */
const NOT_BLANK = 'c1051bb4-d103-4f74-8988-acbcafc7fdc3';
const TYPE = 'ba785a8c-82cb-4283-967c-3cf342181b40';
const CHOICE = '8e179f1b-97aa-4560-a02f-2a8b42e49df7';
/** That of Symfony's UniqueEntity. */
export const NOT_UNIQUE = '23bd9dbf-6b9b-41cd-a99e-4844bcf3077f';
const EXTRA_FIELD = '7703c766-b5d5-4cef-ace7-ae0dd82304e9';

const isBlank = (value: unknown) => value === undefined || value === null || value === '';

/** What is wrong with a field of a body; undefined if it is valid. */
function violationOf(
  collection: CollectionName,
  field: string,
  value: unknown,
  options: ResolvedSandboxOptions,
): Violation | undefined {
  const violated = (message: string, code: string) => ({ propertyPath: field, message, code });
  const { fields, serverFilled } = collections[collection];
  if (serverFilled.includes(field)) return violated('The service fills this field.', EXTRA_FIELD);
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === undefined) {
    return options.unknownFields === 'reject'
      ? violated('This field was not expected.', EXTRA_FIELD)
      : undefined;
  }
  if (value === null) return undefined;
  if (!checks[kind](value)) return violated(typeMessage(kind), TYPE);

  const statuses = field === 'status' ? options.allowedStatuses : undefined;
  const allowed = statuses === undefined || statuses.some((status) => status === value);
  return allowed ? undefined : violated(`The value should be one of ${statuses?.join(', ')}.`, CHOICE);
}

/**
 * The documented fields of a body, or 422 with a violation for each invalid field. `before` is the record that an
 * update changes: the body may leave out a required field, but not clear it.
 */
export function readFields(
  collection: CollectionName,
  body: Fields,
  options: ResolvedSandboxOptions,
  before: Fields = {},
): Fields {
  const violations: Violation[] = [];
  for (const [field, value] of Object.entries(body)) {
    const violation = violationOf(collection, field, value, options);
    if (violation !== undefined) violations.push(violation);
  }
  for (const field of options.requiredFields) {
    const value = Object.hasOwn(body, field) ? body[field] : before[field];
    if (isBlank(value)) {
      violations.push({ propertyPath: field, message: 'This value should not be blank.', code: NOT_BLANK });
    }
  }
  if (violations.length > 0) rejectViolations(violations);

  const known = collections[collection].fields;
  const keepsAll = options.unknownFields === 'store';
  const kept = Object.entries(body).filter(([field]) => keepsAll || Object.hasOwn(known, field));
  return Object.fromEntries(kept);
}

/** Rejects a body with 422. */
export function rejectViolations(violations: readonly Violation[]): never {
  const detail = violations.map(({ propertyPath, message }) => `${propertyPath}: ${message}`).join('\n');
  throw new ProblemError('validation_failed', detail, { violations });
}
