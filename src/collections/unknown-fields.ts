import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { stderrLogger } from '../internal/logger.ts';
import { nearest } from '../internal/suggestion.ts';
import type { CollectionContext } from './context.ts';

/** Names can come from data: the set of those that were reported must stay small. */
const MOST_NAMES = 100;

/**
 * Warns once of each field that neither the API documentation nor a schema of the caller has, because it may be misspelt:
 * to the logger of the client, or to stderr. It is sent anyway: the service decides, and may know more fields.
 */
export function warnOfUnknownFields(context: CollectionContext, body: object, warned: Set<string>): void {
  const { segment } = context.definition;
  const { collectionWarning = warnOnStderr } = context.listeners;
  for (const name of unknownFields(context, body)) {
    if (warned.has(name)) continue;
    if (warned.size >= MOST_NAMES) return;
    warned.add(name);
    const advice = adviceOn(context, name);
    collectionWarning(segment, `${name} is not a documented field. It is sent anyway. ${advice}`);
  }
}

/** Throws for the first of these fields. */
export function rejectUnknownFields(context: CollectionContext, body: object, argument: string): void {
  for (const name of unknownFields(context, body)) {
    const { segment } = context.definition;
    throw new InvalidInputError(
      `${argument}.${name}`,
      `is not a documented field of ${segment}. ${adviceOn(context, name)}`,
    );
  }
}

function* unknownFields(
  { definition, namesField }: CollectionContext,
  body: object,
): Generator<string, void> {
  for (const [name, value] of Object.entries(body))
    if (value !== undefined && !Object.hasOwn(definition.fields, name) && !namesField(name)) yield name;
}

function adviceOn({ definition }: CollectionContext, name: string): string {
  const meant = nearest(name, Object.keys(definition.fields));
  return meant === undefined ? 'It may be a typo.' : `Did you mean ${meant}?`;
}

function warnOnStderr(segment: string, reason: string): void {
  stderrLogger('warn').warn(`accounting-data-sdk ${segment}: ${reason}`);
}
