import type { ListStatement, NextLink } from '../../schemas/list-statement.ts';
import type { ListBody } from '../../schemas/service-forms.ts';
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
  readonly listBody: ListBody;
  /** What the response says itself of the rest of the list. */
  readonly stated: ListStatement;
  readonly next: NextLink | undefined;
}

/** What further pages show. */
interface PageFindings
  extends Pick<
    CollectionDetails,
    | 'page'
    | 'pageParameter'
    | 'nextLink'
    | 'alsoJsonLd'
    | 'pageSize'
    | 'shortPages'
    | 'repeats'
    | 'afterLastPage'
  > {
  /** The rows of all these pages, in the order of the responses. */
  readonly rows: readonly Row[];
}

/** Most likely after the last page. A larger number would only make the service count further. */
const FAR_PAGE = 100_000;

/** Pages whose lengths are compared. */
const COMPARED_PAGES = 4;

/** Names of the parameter with the page number, the documented one first. */
const USUAL_NAMES = ['_page', 'page'];

/**
 * Pages 2 and 1 by the usual names, that of the client, that of another collection and that of a link; by the link itself; by
 * a name that JSON-LD shows, which takes three; pages 3 and 4, and one after the last.
 */
export const PAGES_REQUESTS = 2 * (USUAL_NAMES.length + 3) + 1 + 3 + COMPARED_PAGES - 1;

/** How a list is continued. */
interface Way {
  /** The parameter with the page number; undefined for the links of the responses. */
  readonly parameter: string | undefined;
  readonly second: ListResponse;
  /** What shows it. */
  readonly evidence: string;
}

/** Finds out how a list is continued. `likely` are names of the page parameter to try first. */
export async function probePages(
  session: ProbeSession,
  first: FirstPage,
  likely: readonly string[],
): Promise<PageFindings> {
  if (first.rows.length === 0) return withoutRecords(session, first, likely[0] ?? session.pageParameter);
  const search = new PageSearch(session, first);
  const way = await search.find([...new Set([...likely, ...USUAL_NAMES])]);
  const found = way === undefined ? search.failure() : await continued(session, first, way);
  return { ...found, alsoJsonLd: search.alsoJsonLd };
}

/** Looks for the second page. */
class PageSearch {
  readonly #session: ProbeSession;
  readonly #first: FirstPage;
  /** Requests for page 2 that returned page 1. */
  readonly #ignored: string[] = [];
  readonly #rejected: string[] = [];
  #failed: string | undefined;
  alsoJsonLd: Finding<boolean> = unknown('a page parameter was found without it');

  constructor(session: ProbeSession, first: FirstPage) {
    this.#session = session;
    this.#first = first;
  }

