import type { ResponseMeta } from './call-options.ts';
import { allowedHeaders, rateLimitOf, requestIdOf } from './headers.ts';
import { parseHttpDate } from './retry-after.ts';

/** What an answer looked like. Headers are read when somebody asks: most callers never do. */
export function responseMeta(
  response: Response,
  { attempts, waitedMs, apiKey }: { attempts: number; waitedMs: number; apiKey: string },
): ResponseMeta {
  const { status, headers } = response;
  return {
    status,
    attempts,
    waitedMs,
    rateLimit: rateLimitOf(headers),
    get headers() {
      return allowedHeaders(headers, apiKey);
    },
    get requestId() {
      return requestIdOf(headers, apiKey);
    },
  };
}

/** The service's clock when it made the answer: `Date`, less the `Age` that a cache adds. */
export function serverTimeOf({ headers }: Response): Date | undefined {
  const at = parseHttpDate(headers.get('date') ?? '');
  if (at === undefined) return undefined;

  const age = headers.get('age')?.trim() ?? '';
  return new Date(at - (/^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0));
}
