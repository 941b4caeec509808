import type { FieldTable } from '../schemas/record.ts';
import { accountAddresses } from './account-addresses.ts';
import { accountContactRelations } from './account-contact-relations.ts';
import { accountContactShoppingStores } from './account-contact-shopping-stores.ts';
import { accountCustomerProjectRates } from './account-customer-project-rates.ts';
import { accountSettings } from './account-settings.ts';
import { accounts } from './accounts.ts';
import { bankFeedAccounts } from './bank-feed-accounts.ts';
import { bankFeedConnections } from './bank-feed-connections.ts';
import { bankPayerMemories } from './bank-payer-memories.ts';
import { bomLines } from './bom-lines.ts';
import { boms } from './boms.ts';
import { budgetLines } from './budget-lines.ts';
import { budgets } from './budgets.ts';
import { products } from './products.ts';

/** Every collection of the service. The client, the sandbox and the contract tests read this table. */
export const collections = {
  /** Accounts of the company. Read-only. */
  accounts,
  /** Addresses of accounts. Read-only. */
  accountAddresses,
  /** Links between accounts and contacts. Read-only. */
  accountContactRelations,
  /** Links between contacts of accounts and shopping stores. Read-only. */
  accountContactShoppingStores,
  /** Rates agreed with customers for projects. Read-only. */
  accountCustomerProjectRates,
  /** Settings of accounts. Read-only. */
  accountSettings,
  /** Bank accounts with a bank feed. Read-only. */
  bankFeedAccounts,
  /** Connections to banks. Read-only. */
  bankFeedConnections,
  /** What the service remembers of payers on bank statements. Read-only. */
  bankPayerMemories,
  /** Bills of materials. Read-only. */
  boms,
  /** Lines of bills of materials. Read-only. */
  bomLines,
  /** Budgets. Read-only. */
  budgets,
  /** Lines of budgets. Read-only. */
  budgetLines,
  /** Products, the only collection with write methods. */
  products,
} as const;

/** The name of a collection, as the client's property. */
export type CollectionName = keyof typeof collections;

/** The name of every collection, in the order of the API documentation; products last. */
export const collectionNames = Object.keys(collections) as readonly CollectionName[];

/** The documented fields of a collection beside `id`, by kind. A collection that this version does not know has none. */
export function documentedFields(collection: string): FieldTable {
  return Object.hasOwn(collections, collection) ? collections[collection as CollectionName].fields : {};
}
