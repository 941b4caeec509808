import type { Generator } from './generator.ts';

/** A bill of materials: what a product is made of. */
export const bom: Generator = (dice, around) => ({
  productId: around.parent('products'),
  name: `Bill of materials ${around.index + 1}`,
  version: `${dice.between(1, 4)}.${dice.between(0, 9)}`,
  quantity: dice.pick([1, 1, 1, 10, 100]),
  isActive: dice.chance(0.9),
});

export const bomLine: Generator = (dice, around) => ({
  bomId: around.parent('boms'),
  productId: around.any('products', dice),
  quantity: dice.between(1, 24),
  unit: dice.pick(['pcs', 'pcs', 'm', 'kg']),
  unitCost: dice.money(5, 45_000),
  wastePercentage: dice.pick([0, 0, 2, 5]),
});

export const budget: Generator = (dice, { index }) => {
  const year = 2022 + (index % 5);
  return {
    name: `${dice.pick(['Operating', 'Marketing', 'Investment', 'Staff'])} budget ${year}`,
    fiscalYear: year,
    currency: 'EUR',
    status: dice.pick(['draft', 'approved', 'approved', 'closed']),
    startsOn: `${year}-01-01`,
    endsOn: `${year}-12-31`,
  };
};

export const budgetLine: Generator = (dice, around) => ({
  budgetId: around.parent('budgets'),
  ledgerAccountCode: `4${dice.digits(3)}`,
  // The year of its budget, so that lines and budget agree.
  period: `${2022 + (around.parentIndex('budgets') % 5)}-${String((around.index % 12) + 1).padStart(2, '0')}`,
  amount: dice.money(-500_000, 4_000_000),
  description: dice.chance(0.5) ? dice.pick(['Rent', 'Travel', 'Software', 'Training', 'Freight']) : null,
});
