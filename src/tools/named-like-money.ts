import { wordsOf } from './words.ts';

/** The last words of names under which accounts keep amounts. */
const MONEY_WORDS = new Set(
  'amount balance cost costs credit debit discount fee limit net gross price rate subtotal sum total value vat'.split(
    ' ',
  ),
);

/** The last words of names of decimals that are no amounts. */
const OTHER_WORDS = new Set(
  'factor height latitude length longitude percent percentage quantity ratio score version weight width'.split(
    ' ',
  ),
);

/** Whether a field is named like an amount: by its last word, so that `salePriceDecimals` is not. */
export function isNamedLikeMoney(name: string): boolean {
  return MONEY_WORDS.has(wordsOf(name).at(-1) ?? '');
}

/** Whether a field is named like a decimal that is no amount. */
export function isNamedUnlikeMoney(name: string): boolean {
  return OTHER_WORDS.has(wordsOf(name).at(-1) ?? '');
}
