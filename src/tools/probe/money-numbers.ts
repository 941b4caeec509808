import type { FieldTable } from '../../schemas/record.ts';
import type { Row } from '../list-body.ts';
import { isNamedLikeMoney } from '../named-like-money.ts';
import { type Finding, known, unknown } from './finding.ts';

/** Fields that hold JSON numbers where an amount is due by the contract, or likely by the name. */
export function moneyAsNumbersOf(rows: readonly Row[], documented: FieldTable): Finding<readonly string[]> {
  if (rows.length === 0) return unknown('there is no record to look at');

  const suspects = new Set<string>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const due = Object.hasOwn(documented, name) ? documented[name] === 'money' : isNamedLikeMoney(name);
      if (typeof value === 'number' && due) suspects.add(name);
    }
  }
  const looked = `in ${rows.length} records, by the contract's fields and by names such as amount and price`;
  return known([...suspects].sort(), looked);
}
