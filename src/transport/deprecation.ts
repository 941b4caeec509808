import type { DeprecatedEvent } from '../events.ts';
import { parseHttpDate } from './retry-after.ts';

/** What a response announces about the end of its endpoint. */
type Deprecation = Pick<DeprecatedEvent, 'deprecatedAt' | 'sunsetAt' | 'link'>;

/**
 * Reads `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the link to their documentation, by names in lower case;
 * undefined without the first two. The link alone announces nothing, because a service may send it at any time.
 */
export function deprecationOf(headers: Readonly<Record<string, string>>): Deprecation | undefined {
  const { deprecation = '', sunset = '', link = '' } = headers;
  const sunsetAt = dateOf(parseHttpDate(sunset));
  // Drafts of the RFC had `true` or an HTTP-date instead of `@1688169599`.
  const isDeprecated = !NOT_DEPRECATED.has(deprecation.trim().toLowerCase());
  if (!isDeprecated && sunsetAt === undefined) return undefined;

  const seconds = /^\s*@(-?\d{1,12})\s*(?:;|$)/.exec(deprecation)?.[1];
  const deprecatedAt = dateOf(seconds === undefined ? parseHttpDate(deprecation) : Number(seconds) * 1000);
  return { deprecatedAt, sunsetAt, link: deprecationLink(link) };
}

const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms));

const NOT_DEPRECATED: ReadonlySet<string> = new Set(['', 'false', '?0']);

/** A target, a quoted string, a separator or a word of a Link header. A quoted string may lack its end. */
const LINK_TOKEN = /<[!-;=?-~]*>|"(?:[^"\\]|\\.)*"?|[;,=]|[^\s<>",;=]+/g;

/** The target of the first link with `rel="deprecation"`, as sent. */
function deprecationLink(header: string): string | undefined {
  const tokens = Array.from(header.matchAll(LINK_TOKEN), ([token]) => token);
  let target: string | undefined;
  for (const [at, token] of tokens.entries()) {
    if (token.startsWith('<')) target = token.slice(1, -1);
    const isRelation = tokens[at - 1] === ';' && /^rel$/i.test(token) && tokens[at + 1] === '=';
    const relations = tokens[at + 2]
      ?.replace(/^"(.*)"$/, '$1')
      .toLowerCase()
      .split(' ');
    if (isRelation && relations?.includes('deprecation')) return target;
  }
  return undefined;
}
