import { PRODUCT_SECTION } from '../suite/contract-text.ts';
import { BEYOND, CLIENT, covered, NOT_SHOWN, type Sections, TELLS, told } from './entry.ts';
import { MONEY, SEGMENTS, SET_FIELD } from './names.ts';

/** What the service is and what its records hold; the rows of the product table are held by one rule. */
export const resources: Sections = {
  '': [
    told(
      'This document covers the whole service: its purpose, resources, endpoints, authentication, errors, limits and versioning.',
      TELLS,
    ),
    told('Where a detail is not given, the words "not shown" mark the spot.', TELLS),
  ],
  'What the service does': [
    covered(
      'The service exposes the accounting data of one company as HTTP resources, so that an external connector can read it and, for products, change it.',
      'readable below /api/public/v1',
      'the answer is one product with every field, and the product is there',
    ),
    covered('Base address: `{base_url}`.', 'readable below /api/public/v1'),
    covered('All paths below start with `/api/public/v1`.', 'readable below /api/public/v1'),
    covered(
      'Requests and responses use JSON.',
      'answers are JSON',
      'text beyond ASCII arrives as it was sent',
    ),
    covered('Error bodies follow RFC 7807 (problem documents).', 'every error is a JSON object with a type'),
    covered(
      'Every request is made with an API key that is bound to one company.',
      'a key sees the data of its own company alone',
    ),
    covered(
      'All data returned or changed belongs to that company.',
      'a key sees the data of its own company alone',
      'a key changes the data of its own company alone',
    ),
    covered(
      'Collections are paginated with a cursor and carry no total count.',
      'no list tells a total count',
      'pages to an empty one hold every record once',
    ),
    covered('Money amounts are returned as decimal strings, never as JSON numbers.', MONEY),
    told(
      "The public API is separate from the `/api/v1` backend that the vendor's own applications call.",
      BEYOND,
    ),
    told('That backend is not part of this contract and comes with no stability promise.', BEYOND),
    covered(
      'Resource collections that are listed as readable: Account, AccountAddress, AccountContactRelation, AccountContactShoppingStore, AccountCustomerProjectRate, AccountSetting, BankFeedAccount, BankFeedConnection, BankPayerMemory, Bom, BomLine, Budget, BudgetLine, and Product (with write operations).',
      'readable below /api/public/v1',
      SEGMENTS,
      'products can be listed and got',
    ),
    told('Further resource collections beyond BudgetLine, if any: not shown.', NOT_SHOWN),
  ],
  'Resources and their fields › Conventions for every resource': [
    covered(
      'Identifier | Every resource has a string field `id`.',
      'every record has a string id, and can be got by it',
      SEGMENTS,
    ),
    covered(
      'Timestamps | Product carries `createdAt` and `updatedAt` (strings holding ISO 8601 timestamps). Records are filterable by modification instant through `updatedSince`.',
      'products carry createdAt and updatedAt as ISO 8601 timestamps',
      'updatedSince leaves out what was modified before',
    ),
    covered(
      'Money | A field of type money is a decimal string. The fractional part is illustrated with four digits. Clients keep it as a string or use decimal arithmetic.',
      MONEY,
      SET_FIELD,
    ),
    told(
      'Unknown fields | Clients must ignore fields they do not recognise, because new fields are added without a version change.',
      CLIENT,
    ),
    covered(
      'Server-filled fields | Fields not in a create/update field list (`id`, `createdAt`, `updatedAt`) are filled by the service and cannot be set by the client.',
      'a client cannot set what the service fills',
    ),
    told('Fields of the non-product resources listed above: not shown.', NOT_SHOWN),
  ],
  [PRODUCT_SECTION]: [
    covered(
      'The fields are identical in the create body and the update body, and the response adds `id`, `createdAt`, `updatedAt`.',
      SET_FIELD,
      'the answers to create and update add id, createdAt and updatedAt',
    ),
    told(
      'Allowed values, lengths, required fields and element types of arrays for the product fields: not shown.',
      NOT_SHOWN,
    ),
    told('The format of `id` and of the date strings `validFrom` and `validTo`: not shown.', NOT_SHOWN),
  ],
  'States and transitions': [
    covered(
      'A product has a string field `status`, and a boolean `isInactive`.',
      'a product has a string status and a boolean isInactive',
    ),
    told('The set of allowed `status` values: not shown.', NOT_SHOWN),
    told('Transitions: not shown.', NOT_SHOWN),
  ],
};
