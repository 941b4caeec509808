import { personName } from './accounts.ts';
import type { Dice } from './dice.ts';
import type { Generator } from './generator.ts';
import * as words from './words.ts';

/** A Dutch IBAN whose check digits are right: connectors check them. */
export function iban(dice: Dice, bankCode: string): string {
  const account = `0${dice.digits(9)}`;
  const letters = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = 98n - (BigInt(letters(`${bankCode}${account}NL00`)) % 97n);
  return `NL${String(check).padStart(2, '0')}${bankCode}${account}`;
}

export const bankFeedConnection: Generator = (dice) => {
  const [bankName, code] = dice.pick(words.BANKS);
  return {
    bankName,
    bic: `${code}NL2U`,
    status: dice.chance(0.9) ? 'active' : 'consent_expired',
    consentValidTo: dice.date(2025, 2027),
  };
};

export const bankFeedAccount: Generator = (dice, around) => ({
  bankFeedConnectionId: around.parent('bankFeedConnections'),
  iban: iban(dice, dice.pick(words.BANKS)[1]),
  holderName: personName(dice),
  currency: dice.pick(words.CURRENCIES),
  balance: dice.money(-250_000, 12_500_000),
  ledgerAccountCode: `11${dice.digits(2)}`,
  isActive: dice.chance(0.95),
});

export const bankPayerMemory: Generator = (dice, around) => ({
  payerName: personName(dice).toUpperCase(),
  payerIban: iban(dice, dice.pick(words.BANKS)[1]),
  accountId: around.parent('accounts'),
  ledgerAccountCode: dice.pick(['1300', '1600', '4000', '8000']),
  timesMatched: dice.between(1, 60),
});
