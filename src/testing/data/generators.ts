import type { CollectionName } from '../../collections/index.ts';
import * as accounts from './accounts.ts';
import * as banking from './banking.ts';
import type { Generator } from './generator.ts';
import * as planning from './planning.ts';
import { product } from './product.ts';

/** How a collection is filled: its generator, and its share of a number of records that is spread over all. */
export interface Filling {
  readonly make: Generator;
  readonly share: number;
}

/**
 * The fields of all collections but products are the sandbox's own invention: the contract does not show them. A
 * connector must not count on them at the real service.
 */
const FILLINGS: { readonly [Name in CollectionName]?: Filling } = {
  accounts: { make: accounts.account, share: 16 },
  accountAddresses: { make: accounts.accountAddress, share: 20 },
  accountContactRelations: { make: accounts.accountContactRelation, share: 12 },
  accountContactShoppingStores: { make: accounts.accountContactShoppingStore, share: 3 },
  accountCustomerProjectRates: { make: accounts.accountCustomerProjectRate, share: 4 },
  accountSettings: { make: accounts.accountSetting, share: 8 },
  bankFeedAccounts: { make: banking.bankFeedAccount, share: 2 },
  bankFeedConnections: { make: banking.bankFeedConnection, share: 1 },
  bankPayerMemories: { make: banking.bankPayerMemory, share: 6 },
  boms: { make: planning.bom, share: 3 },
  bomLines: { make: planning.bomLine, share: 9 },
  budgets: { make: planning.budget, share: 1 },
  budgetLines: { make: planning.budgetLine, share: 6 },
  products: { make: product, share: 9 },
};

/** For a collection that the table gains and nobody has written a generator for: only `id` is sure. */
const PLAIN: Filling = { make: (_, { index }) => ({ name: `Record ${index + 1}` }), share: 2 };

export function fillingOf(collection: CollectionName): Filling {
  return FILLINGS[collection] ?? PLAIN;
}
