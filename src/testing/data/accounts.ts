import type { Generator } from './generator.ts';
import type { SeededRandom } from './seeded-random.ts';
import * as words from './words.ts';

const ascii = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();

const firmName = (random: SeededRandom) =>
  `${random.pick(words.FIRM_STEMS)} ${random.pick(words.FIRM_TRADES)} ${random.pick(words.LEGAL_FORMS)}`;

export const personName = (random: SeededRandom) =>
  `${random.pick(words.FIRST_NAMES)} ${random.pick(words.LAST_NAMES)}`;

const phone = (random: SeededRandom) => `+31 ${random.digits(2)} ${random.digits(3)} ${random.digits(4)}`;

/** An account: a customer or a supplier, or both. */
export const account: Generator = (random, { index }) => {
  const name = firmName(random);
  return {
    accountNumber: String(10_000 + index),
    name,
    kind: random.pick(['customer', 'customer', 'supplier', 'both']),
    email: `info@${ascii(name)}.example`,
    phone: phone(random),
    vatNumber: `NL${random.digits(9)}B${random.digits(2)}`,
    currency: random.pick(words.CURRENCIES),
    creditLimit: random.chance(0.4) ? null : random.money(50_000, 5_000_000),
    paymentTermDays: random.pick([8, 14, 14, 30, 30, 60]),
    ledgerAccountCode: random.pick(['1300', '1310', '1600']),
    isInactive: random.chance(0.06),
  };
};

export const accountAddress: Generator = (random, context) => {
  const [city, code, countryCode] = random.pick(words.CITIES);
  return {
    accountId: context.parent('accounts'),
    type: random.pick(['invoice', 'delivery', 'visit']),
    street: random.pick(words.STREETS),
    houseNumber: `${random.between(1, 240)}${random.chance(0.15) ? random.pick(['A', 'B', 'bis']) : ''}`,
    postalCode: code.replaceAll('#', () => String(random.between(1, 9))),
    city,
    countryCode,
    isDefault: random.chance(0.5),
  };
};

export const accountContactRelation: Generator = (random, context) => {
  const contactName = personName(random);
  return {
    accountId: context.parent('accounts'),
    contactName,
    role: random.pick(words.ROLES),
    email: `${ascii(contactName)}@mail.example`,
    phone: random.chance(0.7) ? phone(random) : null,
    isPrimary: random.chance(0.4),
  };
};

export const accountContactShoppingStore: Generator = (random, context) => {
  const name = random.pick(words.FIRM_STEMS);
  return {
    accountContactRelationId: context.parent('accountContactRelations'),
    storeName: `${name} webshop`,
    storeUrl: `https://shop.${ascii(name)}.example`,
    customerReference: `C-${random.digits(6)}`,
    isActive: random.chance(0.9),
  };
};

export const accountCustomerProjectRate: Generator = (random, context) => ({
  accountId: context.parent('accounts'),
  projectCode: `P${random.digits(5)}`,
  projectName: random.pick(words.PROJECTS),
  hourlyRate: random.money(6_500, 19_500),
  currency: 'EUR',
  validFrom: random.date(2022, 2024),
  validTo: random.chance(0.3) ? random.date(2024, 2027) : null,
});

const SETTINGS = [
  ['invoiceLanguage', ['nl', 'en', 'de', 'fr']],
  ['invoiceDelivery', ['email', 'peppol', 'post']],
  ['reminderAfterDays', ['7', '14', '30']],
  ['priceList', ['retail', 'wholesale', 'partner']],
] as const;

export const accountSetting: Generator = (random, context) => {
  const [key, values] = random.pick(SETTINGS);
  return { accountId: context.parent('accounts'), key, value: random.pick(values) };
};
