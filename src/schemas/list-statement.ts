import { isObject } from './validate.ts';

/** What a response says itself of its list: in a body of JSON-LD or HAL, in `meta` or `pagination`, or in the header `Link`. */
export interface ListStatement {
  /** How many records the list has; undefined if the response does not say. */
  readonly total: number | undefined;
  /** Whether another page follows; undefined if the response does not say. */
  readonly hasNext: boolean | undefined;
}

/** What a bare array says. */
export const NO_STATEMENT: ListStatement = { total: undefined, hasNext: undefined };

/** Members that hold links or counts. */
const PARTS = ['view', 'hydra:view', '_links', 'links', 'meta', 'pagination', 'paging'];
const TOTAL = /^(?:hydra:)?total_?(?:items|count|records|results)$/i;
/** The same in a part, where it cannot be a field of the company. */
const TOTAL_IN_PART = /^(?:hydra:)?total(?:_?(?:items|count|records|results))?$/i;
const NEXT = /^(?:hydra:)?next(?:_?(?:page|cursor|link|url|page_url))?$/i;
const HAS_NEXT = /^has_?(?:more|next|next_?page)$/i;
/** Links that only a page of a list has: without `next` beside them, it is the last one. */
const OTHER_PAGE = /^(?:hydra:)?(?:first|last|prev|previous)(?:_?(?:page|link|url|page_url))?$/i;

/** What the body of a list says. */
export function statementOf(body: unknown): ListStatement {
  const [whole, ...parts] = partsOf(body);
  if (whole === undefined) return NO_STATEMENT;
  return together([statedIn(whole, TOTAL), ...parts.map((part) => statedIn(part, TOTAL_IN_PART))]);
}

type Part = Readonly<Record<string, unknown>>;

/** A body that is an object, and the members in it that hold links or counts. */
function partsOf(body: unknown): readonly Part[] {
  if (!isObject(body)) return [];
  const within = (part: Part) => PARTS.map((name) => part[name]).filter(isObject);
  return [body, ...within(body).flatMap((part) => [part, ...within(part)])];
}

/** The statement of a body, and that of the header `Link` beside it. */
export function withLinks(stated: ListStatement, header: string | undefined): ListStatement {
  if (header === undefined) return stated;
  const relations = linksIn(header).flatMap((link) => link.relations);
  const isPage = relations.some((name) => OTHER_PAGE.test(name));
  const hasNext = relations.includes('next') || (isPage ? false : undefined);
  return together([stated, { total: undefined, hasNext }]);
}

/** The links of a header: `</a?page=2>; rel="next", </a>; rel=first`. An address may hold anything but brackets. */
function linksIn(
  header: string,
): readonly { readonly address: string; readonly relations: readonly string[] }[] {
  return [...header.matchAll(/<([^>]*)>([^<]*)/g)].map(([, address = '', parameters = '']) => {
    const [, names = ''] = /;\s*rel\s*=\s*"?([^";,]+)/i.exec(parameters) ?? [];
    return { address, relations: names.trim().toLowerCase().split(/\s+/) };
  });
}

/** A link to the next page. */
export interface NextLink {
  readonly in: 'header' | 'body';
  /** The parameters of its address. */
  readonly query: URLSearchParams;
}

/**
 * The link to the next page in the header `Link` or in a body; undefined if there is none with parameters. A token is no link:
 * only the API documentation says how it is sent.
 */
export function nextLink(body: unknown, header: string | undefined): NextLink | undefined {
  const next = linksIn(header ?? '').find(({ relations }) => relations.includes('next'));
  const links = partsOf(body).flatMap((part) =>
    Object.entries(part).flatMap(([name, value]) => (NEXT.test(name) ? (addressOf(value) ?? []) : [])),
  );
  const query = (address: string | undefined) => {
    const base = 'https://service.invalid';
    // A token may begin as a path does.
    const isAddress = address !== undefined && /^(?:https?:\/\/|[/.])?[^?]*\?/i.test(address);
    return isAddress && URL.canParse(address, base) ? new URL(address, base).searchParams : undefined;
  };
  const [inHeader, inBody] = [query(next?.address), links.map(query).find((found) => found !== undefined)];
  if (inHeader !== undefined) return { in: 'header', query: inHeader };
  return inBody && { in: 'body', query: inBody };
}

function addressOf(link: unknown): string | undefined {
  if (isObject(link)) return addressOf(link.href ?? link['@id'] ?? link.url);
  return typeof link === 'string' ? link : undefined;
}

function statedIn(part: Part, total: RegExp): ListStatement {
  const values = (name: RegExp) =>
    Object.entries(part).flatMap(([key, value]) => (name.test(key) ? [value] : []));
  const totals = values(total)
    .map(Number)
    .filter((count) => Number.isSafeInteger(count) && count >= 0);
  const nexts = [...values(NEXT), ...values(HAS_NEXT)].map(isThere);
  const isPage = values(OTHER_PAGE).length > 0;
  const hasNext = nexts.length === 0 ? (isPage ? false : undefined) : nexts.includes(true);
  return { total: totals.length === 0 ? undefined : Math.max(...totals), hasNext };
}

/** `null`, `false`, `""`, or a link without an address: no page follows. */
function isThere(next: unknown): boolean {
  if (isObject(next)) return isThere(next.href ?? next['@id'] ?? next.url ?? null);
  return next !== null && next !== undefined && next !== false && next !== '' && next !== 'false';
}

/** Believes a response that says that there is more. */
function together(all: readonly ListStatement[]): ListStatement {
  const totals = all.flatMap(({ total }) => total ?? []);
  const nexts = all.flatMap(({ hasNext }) => hasNext ?? []);
  return {
    total: totals.length === 0 ? undefined : Math.max(...totals),
    hasNext: nexts.length === 0 ? undefined : nexts.includes(true),
  };
}
