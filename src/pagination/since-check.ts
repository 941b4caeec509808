import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { isObject } from '../schemas/validate.ts';
import type { Page, Pages } from './page.ts';

/** The largest difference of two local times, so that no time zone explains an older row. */
const ZONES_MS = 26 * 3_600_000;

interface SinceCheck {
  readonly updatedSince: string;
  readonly facts: CallFacts;
  /** Whether a read in which every row is older continues, as a sync does: what it copies is correct anyway. */
  readonly continues: boolean;
  readonly warn: (text: string) => void;
}

/**
 * Notices a service that ignores `updatedSince`, by the `updatedAt` that rows show. If every row of the first two pages, or
 * of a shorter read, is more than 26 hours older, the read fails before it delivers any of them. Some older rows are one
 * warning: the service may filter by another timestamp.
 */
export async function* checkedSince<T>(pages: Pages<T>, check: SinceCheck): Pages<T> {
  const earliest = Date.parse(check.updatedSince) - ZONES_MS;
  /** Pages of nothing but older rows, until another row or a second page decides. */
  const held: Page<T>[] = [];
  let isDecided = check.continues;
  let hasWarned = false;
  for await (const page of pages) {
    const older = page.rows.filter((row) => isOlder(row, earliest)).length;
    if (!isDecided && older > 0 && older === page.rows.length) {
      if (held.push(page) < 2) continue;
      throw ignored(check.facts);
    }
    isDecided ||= page.rows.length > 0;
    if (!hasWarned && (older > 0 || held.length > 0)) check.warn(SOME_OLDER);
    hasWarned ||= older > 0 || held.length > 0;
    yield* held.splice(0);
    yield page;
  }
  if (held.length > 0) throw ignored(check.facts);
}

function isOlder(row: unknown, earliest: number): boolean {
  if (!isObject(row) || typeof row.updatedAt !== 'string') return false;
  return Date.parse(row.updatedAt) < earliest;
}

const SOME_OLDER =
  'lists contain records that are more than a day older than updatedSince: the service ignores it, or filters by another timestamp than updatedAt.';

function ignored(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned only records that are more than a day older than updatedSince: the service ignored it.`,
    {
      ...facts,
      hint: 'Read without updatedSince and compare updatedAt, or use sync, whose copy is right anyway.',
    },
  );
}
