import { cents, type Dice } from './dice.ts';
import type { Generator } from './generator.ts';
import * as words from './words.ts';

/** Digits with the check digit of EAN and UPC at their end: weights 3 and 1 from the right. */
export function withCheckDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1)
    sum += Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 3 : 1);
  return digits + String((10 - (sum % 10)) % 10);
}

const millimetres = (dice: Dice, most: number) => `${dice.between(10, most)} mm`;

function naming(dice: Dice, index: number) {
  const adjective = dice.pick(words.ADJECTIVES);
  const material = dice.pick(words.MATERIALS);
  const [noun, hsnCode] = dice.pick(words.GOODS);
  const number = String(100_000 + index);
  return {
    name: `${adjective} ${material} ${noun}`,
    description: `${adjective} ${noun} made of ${material}.`,
    productNumber: `P-${number}`,
    articleCode: `${noun.slice(0, 3).toUpperCase()}-${number}`,
    ean: withCheckDigit(`87${dice.digits(10)}`),
    upcCode: withCheckDigit(dice.digits(11)),
    hsnCode,
    brand: dice.pick(words.BRANDS),
    model: `${adjective.slice(0, 2).toUpperCase()}${dice.digits(3)}`,
    type: dice.pick(['article', 'article', 'composition', 'service']),
    version: `${dice.between(1, 5)}`,
    remark: dice.chance(0.1) ? 'Check the packaging before dispatch.' : null,
    infoUrl: `https://products.example/${number}`,
    serialNumber: dice.chance(0.2) ? `SN${dice.digits(10)}` : null,
    labels: dice.chance(0.5) ? dice.pick(words.TAGS) : null,
    tags: dice.chance(0.6) ? [dice.pick(words.TAGS)] : [],
    categoryId: String(dice.between(1, 40)),
    unitId: String(dice.between(1, 6)),
  };
}

function flags(dice: Dice) {
  const isInactive = dice.chance(0.08);
  return {
    status: isInactive ? 'inactive' : 'active',
    isInactive,
    isSaleItem: dice.chance(0.9),
    isPurchaseItem: dice.chance(0.7),
    isStockItem: dice.chance(0.75),
    isCatalogItem: dice.chance(0.8),
    isWebShop: dice.chance(0.6),
    isFeaturedProduct: dice.chance(0.05),
    validFrom: dice.date(2021, 2024),
    validTo: dice.chance(0.1) ? dice.date(2025, 2027) : null,
  };
}

function selling(dice: Dice) {
  const price = dice.between(95, 250_000);
  return {
    salePrice: cents(price),
    saleRrpPrice: cents(Math.round(price * 1.2)),
    salePriceIncludesTax: dice.chance(0.3),
    salePriceDecimals: 2,
    saleTaxCode: dice.pick(['21', '21', '9', '0']),
    saleTaxStatus: dice.pick(['taxable', 'taxable', 'shipping', 'none']),
    isSaleIndividual: dice.chance(0.1),
    isShippingRequired: dice.chance(0.9),
    isShippingTaxable: dice.chance(0.9),
    saleLedgerAccountCode: dice.pick(['8000', '8010', '8100']),
    purchaseLedgerAccountCode: '7000',
    stockLedgerAccountCode: '3000',
    cogsLedgerAccountCode: '7100',
  };
}

function stock(dice: Dice) {
  return {
    stockProductType: dice.pick(['simple', 'simple', 'batch', 'serial']),
    stockQuantity: dice.between(0, 900),
    stockMinimalQuantity: dice.between(0, 50),
    stockLocation: `${dice.pick(['A', 'B', 'C'])}-${dice.between(1, 30)}-${dice.between(1, 8)}`,
    quantityDefault: 1,
    quantityBackorder: dice.chance(0.1) ? dice.between(1, 40) : 0,
    stockDescription: null,
    stockDocumentTypes: dice.chance(0.5) ? ['delivery'] : [],
  };
}

export const product: Generator = (dice, { index }) => ({
  ...naming(dice, index),
  ...flags(dice),
  ...selling(dice),
  ...stock(dice),
  color: dice.pick(words.COLORS),
  diameter: dice.chance(0.2) ? millimetres(dice, 400) : null,
  depth: millimetres(dice, 900),
  height: millimetres(dice, 2200),
  length: millimetres(dice, 2400),
  opening: dice.chance(0.1) ? millimetres(dice, 300) : null,
  width: millimetres(dice, 1800),
  volume: `${dice.between(1, 900)} l`,
  weight: `${dice.between(100, 60_000)} g`,
});
