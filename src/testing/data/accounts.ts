import type { Dice } from './dice.ts';
import type { Generator } from './generator.ts';
import * as words from './words.ts';

const ascii = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();

const firmName = (dice: Dice) =>
  `${dice.pick(words.FIRM_STEMS)} ${dice.pick(words.FIRM_TRADES)} ${dice.pick(words.LEGAL_FORMS)}`;

export const personName = (dice: Dice) => `${dice.pick(words.FIRST_NAMES)} ${dice.pick(words.LAST_NAMES)}`;

const phone = (dice: Dice) => `+31 ${dice.digits(2)} ${dice.digits(3)} ${dice.digits(4)}`;

/** An account: a customer or a supplier, or both. */
export const account: Generator = (dice, { index }) => {
  const name = firmName(dice);
  return {
    accountNumber: String(10_000 + index),
    name,
    kind: dice.pick(['customer', 'customer', 'supplier', 'both']),
    email: `info@${ascii(name)}.example`,
    phone: phone(dice),
    vatNumber: `NL${dice.digits(9)}B${dice.digits(2)}`,
    currency: dice.pick(words.CURRENCIES),
    creditLimit: dice.chance(0.4) ? null : dice.money(50_000, 5_000_000),
    paymentTermDays: dice.pick([8, 14, 14, 30, 30, 60]),
    ledgerAccountCode: dice.pick(['1300', '1310', '1600']),
    isInactive: dice.chance(0.06),
  };
};

export const accountAddress: Generator = (dice, around) => {
  const [city, code, countryCode] = dice.pick(words.CITIES);
  return {
    accountId: around.parent('accounts'),
    type: dice.pick(['invoice', 'delivery', 'visit']),
    street: dice.pick(words.STREETS),
    houseNumber: `${dice.between(1, 240)}${dice.chance(0.15) ? dice.pick(['A', 'B', 'bis']) : ''}`,
    postalCode: code.replaceAll('#', () => String(dice.between(1, 9))),
    city,
    countryCode,
    isDefault: dice.chance(0.5),
  };
};

export const accountContactRelation: Generator = (dice, around) => {
  const contactName = personName(dice);
  return {
    accountId: around.parent('accounts'),
    contactName,
    role: dice.pick(words.ROLES),
    email: `${ascii(contactName)}@mail.example`,
    phone: dice.chance(0.7) ? phone(dice) : null,
    isPrimary: dice.chance(0.4),
  };
};

export const accountContactShoppingStore: Generator = (dice, around) => {
  const name = dice.pick(words.FIRM_STEMS);
  return {
    accountContactRelationId: around.parent('accountContactRelations'),
    storeName: `${name} webshop`,
    storeUrl: `https://shop.${ascii(name)}.example`,
    customerReference: `C-${dice.digits(6)}`,
    isActive: dice.chance(0.9),
  };
};

export const accountCustomerProjectRate: Generator = (dice, around) => ({
  accountId: around.parent('accounts'),
  projectCode: `P${dice.digits(5)}`,
  projectName: dice.pick(words.PROJECTS),
  hourlyRate: dice.money(6_500, 19_500),
  currency: 'EUR',
  validFrom: dice.date(2022, 2024),
  validTo: dice.chance(0.3) ? dice.date(2024, 2027) : null,
});

const SETTINGS = [
  ['invoiceLanguage', ['nl', 'en', 'de', 'fr']],
  ['invoiceDelivery', ['email', 'peppol', 'post']],
  ['reminderAfterDays', ['7', '14', '30']],
  ['priceList', ['retail', 'wholesale', 'partner']],
] as const;

export const accountSetting: Generator = (dice, around) => {
  const [key, values] = dice.pick(SETTINGS);
  return { accountId: around.parent('accounts'), key, value: dice.pick(values) };
};
