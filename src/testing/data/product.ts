import { cents, type SeededRandom } from './seeded-random.ts';
import * as words from './words.ts';

/** Digits with the check digit of EAN and UPC at their end: weights 3 and 1 from the right. */
function withCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1)
    sum += Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 3 : 1);
  return digits + String((10 - (sum % 10)) % 10);
}

const millimetres = (random: SeededRandom, most: number) => `${random.between(10, most)} mm`;

function naming(random: SeededRandom, index: number) {
  const adjective = random.pick(words.ADJECTIVES);
  const material = random.pick(words.MATERIALS);
  const [noun, hsnCode] = random.pick(words.GOODS);
  const number = String(100_000 + index);
  return {
    name: `${adjective} ${material} ${noun}`,
    description: `${adjective} ${noun} made of ${material}.`,
    productNumber: `P-${number}`,
    articleCode: `${noun.slice(0, 3).toUpperCase()}-${number}`,
    ean: withCheckDigit(`87${random.digits(10)}`),
    upcCode: withCheckDigit(random.digits(11)),
    hsnCode,
    brand: random.pick(words.BRANDS),
    model: `${adjective.slice(0, 2).toUpperCase()}${random.digits(3)}`,
    type: random.pick(['article', 'article', 'composition', 'service']),
    version: `${random.between(1, 5)}`,
    remark: random.chance(0.1) ? 'Check the packaging before dispatch.' : null,
    infoUrl: `https://products.example/${number}`,
    serialNumber: random.chance(0.2) ? `SN${random.digits(10)}` : null,
    labels: random.chance(0.5) ? random.pick(words.TAGS) : null,
    tags: random.chance(0.6) ? [random.pick(words.TAGS)] : [],
    categoryId: String(random.between(1, 40)),
    unitId: String(random.between(1, 6)),
  };
}

function flags(random: SeededRandom) {
  const isInactive = random.chance(0.08);
  return {
    status: isInactive ? 'inactive' : 'active',
    isInactive,
    isSaleItem: random.chance(0.9),
    isPurchaseItem: random.chance(0.7),
    isStockItem: random.chance(0.75),
    isCatalogItem: random.chance(0.8),
    isWebShop: random.chance(0.6),
    isFeaturedProduct: random.chance(0.05),
    validFrom: random.date(2021, 2024),
    validTo: random.chance(0.1) ? random.date(2025, 2027) : null,
  };
}

function selling(random: SeededRandom) {
  const price = random.between(95, 250_000);
  return {
    salePrice: cents(price),
    saleRrpPrice: cents(Math.round(price * 1.2)),
    salePriceIncludesTax: random.chance(0.3),
    salePriceDecimals: 2,
    saleTaxCode: random.pick(['21', '21', '9', '0']),
    saleTaxStatus: random.pick(['taxable', 'taxable', 'shipping', 'none']),
    isSaleIndividual: random.chance(0.1),
    isShippingRequired: random.chance(0.9),
    isShippingTaxable: random.chance(0.9),
    saleLedgerAccountCode: random.pick(['8000', '8010', '8100']),
    purchaseLedgerAccountCode: '7000',
    stockLedgerAccountCode: '3000',
    cogsLedgerAccountCode: '7100',
  };
}

/** The fields of a generated product: every documented one. */
export const product = (random: SeededRandom, { index }: { readonly index: number }) => ({
  ...naming(random, index),
  ...flags(random),
  ...selling(random),
  stockProductType: random.pick(['simple', 'simple', 'batch', 'serial']),
  stockQuantity: random.between(0, 900),
  stockMinimalQuantity: random.between(0, 50),
  stockLocation: `${random.pick(['A', 'B', 'C'])}-${random.between(1, 30)}-${random.between(1, 8)}`,
  quantityDefault: 1,
  quantityBackorder: random.chance(0.1) ? random.between(1, 40) : 0,
  stockDescription: null,
  stockDocumentTypes: random.chance(0.5) ? ['delivery'] : [],
  color: random.pick(words.COLORS),
  diameter: random.chance(0.2) ? millimetres(random, 400) : null,
  depth: millimetres(random, 900),
  height: millimetres(random, 2200),
  length: millimetres(random, 2400),
  opening: random.chance(0.1) ? millimetres(random, 300) : null,
  width: millimetres(random, 1800),
  volume: `${random.between(1, 900)} l`,
  weight: `${random.between(100, 60_000)} g`,
});
