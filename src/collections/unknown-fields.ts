import { stderrLogger } from '../internal/logger.ts';
import { nearest } from '../internal/suggestion.ts';
import type { CollectionContext } from './context.ts';

/** Names can come from data: the set of those that were reported must stay small. */
const MOST_NAMES = 100;

/**
 * Warns once of each field that neither the API documentation nor a schema of the caller has, because it may be misspelt:
 * to the logger of the client, or to stderr. It is sent anyway: the service decides, and may know more fields.
 */
export function warnOfUnknownFields(
  { definition, namesField, listeners }: CollectionContext,
  body: object,
  warned: Set<string>,
): void {
  const { fields, segment } = definition;
  const { collectionWarning = warnOnStderr } = listeners;
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || Object.hasOwn(fields, name) || namesField(name) || warned.has(name)) continue;
    if (warned.size >= MOST_NAMES) return;
    warned.add(name);
    const meant = nearest(name, Object.keys(fields));
    const advice = meant === undefined ? 'It may be a typo.' : `Did you mean ${meant}?`;
    collectionWarning(segment, `${segment} has no documented field ${name}. It is sent anyway. ${advice}`);
  }
}

function warnOnStderr(segment: string, reason: string): void {
  stderrLogger('warn').warn(`accounting-data-sdk ${segment}: ${reason}`);
}
