import { readFileSync } from 'node:fs';
import { type Statement, statementsOf } from './statements.ts';

/** Everything that the contract states. */
export const statements: readonly Statement[] = statementsOf(
  readFileSync(new URL('../contract.md', import.meta.url), 'utf8'),
);

const inSection = (section: string) => statements.filter((statement) => statement.section === section);

export const PRODUCT_SECTION = 'Resources and their fields › Product';

/** A field of a product, as the contract's table has it. */
export interface ProductField {
  readonly name: string;
  readonly type: 'string' | 'array' | 'boolean' | 'integer' | 'number' | 'money';
  readonly responseOnly: boolean;
}

/** The table of product fields. */
export const productFields: readonly ProductField[] = inSection(PRODUCT_SECTION)
  .map(({ text }) => text.split(' | '))
  .filter((row) => row.length === 2)
  .map(([name = '', type = '']) => ({
    name,
    type: (type.includes('money') ? 'money' : type.split(' ', 1)[0]) as ProductField['type'],
    responseOnly: type.includes('response only'),
  }));

/** The path segments that can only be read. */
export const readOnlySegments: readonly string[] = inSection('Endpoints › Read-only resource endpoints')
  .filter(({ text }) => text.startsWith('Segments: '))
  .flatMap(({ text }) => [...text.matchAll(/`([a-z-]+)`/g)].map(([, segment = '']) => segment));

export const allSegments: readonly string[] = [...readOnlySegments, 'products'];
