import { nearest } from '../internal/suggestion.ts';
import type { CollectionContext } from './context.ts';

/** Names can come from data: the set of those that were reported must stay small. */
const MOST_NAMES = 100;

/**
 * Warns once of each field that the API documentation does not have, because it may be misspelt. It is sent anyway: the
 * service decides, and may know more fields.
 */
export function warnOfUnknownFields(
  { definition, hasSchema, listeners, warnedFields }: CollectionContext,
  body: object,
): void {
  if (hasSchema || listeners.collectionWarning === undefined) return;
  const { fields, segment } = definition;
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || Object.hasOwn(fields, name) || warnedFields.has(name)) continue;
    if (warnedFields.size >= MOST_NAMES) return;
    warnedFields.add(name);
    const meant = nearest(name, Object.keys(fields));
    const advice = meant === undefined ? 'It may be a typo.' : `Did you mean ${meant}?`;
    listeners.collectionWarning(
      segment,
      `${segment} has no documented field ${name}. It is sent anyway. ${advice}`,
    );
  }
}