  async find(names: readonly string[]): Promise<Way | undefined> {
    const { segment, next } = this.#first;
    const named = next && this.#parameterIn(next);
    const tried = new Set([...(named === undefined ? [] : [named]), ...names]);
    for (const name of tried) {
      const way = await this.#byNumber(name, name === named ? ', as a link says,' : '');
      if (way !== undefined || this.#failed !== undefined) return way;
    }
    if (next !== undefined) {
      const second = await this.#session.list(segment, Object.fromEntries(next.query));
      const isOther = second.ok && second.rows.length > 0 && !this.#isFirst(second);
      if (isOther)
        return { parameter: undefined, second, evidence: `the link in the ${next.in} leads to another page` };
    }
    // A service that responds with plain JSON too may name the parameter in JSON-LD alone.
    if (this.#first.listBody !== 'array') return undefined;
    const document = await this.#session.list(segment, {}, { accept: 'application/ld+json' });
    const isDocument = document.ok && document.form !== 'array';
    this.alsoJsonLd = known(
      isDocument,
      `Accept: application/ld+json gives a list ${isDocument ? '' : 'not '}in JSON-LD`,
    );
    const name = document.ok && document.next !== undefined ? this.#parameterIn(document.next) : undefined;
    return name === undefined || tried.has(name) ? undefined : this.#byNumber(name, ', as JSON-LD says,');
  }

  /** What is known without a second page. */
  failure(): Omit<PageFindings, 'alsoJsonLd'> {
    const { rows } = this.#first;
    const same = `${this.#ignored.join(' and ')} return the first page again`;
    const reason =
      this.#failed ?? [...this.#rejected, ...(this.#ignored.length > 0 ? [same] : [])].join(', and ');
    const verdict = this.#ignored.length > 0 ? 'ignored' : 'rejected';
    return {
      page: this.#failed === undefined ? known(verdict, reason) : unknown(reason),
      ...allUnknown(reason, [
        'pageParameter',
        'nextLink',
        'pageSize',
        'shortPages',
        'repeats',
        'afterLastPage',
      ]),
      rows,
    };
  }

  async #byNumber(name: string, asSaid: string): Promise<Way | undefined> {
    const second = await this.#session.list(this.#first.segment, { [name]: '2' });
    const request = `${name}=2`;
    if (this.#isFirst(second)) this.#ignored.push(request);
    else if (isRejection(second)) this.#rejected.push(`${request} returns ${second.status}`);
    else if (!second.ok && !isMissing(second)) this.#failed = `${request} failed: ${second.code}`;
    else if (await this.#countsFromOne(name))
      return { parameter: name, second, evidence: `${request}${asSaid} is another page than the first` };
    else this.#rejected.push(`${name}=1 is not the first page`);
    return undefined;
  }

  /** A service that counts from 0, or by rows, would hide its first page from a client that begins with 1. */
  async #countsFromOne(name: string): Promise<boolean> {
    const response = await this.#session.list(this.#first.segment, { [name]: '1' });
    const { ids } = this.#first;
    const again = response.ok ? idsOf(response.rows).filter((id) => ids.includes(id)) : [];
    // Records may be added meanwhile.
    return again.length * 2 > ids.length;
  }

  /** In any order: ties have another one in each response. */
  #isFirst(page: ListResponse): boolean {
    return page.ok && idsOf(page.rows).toSorted().join() === this.#first.ids.toSorted().join();
  }

  /** The parameter that has the number of the second page. Another value is a cursor, or counts in another way. */
  #parameterIn({ query }: NextLink): string | undefined {
    const own = this.#session.parameters;
    return [...query].find(([name, value]) => value === '2' && own[name] !== value)?.[0];
  }
}

/** Requests further pages, and one after the last. */
async function continued(
  session: ProbeSession,
  { segment, rows, next, ids }: FirstPage,
  { parameter, second, evidence }: Way,
): Promise<Omit<PageFindings, 'alsoJsonLd'>> {
  const isNumbered = parameter !== undefined;
  const pages = [rows];
  let last = second;
  while (last.ok && last.rows.length > 0 && pages.push(last.rows) < COMPARED_PAGES) {
    const query = isNumbered
      ? { [parameter]: String(pages.length + 1) }
      : last.next && Object.fromEntries(last.next.query);
    if (query === undefined) break;
    last = await session.list(segment, query);
  }
  const wasEnd = !last.ok || last.rows.length === 0;
  const far = isNumbered && !wasEnd ? await session.list(segment, { [parameter]: String(FAR_PAGE) }) : last;
  const end = `${parameter ?? 'the last link'}${isNumbered ? `=${wasEnd ? pages.length + 1 : FAR_PAGE}` : ''}`;
  const more = pages.length === 1 ? onePage(rows.length) : lengthsOf(pages.map(({ length }) => length));
  const isRepeated = idsOf(pages[1] ?? []).some((id) => ids.includes(id));
  return {
    page: known(isNumbered ? 'honoured' : 'ignored', evidence),
    pageParameter: isNumbered ? known(parameter, evidence) : unknown('page numbers are ignored'),
    nextLink:
      next === undefined ? unknown('the first page has no link to the next one') : known(next.in, evidence),
    ...more,
    repeats: pages.length === 1 ? unknown('there is no second page') : repeatsOf(pages),
    afterLastPage: isNumbered ? afterLastPageOf(far, end) : unknown('pages have no numbers'),
    rows: isRepeated ? rows : pages.flat(),
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

function onePage(length: number): Pick<PageFindings, 'pageSize' | 'shortPages'> {
  return {
    pageSize: unknown(`at least ${length}: one page holds every record`),
    shortPages: unknown('there is no second page'),
  };
}

async function withoutRecords(
  session: ProbeSession,
  { segment, rows }: FirstPage,
  parameter: string,
): Promise<PageFindings> {
  const second = await session.list(segment, { [parameter]: '2' });
  return {
    ...allUnknown('there is no record', [
      'page',
      'pageParameter',
      'nextLink',
      'alsoJsonLd',
      'pageSize',
      'shortPages',
      'repeats',
    ]),
    afterLastPage: afterLastPageOf(second, `${parameter}=2`),
    rows,
  };
}

/** A 404 to a page after the last one. */
const isMissing = (response: ListResponse) => !response.ok && response.code === 'not_found';

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
