import { type IdForm, idFormOf } from '../id-form.ts';
import { idsOf, type Row } from '../list-body.ts';
import { type Finding, known, unknown } from './finding.ts';
import type { Interview, ListAnswer } from './interview.ts';
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

/** What the second page and one past the end show. */
export interface PageFindings {
  readonly page: Finding<FilterVerdict>;
  readonly pageSize: Finding<number>;
  readonly repeats: Finding<number>;
  readonly afterLastPage: Finding<string>;
  /** The rows of both pages, in the order of the answers. */
  readonly rows: readonly Row[];
}

/** No collection has so many pages, most likely; a larger number would only make the service count further. */
const FAR_PAGE = 100_000;

/** Asks for the second page, and for one far past the end where that was not it already. At most two requests. */
export async function probePages(interview: Interview, first: FirstPage): Promise<PageFindings> {
  const second = await interview.list(first.segment, { _page: '2' });
  const secondIds = second.ok ? idsOf(second.rows) : [];
  const repeated = secondIds.filter((id) => first.ids.includes(id)).length;
  const same = second.ok && repeated > 0 && secondIds.join() === first.ids.join();
  if (!second.ok || secondIds.length === 0 || same) {
    return { ...withoutSecondPage(first, second, same), rows: first.rows };
  }

  const far = await interview.list(first.segment, { _page: String(FAR_PAGE) });
  const rows = second.rows.length;
  return {
    page: known('honoured', '_page=2 is another page than the first'),
    // The first page is followed by another one, so it is full.
    pageSize:
      rows > first.rows.length
        ? unknown(`the second page has ${rows} records, more than the ${first.rows.length} of the first`)
        : known(first.rows.length, 'records on the first page, which a second one follows'),
    repeats: known(repeated, `${repeated} of the ${rows} records of the second page were on the first`),
    afterLastPage: afterLastPageOf(far, `_page=${FAR_PAGE}`),
    rows: repeated === 0 ? [...first.rows, ...second.rows] : first.rows,
  };
}

function withoutSecondPage(first: FirstPage, second: ListAnswer, same: boolean): Omit<PageFindings, 'rows'> {
  const count = first.rows.length;
  if (same) {
    const because = '_page=2 is answered with the first page again';
    return {
      page: known('ignored', because),
      pageSize: unknown(because),
      repeats: unknown(because),
      afterLastPage: unknown(because),
    };
  }
  return {
    page: isRefusal(second)
      ? known('refused', `_page=2 is answered with ${second.status}`)
      : unknown('there is no second page'),
    pageSize: unknown(`at least ${count}: one page holds every record`),
    repeats: unknown('there is no second page'),
    afterLastPage: afterLastPageOf(second, '_page=2'),
  };
}

function afterLastPageOf(answer: ListAnswer, asked: string): Finding<string> {
  if (!answer.ok) return known(answer.code, `${asked} is answered with ${answer.status ?? answer.code}`);
  if (answer.rows.length > 0) return unknown(`${asked} has records too`);
  return known('empty', `${asked} is an empty list`);
}

/** 400 and 422 say that something in the request was not liked; other errors say nothing of what was asked. */
export function isRefusal(answer: ListAnswer): boolean {
  return !answer.ok && (answer.status === 400 || answer.status === 422);
}
