import { idsOf } from '../list-body.ts';
import { explanationOf, known, unknown } from './finding.ts';
import type { FirstPage } from './first-pages.ts';
import { rejectedOrUnknown, type SortedIds, sortedIds } from './id-filters.ts';
import type { ProbeSession } from './probe-session.ts';
import type { BetweenFindings } from './report.ts';

/** Ways to write a range, the client's own first. */
export const SEPARATORS = ['..', ',', ';', '|', ':', '...', '-', ' '] as const;

/**
 * Asks about `id[between]` with each separator in turn until one is honoured. Collections of one service write it the
 * same way: a separator that was found stands alone in `separators`.
 */
export async function probeBetween(
  session: ProbeSession,
  first: FirstPage,
  separators: readonly string[],
): Promise<BetweenFindings> {
  const sorted = sortedIds(first);
  if (typeof sorted === 'string') return nothingKnown(sorted);
  if (sorted.ids.length < 2) return nothingKnown('there is only one record, which no range excludes');

  const tried: BetweenFindings[] = [];
  for (const separator of separators) {
    const findings = await askRange(session, { first, sorted, separator });
    if (findings.separator.known) return findings;
    tried.push(findings);
  }
  const verdicts = new Set(tried.map(({ verdict }) => verdict.value));
  const [common] = verdicts;
  const asked = `asked with ${separators.map((text) => `"${text}"`).join(', ')}`;
  const separator = unknown(`${asked}, none of which is honoured`);
  const inclusive = unknown('no form is honoured');
  return common === undefined || verdicts.size > 1
    ? {
        verdict: unknown(tried[0] === undefined ? asked : explanationOf(tried[0].verdict)),
        separator,
        inclusive,
      }
    : { verdict: known(common, asked), separator, inclusive };
}

interface Range {
  readonly first: FirstPage;
  readonly sorted: SortedIds;
  readonly separator: string;
}

async function askRange(
  session: ProbeSession,
  { first, sorted, separator }: Range,
): Promise<BetweenFindings> {
  const { ids, compare } = sorted;
  // Two neighbours, and at least one record of the first page outside: left out in silence, it would show.
  const at = Math.max(0, Math.floor(ids.length / 2) - 1);
  const low = ids[at] as string;
  const high = ids.length === 2 ? low : (ids[at + 1] as string);
  const name = `id[between]=${low}${separator}${high}`;
  const answer = await session.list(first.segment, { 'id[between]': `${low}${separator}${high}` });
  const undecided = {
    separator: unknown(`${name} is not honoured`),
    inclusive: unknown(`${name} is not honoured`),
  };
  if (!answer.ok) return { verdict: rejectedOrUnknown(answer, name), ...undecided };

  const seen = idsOf(answer.rows);
  const outside = seen.find((id) => compare(id, low) < 0 || compare(id, high) > 0);
  if (outside !== undefined)
    return { verdict: known('ignored', `the response to ${name} holds ${outside}`), ...undecided };
  if (seen.length === 0) return { verdict: unknown(`${name} returns nothing`), ...undecided };

  const missing = [low, high].find((id) => !seen.includes(id));
  // A full page may go on, and the bound be on a later one.
  const cut = seen.length >= first.ids.length;
  return {
    verdict: known('honoured', `the response to ${name} holds nothing outside, the first page does`),
    separator: known(separator, name),
    inclusive:
      missing === undefined
        ? known(true, `both bounds of ${name} are in its response`)
        : cut
          ? unknown(`the response to ${name} is a full page, which may not show all`)
          : known(false, `${missing} is missing from the response to ${name}`),
  };
}

function nothingKnown(reason: string): BetweenFindings {
  const nothing = unknown(reason);
  return { verdict: nothing, separator: nothing, inclusive: nothing };
}
