/** Every amount in the records that the sandbox generates. */
export const MONEY_FIELDS = [
  'accounts.creditLimit',
  'accountCustomerProjectRates.hourlyRate',
  'bankFeedAccounts.balance',
  'bomLines.unitCost',
  'budgetLines.amount',
  'products.salePrice',
  'products.saleRrpPrice',
];

/** Every field in them that refers to a record of another collection. */
export const REFERENCES = {
  'accountAddresses.accountId': 'accounts',
  'accountContactRelations.accountId': 'accounts',
  'accountContactShoppingStores.accountContactRelationId': 'accountContactRelations',
  'accountCustomerProjectRates.accountId': 'accounts',
  'accountSettings.accountId': 'accounts',
  'bankFeedAccounts.bankFeedConnectionId': 'bankFeedConnections',
  'bankPayerMemories.accountId': 'accounts',
  'boms.productId': 'products',
  'bomLines.bomId': 'boms',
  'bomLines.productId': 'products',
  'budgetLines.budgetId': 'budgets',
} as const;
