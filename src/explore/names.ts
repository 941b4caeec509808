/** The words of a name in camel case, snake case or kebab case, in lower case. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\d]+/u)
    .filter(Boolean)
    .map((word) => word.toLowerCase());
}

/** The words of a collection's name, the last one in the singular. */
export function singular(collection: string): string[] {
  const words = wordsOf(collection);
  const last = words.at(-1) ?? '';
  const one = last.endsWith('ies') ? `${last.slice(0, -3)}y` : last.replace(/(?<=ss)es$|(?<!s)s$/, '');
  return [...words.slice(0, -1), one];
}

const words = (text: string) => new Set(text.split(' '));
const MONEY = words(
  'amount balance cost costs credit debit discount fee limit net gross price rate subtotal sum total value vat',
);
const OTHER_DECIMALS = words(
  'factor height latitude length longitude percent percentage quantity ratio score version weight width',
);

/** Whether the last word of a name stands for an amount: `salePrice`, but not `salePriceDecimals`. */
export function isNamedLikeMoney(name: string): boolean {
  return MONEY.has(wordsOf(name).at(-1) ?? '');
}

/** Whether the last word of a name stands for a decimal that is not an amount. */
export function isNamedUnlikeMoney(name: string): boolean {
  return OTHER_DECIMALS.has(wordsOf(name).at(-1) ?? '');
}
