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
  const isDeprecated = !/^\s*(?:false|\?0)?\s*$/i.test(deprecation);
  if (!isDeprecated && sunsetAt === undefined) return undefined;

  const seconds = /^\s*@(-?\d{1,12})\s*(?:;|$)/.exec(deprecation)?.[1];
  const deprecatedAt = dateOf(seconds === undefined ? parseHttpDate(deprecation) : Number(seconds) * 1000);
  return { deprecatedAt, sunsetAt, link: deprecationLink(link) };
}

const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms));

/** The target of the first link with `rel="deprecation"`, as sent. */
function deprecationLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(/<([!-;=?-~]+)>([^<]*)/g)) {
    const [, quoted, token] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    const relations = (quoted ?? token ?? '').toLowerCase().split(' ');
    if (relations.includes('deprecation')) return target;
  }
  return undefined;
}
