import type { CallFacts } from '../errors/accounting-error.ts';
import { nextLink } from '../schemas/list-statement.ts';
import type { Follower } from './by-cursor.ts';
import { incompleteList } from './incomplete-list.ts';

const HINT = 'Pass a cursor of your own: pagination: { first, next }.';

/**
 * Follows the link to the next page in the header `Link` or in the body. Only its query is used: the key is sent to no other
 * address.
 */
export function linkFollower<T>(facts: CallFacts): Follower<T> {
  /** The parameters of the last link; undefined before the first one. */
  let last: URLSearchParams | undefined;
  /** Whether the links may count pages or rows. */
  let counts = false;
  let hasCounted = false;
  return {
    pagination: 'link',
    first: {},
    after({ body, headers, rows, stated }) {
      const query = nextLink(body, headers.link)?.query;
      if (query !== undefined) {
        const isOther = [...query].some(
          ([name, value]) => isNumber(name, value) && last?.get(name) !== value,
        );
        // A number in the first link may be the same in each, such as the size of a page.
        hasCounted ||= last !== undefined && isOther;
        counts = hasCounted || isOther;
        last = query;
        const parameters = Object.fromEntries(query);
        return { query: { parameters }, facts: { link_open: true, counting_links: counts } };
      }
      const { hasNext, total } = stated;
      if (hasNext === true || (last === undefined && (total ?? 0) > rows.length))
        throw incompleteList({ rows, stated }, facts, { but: 'without a link to it', hint: HINT });
      const isEnd = last !== undefined || hasNext === false || total !== undefined;
      return { query: undefined, facts: { link_ended: isEnd, no_link: !isEnd, counting_links: counts } };
    },
    open: { link_open: true },
    advice: `The links of the service lead back to earlier pages. ${HINT}`,
  };
}

/** Whether a parameter may count. A bound on the id does not: no deletion moves it. */
function isNumber(name: string, value: string): boolean {
  return /^\d+$/.test(value) && !name.startsWith('id[');
}
