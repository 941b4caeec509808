import { writeFileSync } from 'node:fs';
import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { folder, openSandbox, run } from './run.ts';

interface SetUp extends SandboxOptions {
  readonly name?: string | undefined;
  readonly existing?: readonly ProductDraft[];
}

/** A file of products, and the command that pushes it. */
export function withFile(
  text: string | Buffer,
  { name = 'products.csv', existing = [], ...service }: SetUp = {},
) {
  const { sandbox, env } = openSandbox(service);
  for (const product of existing) sandbox.store.products.insert({ ...product });
  const file = folder();
  writeFileSync(file(name), text);
  const push = (...args: string[]) => run(env, ['push', file(name), '--key', 'productNumber', ...args]);
  return { sandbox, env, file, push };
}

export const products = (sandbox: Sandbox) => sandbox.store.products.all();
