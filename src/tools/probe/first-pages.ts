import { type IdForm, idFormOf } from '../id-form.ts';
import { idsOf, type Row } from '../list-body.ts';
import { type Finding, known, unknown } from './finding.ts';
import type { ListAnswer, ProbeSession } from './probe-session.ts';
import type { FilterVerdict } from './report.ts';

/** The first page of a collection: what later questions are held against. */
export interface FirstPage {
  readonly segment: string;
  readonly rows: readonly Row[];
  readonly ids: readonly string[];
  readonly idForm: IdForm | undefined;
}

export function firstPage(segment: string, rows: readonly Row[]): FirstPage {
  const ids = idsOf(rows);
  return { segment, rows, ids, idForm: idFormOf(ids) };
}

/** What the next pages and one past the end show. */
export interface PageFindings {
  readonly page: Finding<FilterVerdict>;
  readonly pageSize: Finding<number>;
  readonly shortPages: Finding<boolean>;
  readonly repeats: Finding<number>;
  readonly afterLastPage: Finding<string>;
  /** The rows of all these pages, in the order of the responses. */
  readonly rows: readonly Row[];
}

/** No collection has so many pages, most likely; a larger number would only make the service count further. */
const FAR_PAGE = 100_000;

/** Pages that are compared in their length. */
const COMPARED_PAGES = 4;

/** Requests the next three pages, and one far past the end if the collection did not end before. At most four requests. */
export async function probePages(session: ProbeSession, first: FirstPage): Promise<PageFindings> {
  const second = await session.list(first.segment, { _page: '2' });
  const secondIds = second.ok ? idsOf(second.rows) : [];
  const repeated = secondIds.filter((id) => first.ids.includes(id)).length;
  const same = second.ok && repeated > 0 && secondIds.join() === first.ids.join();
  if (!second.ok || secondIds.length === 0 || same) {
    return { ...withoutSecondPage(first, second, same), rows: first.rows };
  }

  const pages = [first.rows, second.rows];
  let end: readonly [ListAnswer, string] | undefined;
  while (pages.length < COMPARED_PAGES && end === undefined) {
    const page = String(pages.length + 1);
    const answer = await session.list(first.segment, { _page: page });
    if (answer.ok && answer.rows.length > 0) pages.push(answer.rows);
    else end = [answer, `_page=${page}`];
  }
  end ??= [await session.list(first.segment, { _page: String(FAR_PAGE) }), `_page=${FAR_PAGE}`];
  return {
    page: known('honoured', '_page=2 is another page than the first'),
    ...lengthsOf(pages.map(({ length }) => length)),
    repeats: known(
      repeated,
      `${repeated} of the ${second.rows.length} records of the second page were on the first`,
    ),
    afterLastPage: afterLastPageOf(...end),
    rows: repeated === 0 ? pages.flat() : first.rows,
  };
}

/** What the lengths of consecutive pages show: all but the last are followed by another one, so they should be full. */
function lengthsOf(lengths: readonly number[]): Pick<PageFindings, 'pageSize' | 'shortPages'> {
  const longest = Math.max(...lengths);
  const seen = `pages 1 to ${lengths.length} have ${lengths.join(', ')} records`;
  if (lengths.slice(0, -1).every((length) => length === longest)) {
    return {
      pageSize: known(longest, 'records on the first page, which a second one follows'),
      shortPages: known(false, seen),
    };
  }
  return {
    pageSize: unknown(`at least ${longest}: ${seen}`),
    shortPages: known(true, `${seen}: rows were removed after the page was cut`),
  };
}

function withoutSecondPage(first: FirstPage, second: ListAnswer, same: boolean): Omit<PageFindings, 'rows'> {
  const count = first.rows.length;
  if (same) {
    const seen = '_page=2 returns the first page again';
    return {
      page: known('ignored', seen),
      pageSize: unknown(seen),
      shortPages: unknown(seen),
      repeats: unknown(seen),
      afterLastPage: unknown(seen),
    };
  }
  return {
    page: isRejection(second)
      ? known('rejected', `_page=2 returns ${second.status}`)
      : unknown('there is no second page'),
    pageSize: unknown(`at least ${count}: one page holds every record`),
    shortPages: unknown('there is no second page'),
    repeats: unknown('there is no second page'),
    afterLastPage: afterLastPageOf(second, '_page=2'),
  };
}

function afterLastPageOf(answer: ListAnswer, asked: string): Finding<string> {
  if (!answer.ok) return known(answer.code, `${asked} returns ${answer.status ?? answer.code}`);
  if (answer.rows.length > 0) return unknown(`${asked} has records too`);
  return known('empty', `${asked} is an empty list`);
}

/** 400 and 422 say that something in the request was not liked; other errors say nothing of what was asked. */
export function isRejection(answer: ListAnswer): boolean {
  return !answer.ok && (answer.status === 400 || answer.status === 422);
}
