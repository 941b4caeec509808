import { type CollectionName, collections } from '../../collections/index.ts';
import type { Fields } from '../fixtures.ts';
import { fieldValue } from './field-value.ts';
import { product } from './product.ts';
import type { SeededRandom } from './seeded-random.ts';
import * as words from './words.ts';

/** The place of a generated record among the others. */
interface RecordContext {
  /** Its place in its collection, from 0. */
  readonly index: number;
  /**
   * The id of the record of another collection that this one belongs to; null if that collection is empty. Neighbours
   * share a parent, so that the lines of a bill of materials follow each other.
   */
  parent(collection: CollectionName): string | null;
  /** The place of that parent. */
  parentIndex(collection: CollectionName): number;
  /** The id of any record of a collection; null if it is empty. */
  any(collection: CollectionName): string | null;
}

/** How the records of a collection are generated. */
export interface Generator {
  /** Of a number of records that is spread over all collections. */
  readonly share: number;
  /** The text that the cases of `connectorTests` change. @default 'name' */
  readonly label?: string;
  /** The fields of a record. They depend on the random numbers and the context alone. */
  readonly fields: (random: SeededRandom, context: RecordContext) => Fields;
}

/** For a collection without a generator: its documented fields alone, or two that are not documented. */
const anyRecord = (isDocumented: boolean): Generator => ({
  share: 2,
  fields: (random, { index }) =>
    isDocumented ? {} : { name: `Record ${index + 1}`, code: random.digits(6) },
});

/**
 * The fields of all collections but products are the sandbox's own invention, because the specification does not name
 * them: a connector must not rely on them.
 */
const GENERATORS: { readonly [Name in CollectionName]?: Generator } = {
  accounts: {
    share: 16,
    fields(random, { index }) {
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
    },
  },
  accountAddresses: {
    share: 20,
    label: 'street',
    fields(random, context) {
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
    },
  },
  accountContactRelations: {
    share: 12,
    label: 'contactName',
    fields(random, context) {
      const contactName = personName(random);
      return {
        accountId: context.parent('accounts'),
        contactName,
        role: random.pick(words.ROLES),
        email: `${ascii(contactName)}@mail.example`,
        phone: random.chance(0.7) ? phone(random) : null,
        isPrimary: random.chance(0.4),
      };
    },
  },
  accountContactShoppingStores: {
    share: 3,
    label: 'storeName',
    fields(random, context) {
      const name = random.pick(words.FIRM_STEMS);
      return {
        accountContactRelationId: context.parent('accountContactRelations'),
        storeName: `${name} webshop`,
        storeUrl: `https://shop.${ascii(name)}.example`,
        customerReference: `C-${random.digits(6)}`,
        isActive: random.chance(0.9),
      };
    },
  },
  accountCustomerProjectRates: {
    share: 4,
    label: 'projectName',
    fields: (random, context) => ({
      accountId: context.parent('accounts'),
      projectCode: `P${random.digits(5)}`,
      projectName: random.pick(words.PROJECTS),
      hourlyRate: random.money(6_500, 19_500),
      currency: 'EUR',
      validFrom: random.date(2022, 2024),
      validTo: random.chance(0.3) ? random.date(2024, 2027) : null,
    }),
  },
  accountSettings: {
    share: 8,
    label: 'value',
    fields(random, context) {
      const [key, values] = random.pick(words.SETTINGS);
      return { accountId: context.parent('accounts'), key, value: random.pick(values) };
    },
  },
  bankFeedAccounts: {
    share: 2,
    label: 'holderName',
    fields: (random, context) => ({
      bankFeedConnectionId: context.parent('bankFeedConnections'),
      iban: iban(random, random.pick(words.BANKS)[1]),
      holderName: personName(random),
      currency: random.pick(words.CURRENCIES),
      balance: random.money(-250_000, 12_500_000),
      ledgerAccountCode: `11${random.digits(2)}`,
      isActive: random.chance(0.95),
    }),
  },
  bankFeedConnections: {
    share: 1,
    label: 'bankName',
    fields(random) {
      const [bankName, code] = random.pick(words.BANKS);
      return {
        bankName,
        bic: `${code}NL2U`,
        status: random.chance(0.9) ? 'active' : 'consent_expired',
        consentValidTo: random.date(2025, 2027),
      };
    },
  },
  bankPayerMemories: {
    share: 6,
    label: 'payerName',
    fields: (random, context) => ({
      payerName: personName(random).toUpperCase(),
      payerIban: iban(random, random.pick(words.BANKS)[1]),
      accountId: context.parent('accounts'),
      ledgerAccountCode: random.pick(['1300', '1600', '4000', '8000']),
      timesMatched: random.between(1, 60),
    }),
  },
  /** Bills of materials: what a product is made of. */
  boms: {
    share: 3,
    fields: (random, context) => ({
      productId: context.parent('products'),
      name: `Bill of materials ${context.index + 1}`,
      version: `${random.between(1, 4)}.${random.between(0, 9)}`,
      quantity: random.pick([1, 1, 1, 10, 100]),
      isActive: random.chance(0.9),
    }),
  },
  bomLines: {
    share: 9,
    label: 'unit',
    fields: (random, context) => ({
      bomId: context.parent('boms'),
      productId: context.any('products'),
      quantity: random.between(1, 24),
      unit: random.pick(['pcs', 'pcs', 'm', 'kg']),
      unitCost: random.money(5, 45_000),
      wastePercentage: random.pick([0, 0, 2, 5]),
    }),
  },
  budgets: {
    share: 1,
    fields(random, { index }) {
      const year = yearOfBudget(index);
      return {
        name: `${random.pick(['Operating', 'Marketing', 'Investment', 'Staff'])} budget ${year}`,
        fiscalYear: year,
        currency: 'EUR',
        status: random.pick(['draft', 'approved', 'approved', 'closed']),
        startsOn: `${year}-01-01`,
        endsOn: `${year}-12-31`,
      };
    },
  },
  budgetLines: {
    share: 6,
    label: 'description',
    fields: (random, context) => ({
      budgetId: context.parent('budgets'),
      ledgerAccountCode: `4${random.digits(3)}`,
      period: `${yearOfBudget(context.parentIndex('budgets'))}-${String((context.index % 12) + 1).padStart(2, '0')}`,
      amount: random.money(-500_000, 4_000_000),
      description: random.chance(0.5) ? random.pick(words.BUDGET_POSTS) : null,
    }),
  },
  products: { share: 9, fields: product },
};

