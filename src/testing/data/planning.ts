import type { Generator } from './generator.ts';

/** A bill of materials: what a product is made of. */
export const bom: Generator = (random, context) => ({
  productId: context.parent('products'),
  name: `Bill of materials ${context.index + 1}`,
  version: `${random.between(1, 4)}.${random.between(0, 9)}`,
  quantity: random.pick([1, 1, 1, 10, 100]),
  isActive: random.chance(0.9),
});

export const bomLine: Generator = (random, context) => ({
  bomId: context.parent('boms'),
  productId: context.any('products'),
  quantity: random.between(1, 24),
  unit: random.pick(['pcs', 'pcs', 'm', 'kg']),
  unitCost: random.money(5, 45_000),
  wastePercentage: random.pick([0, 0, 2, 5]),
});

export const budget: Generator = (random, { index }) => {
  const year = 2022 + (index % 5);
  return {
    name: `${random.pick(['Operating', 'Marketing', 'Investment', 'Staff'])} budget ${year}`,
    fiscalYear: year,
    currency: 'EUR',
    status: random.pick(['draft', 'approved', 'approved', 'closed']),
    startsOn: `${year}-01-01`,
    endsOn: `${year}-12-31`,
  };
};

export const budgetLine: Generator = (random, context) => ({
  budgetId: context.parent('budgets'),
  ledgerAccountCode: `4${random.digits(3)}`,
  // The year of its budget, so that lines and budget agree.
  period: `${2022 + (context.parentIndex('budgets') % 5)}-${String((context.index % 12) + 1).padStart(2, '0')}`,
  amount: random.money(-500_000, 4_000_000),
  description: random.chance(0.5) ? random.pick(['Rent', 'Travel', 'Software', 'Training', 'Freight']) : null,
});
