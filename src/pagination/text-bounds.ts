import { betweenPair } from './between-pair.ts';
import type { IdBounds } from './page.ts';

const FORMS = [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, /^[0-7][\da-hjkmnp-tv-z]{25}$/];

/**
 * Finds a row outside the caller's bounds among UUIDs or ULIDs, which services often ignore bounds on. Both compare as
 * text in lower case, but only if the service orders them as text: ids of a page in neither ascending nor descending
 * order cannot be judged. Undefined if the bounds are not all of one form, or if there are none.
 */
export function textBoundsCheck(
  bounds: IdBounds | undefined,
): ((ids: readonly string[]) => string | undefined) | undefined {
  const { gt, gte, lt, lte } = lowerCased(bounds);
  const [from, to] = betweenPair(bounds?.between)?.map((id) => id?.toLowerCase()) ?? [];
  const given = [gt, gte, lt, lte, from, to].filter((bound) => bound !== undefined);
  const form = FORMS.find((pattern) => given.every((bound) => pattern.test(bound)));
  if (given.length === 0 || form === undefined) return undefined;

  const isOutside = (id: string) =>
    (gt !== undefined && id <= gt) ||
    (gte !== undefined && id < gte) ||
    (lt !== undefined && id >= lt) ||
    (lte !== undefined && id > lte) ||
    (from !== undefined && id < from) ||
    (to !== undefined && id > to);
  return (ids) => {
    const texts = ids.map((id) => id.toLowerCase());
    const isText = texts.every((id) => form.test(id)) && isInOrder(texts);
    return isText ? ids[texts.findIndex(isOutside)] : undefined;
  };
}

function lowerCased(bounds: IdBounds = {}) {
  const { gt, gte, lt, lte } = bounds;
  return {
    gt: gt?.toLowerCase(),
    gte: gte?.toLowerCase(),
    lt: lt?.toLowerCase(),
    lte: lte?.toLowerCase(),
  };
}

/** Whether ids ascend or descend. */
function isInOrder(ids: readonly string[]): boolean {
  const steps = ids.slice(1).map((id, index) => id > (ids[index] ?? ''));
  return steps.every(Boolean) || !steps.some(Boolean);
}