/** The text of a record that the cases of `connectorTests` change. */
export function labelOf(collection: CollectionName): string {
  return GENERATORS[collection]?.label ?? 'name';
}

/** The generator of a collection. A documented field for which it has no value gets one of its kind. */
export function generatorOf(collection: CollectionName): Generator {
  const definition = collections[collection];
  const kinds = Object.entries(definition.fields).filter(([name]) => !definition.serverFilled.includes(name));
  const { share, fields } = GENERATORS[collection] ?? anyRecord(kinds.length > 0);
  return {
    share,
    fields(random, context) {
      const generated = fields(random, context);
      const missing = kinds.filter(([name]) => !Object.hasOwn(generated, name));
      return {
        ...generated,
        ...Object.fromEntries(missing.map(([name, kind]) => [name, fieldValue(kind, random)])),
      };
    },
  };
}

const ascii = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase();

const firmName = (random: SeededRandom) =>
  `${random.pick(words.FIRM_STEMS)} ${random.pick(words.FIRM_TRADES)} ${random.pick(words.LEGAL_FORMS)}`;

const personName = (random: SeededRandom) =>
  `${random.pick(words.FIRST_NAMES)} ${random.pick(words.LAST_NAMES)}`;

const phone = (random: SeededRandom) => `+31 ${random.digits(2)} ${random.digits(3)} ${random.digits(4)}`;

const yearOfBudget = (index: number) => 2022 + (index % 5);

/** A Dutch IBAN whose check digits are right: connectors check them. */
function iban(random: SeededRandom, bankCode: string): string {
  const account = `0${random.digits(9)}`;
  const letters = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = 98n - (BigInt(letters(`${bankCode}${account}NL00`)) % 97n);
  return `NL${String(check).padStart(2, '0')}${bankCode}${account}`;
}
