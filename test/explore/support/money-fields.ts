/** Every amount in the generated records of the sandbox. */
export const MONEY_FIELDS = [
  'accounts.creditLimit',
  'accountCustomerProjectRates.hourlyRate',
  'bankFeedAccounts.balance',
  'bomLines.unitCost',
  'budgetLines.amount',
  'products.salePrice',
  'products.saleRrpPrice',
];
