import { BEYOND, CLIENT, covered, NOT_SHOWN, type Sections, told } from './entry.ts';
import { REFUSED_KEYS } from './names.ts';

/** What holds for every request. */
export const rules: Sections = {
  Authentication: [
    covered(
      'Every call carries the header `X-AUTH-TOKEN` with an API key (`<API_KEY>`).',
      'a call with a key in X-AUTH-TOKEN is let in',
      'the key counts in its header alone',
    ),
    told('An API key is created by a user in the settings area under API keys.', BEYOND),
    covered('A key is bound to exactly one company.', 'a key sees the data of its own company alone'),
    covered(
      'A key never has more permission than the user who created it.',
      'a key that only reads can read, and a write with it changes nothing',
    ),
    covered(
      'When the header is missing, malformed, revoked, or the key belongs to a different company, the response is 401 with error type `unauthenticated`.',
      ...REFUSED_KEYS,
      'a revoked key is 401',
      'a key of a company that is not served here is 401',
    ),
    covered('Retrying with the same key fails identically.', ...REFUSED_KEYS, 'a revoked key is 401'),
    covered(
      'A key that lacks the needed permission yields 403 (types `forbidden` or `scope_required`).',
      'a key that lacks a permission is 403',
      'create: a key that only reads gets 403',
    ),
    told('Names and meaning of scopes, and how a key is revoked: not shown.', NOT_SHOWN),
  ],
  Events: [told('Events, webhooks or notifications: not shown.', NOT_SHOWN)],
  Errors: [
    covered('Errors are problem documents.', 'every error is a JSON object with a type'),
    covered(
      'Clients match on the error type in the body, not on the status code: a 403 covers both a key lacking permission and a record that refuses the operation.',
      'a record that refuses the operation is 403',
      'a key that lacks a permission is 403',
    ),
    covered(
      '400 | The request could not be read as a request. | malformed_request',
      'create: a body that is no JSON object is 400',
      'update: a body that is no JSON object is 400',
    ),
    covered('401 | Authentication failed (see Authentication). | unauthenticated', ...REFUSED_KEYS),
    covered(
      '403 | Authenticated but not allowed. | forbidden, scope_required',
      'a key that lacks a permission is 403',
    ),
    covered(
      '404 | No such record for the company the key is bound to. | not_found',
      'is 404 not_found where there is no such record',
      'a record of another company is no such record',
    ),
    covered(
      '422 | The request was understood and its content was rejected. | validation_failed, idempotency_key_required',
      'content of the wrong type is 422',
      'without Idempotency-Key it is 422',
    ),
    covered('429 | Rate limit exceeded for this key. | rate_limited', 'over the budget: 429 rate_limited'),
    covered(
      '403 and 404 on the read-only endpoints may be returned as `application/problem+json`, `application/json` or `application/ld+json`.',
      '404 one of the three',
      '403 is one of the three media types',
    ),
    covered(
      '401 and 429 are returned as `application/problem+json`.',
      '401 is application/problem+json',
      'over the budget: 429 rate_limited',
    ),
    covered(
      '429 carries the header `Retry-After` (seconds to wait).',
      'over the budget: 429 rate_limited',
      'after Retry-After the key is let in again',
    ),
    told(
      'Member names of the error body (beyond the type) and the 404 behaviour for a record of another company: not shown.',
      NOT_SHOWN,
    ),
  ],
  Limits: [
    covered('Rate limiting applies per API key.', 'the budget is that of one key'),
    covered(
      'Every response (not only 429) carries `X-RateLimit-Limit` and `X-RateLimit-Remaining`, which report the budget.',
      'every answer to a read carries the budget',
      'every answer to a write carries the budget',
      'a 403 carries the budget',
      'each request takes one of it',
      'nothing is refused before the budget',
    ),
    covered(
      'When exceeded: 429, `rate_limited`, `Retry-After` in seconds.',
      'over the budget: 429 rate_limited',
      'over the budget every operation is 429',
    ),
    covered('Collections have no total count.', 'no list tells a total count'),
    told('Numeric rate-limit budget and window: not shown.', NOT_SHOWN),
    told('Page size and maximum request size: not shown.', NOT_SHOWN),
  ],
  Versioning: [
    covered(
      'The version is part of the path: `/api/public/v1`.',
      'the version is part of the path',
      'readable below /api/public/v1',
    ),
    told('The published interface version is 1.0.0.', BEYOND),
    told('New fields may be added at any time within a major version.', CLIENT),
    told('Clients ignore fields they do not know.', CLIENT),
    told('Removing a field or changing its type requires a new major version, announced in advance.', BEYOND),
  ],
};
