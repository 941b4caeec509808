import type { IdForm } from '../ids.ts';
import { idsOf, type Row } from '../rows.ts';
import { allUnknown, known, unknown } from './finding.ts';
import type { CollectionDetails, Finding } from './report.ts';
import { isRejection, type ListResponse, type ProbeSession } from './session.ts';

/** The first page of a collection, with which later responses are compared. */
export interface FirstPage {
  readonly segment: string;
  readonly rows: readonly Row[];
  readonly ids: readonly string[];
  readonly idForm: IdForm | undefined;
}

/** What further pages show. */
interface PageFindings
  extends Pick<
    CollectionDetails,
    'page' | 'pageParameter' | 'pageSize' | 'shortPages' | 'repeats' | 'afterLastPage'
  > {
  /** The rows of all these pages, in the order of the responses. */
  readonly rows: readonly Row[];
}

/** Most likely after the last page. A larger number would only make the service count further. */
const FAR_PAGE = 100_000;

/** Pages whose lengths are compared. */
const COMPARED_PAGES = 4;

/** Page 2, if `_page` is ignored once more as `page`; pages 3 and 4, and one after the last. */
export const PAGES_REQUESTS = COMPARED_PAGES + 1;

export async function probePages(session: ProbeSession, first: FirstPage): Promise<PageFindings> {
  const isFirst = (page: ListResponse) =>
    page.ok && page.rows.length > 0 && idsOf(page.rows).join() === first.ids.join();
  const isAnother = (page: ListResponse) => page.ok && page.rows.length > 0 && !isFirst(page);
  let parameter: '_page' | 'page' = '_page';
  let second = await session.list(first.segment, { [parameter]: '2' });
  if (isFirst(second)) {
    parameter = 'page';
    second = await session.list(first.segment, { [parameter]: '2' });
    if (!isAnother(second)) return pageIsIgnored(first);
  }
  const secondIds = second.ok ? idsOf(second.rows) : [];
  const repeated = secondIds.filter((id) => first.ids.includes(id)).length;
  if (!second.ok || secondIds.length === 0) return onlyOnePage(first, second);

  const pages = [first.rows, second.rows];
  let end: readonly [ListResponse, string] | undefined;
  while (pages.length < COMPARED_PAGES && end === undefined) {
    const page = String(pages.length + 1);
    const response = await session.list(first.segment, { [parameter]: page });
    if (response.ok && response.rows.length > 0) pages.push(response.rows);
    else end = [response, `${parameter}=${page}`];
  }
  end ??= [await session.list(first.segment, { [parameter]: String(FAR_PAGE) }), `${parameter}=${FAR_PAGE}`];
  return {
    page: known('honoured', `${parameter}=2 is another page than the first`),
    pageParameter: known(parameter, `${parameter}=2 is another page than the first`),
    ...lengthsOf(pages.map(({ length }) => length)),
    repeats: repeatsOf(pages),
    afterLastPage: afterLastPageOf(...end),
    rows: repeated === 0 ? pages.flat() : first.rows,
  };
}

/** Nothing was written between the requests, as far as is known: then a record on two pages is a tie in the order. */
function repeatsOf(pages: readonly (readonly Row[])[]): Finding<number> {
  const ids = pages.flatMap((rows) => [...new Set(idsOf(rows))]);
  const repeats = ids.length - new Set(ids).size;
  return known(repeats, `${repeats} of the records of pages 2 to ${pages.length} were on an earlier page`);
}

/** Every page but the last is followed by another one, so it should be full. */
function lengthsOf(lengths: readonly number[]): Pick<PageFindings, 'pageSize' | 'shortPages'> {
  const longest = Math.max(...lengths);
  const seen = `pages 1 to ${lengths.length} have ${lengths.join(', ')} records`;
  return lengths.slice(0, -1).every((length) => length === longest)
    ? {
        pageSize: known(longest, 'records on the first page, which a second one follows'),
        shortPages: known(false, seen),
      }
    : {
        pageSize: unknown(`at least ${longest}: ${seen}`),
        shortPages: known(true, `${seen}: the service removed records from a page`),
      };
}

function pageIsIgnored({ rows }: FirstPage): PageFindings {
  const seen = '_page=2 and page=2 return the first page again';
  const others = allUnknown(seen, ['pageParameter', 'pageSize', 'shortPages', 'repeats', 'afterLastPage']);
  return { page: known('ignored', seen), ...others, rows };
}

function onlyOnePage({ rows }: FirstPage, second: ListResponse): PageFindings {
  const { page, ...others } = allUnknown('there is no second page', [
    'page',
    'pageParameter',
    'shortPages',
    'repeats',
  ]);
  return {
    page: isRejection(second) ? known('rejected', `_page=2 returns ${second.status}`) : page,
    pageSize: unknown(`at least ${rows.length}: one page holds every record`),
    ...others,
    afterLastPage: afterLastPageOf(second, '_page=2'),
    rows,
  };
}

function afterLastPageOf(response: ListResponse, request: string): Finding<string> {
  if (!response.ok) {
    return response.status === undefined
      ? unknown(`${request} failed: ${response.code}`)
      : known(response.code, `${request} returns ${response.status}`);
  }
  return response.rows.length > 0
    ? unknown(`${request} has records too`)
    : known('empty', `${request} is an empty list`);
}
