import { covered, NOT_SHOWN, type Sections, TELLS, told } from './entry.ts';
import { ONE, SEGMENTS, SET_FIELD } from './names.ts';

/** What can be asked. */
export const endpoints: Sections = {
  'Endpoints › Read-only resource endpoints': [
    covered(
      'For each path segment in the table there are two operations.',
      SEGMENTS,
      ONE,
      'cannot be written: two operations, no more',
    ),
    covered('List | GET `/api/public/v1/<segment>` | 200, body is an array of the resource', SEGMENTS),
    covered('Get one | GET `/api/public/v1/<segment>/{id}` | 200, body is the single resource', ONE),
    covered(
      'Segments: `accounts`, `account-addresses`, `account-contact-relations`, `account-contact-shopping-stores`, `account-customer-project-rates`, `account-settings`, `bank-feed-accounts`, `bank-feed-connections`, `bank-payer-memories`, `boms`, `bom-lines`, `budgets`, `budget-lines`.',
      SEGMENTS,
    ),
    covered('Path parameter for Get one: `id`, required, string.', ONE),
    told('Query parameters of every List operation (all optional):', TELLS),
    covered(
      '_page | integer, default 1 | Page number of the collection.',
      '_page is the page number, from 1',
      'pages to an empty one hold every record once',
    ),
    covered('id[between] | string | Filter on `id`, range between two bounds.', 'id[between] is a range'),
    covered(
      'id[gt] | string | `id` greater than the value.',
      'id[gt] is greater',
      'each id filter works on its own',
      'id filters hold on every page',
    ),
    covered(
      'id[gte] | string | `id` greater than or equal.',
      'id[gte] is greater',
      'each id filter works on its own',
    ),
    covered('id[lt] | string | `id` less than.', 'id[lt] is less', 'each id filter works on its own'),
    covered(
      'id[lte] | string | `id` less than or equal.',
      'id[lte] is less',
      'each id filter works on its own',
    ),
    covered(
      'updatedSince | string, date-time (ISO 8601 date or timestamp) | Return only records modified at or after this instant. The bound is inclusive, so a record written in the same second as the last one seen is returned again; the client should write its side as an upsert. Can be combined with the cursor for incremental sync.',
      'updatedSince takes a date and a timestamp',
      'updatedSince is an instant',
      'updatedSince leaves out what was modified before',
      'updatedSince includes the instant itself',
      'updatedSince combines with pages and id filters',
    ),
    told(
      'Cursor parameter and the cursor field in list responses, and how `_page` relates to the cursor: not shown.',
      NOT_SHOWN,
    ),
    covered(
      'Possible failures on each of these operations: 401, 403, 429; Get one also 404 (see Errors).',
      'without a key is 401, as a list',
      'with a key without permission is 403, as a list',
      'is 404 not_found where there is no such record',
      'over the budget every operation is 429',
    ),
  ],
  'Endpoints › Products': [
    covered('List products | GET `/api/public/v1/products`', 'products can be listed and got'),
    covered(
      'Get one product | GET `/api/public/v1/products/{id}`',
      'products can be listed and got',
      'a product that does not exist is 404 not_found',
    ),
    covered(
      'Create a product | POST `/api/public/v1/products`',
      'the answer is one product with every field, and the product is there',
    ),
    covered(
      'Update a product | PATCH `/api/public/v1/products/{id}`',
      'an update changes one product and no other',
    ),
    covered(
      'Delete a product | DELETE `/api/public/v1/products/{id}`',
      'a deleted product is gone',
      'a delete takes one product and no other',
      'or with one that may not, takes nothing',
    ),
    told(
      'Query parameters, response body and success status of listing and getting one product: not shown.',
      NOT_SHOWN,
    ),
    told('Request and response details and status code of deleting a product: not shown.', NOT_SHOWN),
  ],
  'Endpoints › Products › Create a product': [
    covered(
      'Headers: `X-AUTH-TOKEN` (required), `Content-Type: application/json` (required), `Idempotency-Key` (a value unique to each logical request).',
      'create: without a valid key it is 401',
      'create: a Content-Type other than application/json',
      'two Idempotency-Keys create two records',
    ),
    covered(
      'Body: JSON object with any of the product fields in the table above (server-filled fields excluded).',
      SET_FIELD,
      'a client cannot set what the service fills',
      'text beyond ASCII arrives as it was sent',
    ),
    covered(
      'Purpose of `Idempotency-Key`: a retry after a lost answer must not create a second record.',
      'a repeat with the same Idempotency-Key',
      'many at once with the same Idempotency-Key',
    ),
    covered(
      'When the header is missing, the error type `idempotency_key_required` (HTTP 422) applies.',
      'without Idempotency-Key it is 422',
    ),
    covered(
      'Response: one product, containing every product field including `id`, `createdAt`, `updatedAt`.',
      'the answer is one product with every field, and the product is there',
      'the answers to create and update add',
    ),
    covered(
      'Failures: 400, 401, 403, 422, 429.',
      'create: a body that is no JSON object is 400',
      'create: without a valid key it is 401',
      'create: a key that only reads gets 403',
      'create: content of the wrong type is 422',
      'create: over the budget it is 429',
      'what is refused leaves no record',
    ),
    told(
      'Success status code and the behaviour when the same `Idempotency-Key` is re-sent: not shown.',
      NOT_SHOWN,
    ),
  ],
  'Endpoints › Products › Update a product': [
    covered(
      'Headers: `X-AUTH-TOKEN` (required), `Content-Type: application/json` (required).',
      'update: without a valid key it is 401',
      'update: a Content-Type other than application/json',
    ),
    covered('Path parameter: `id`, required, string.', 'an update changes one product and no other'),
    covered(
      'Body: JSON object with only the fields to change.',
      SET_FIELD,
      'updatedAt tells the change, createdAt stays',
    ),
    covered('A field left out keeps its value.', 'a field left out keeps its value'),
    covered(
      'A field sent as `null` is cleared.',
      'a field sent as null is cleared',
      'a text sent as null is cleared',
    ),
    covered('Response: one product with all fields.', 'the answer is one product with all fields'),
    covered(
      'Failures: 400, 401, 403, 404, 422, 429.',
      'update: a body that is no JSON object is 400',
      'update: without a valid key it is 401',
      'update: a key that only reads gets 403',
      'Update a product: a product that does not exist is 404',
      'update: content of the wrong type is 422',
      'update: over the budget it is 429',
      'what is refused changes nothing',
    ),
    told('Success status code: not shown.', NOT_SHOWN),
  ],
};
