import { personName } from './accounts.ts';
import type { Generator } from './generator.ts';
import type { SeededRandom } from './seeded-random.ts';
import * as words from './words.ts';

/** A Dutch IBAN whose check digits are right: connectors check them. */
export function iban(random: SeededRandom, bankCode: string): string {
  const account = `0${random.digits(9)}`;
  const letters = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = 98n - (BigInt(letters(`${bankCode}${account}NL00`)) % 97n);
  return `NL${String(check).padStart(2, '0')}${bankCode}${account}`;
}

export const bankFeedConnection: Generator = (random) => {
  const [bankName, code] = random.pick(words.BANKS);
  return {
    bankName,
    bic: `${code}NL2U`,
    status: random.chance(0.9) ? 'active' : 'consent_expired',
    consentValidTo: random.date(2025, 2027),
  };
};

export const bankFeedAccount: Generator = (random, context) => ({
  bankFeedConnectionId: context.parent('bankFeedConnections'),
  iban: iban(random, random.pick(words.BANKS)[1]),
  holderName: personName(random),
  currency: random.pick(words.CURRENCIES),
  balance: random.money(-250_000, 12_500_000),
  ledgerAccountCode: `11${random.digits(2)}`,
  isActive: random.chance(0.95),
});

export const bankPayerMemory: Generator = (random, context) => ({
  payerName: personName(random).toUpperCase(),
  payerIban: iban(random, random.pick(words.BANKS)[1]),
  accountId: context.parent('accounts'),
  ledgerAccountCode: random.pick(['1300', '1600', '4000', '8000']),
  timesMatched: random.between(1, 60),
});
