import { createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import type { Redis } from 'ioredis';
import { COLLECTIONS, rowsKey } from '../../src/copy.ts';

/** Companies with their books. */
export class Companies {
  readonly sandboxes: ReadonlyMap<string, Sandbox>;

  constructor(options: Readonly<Record<string, SandboxOptions>>) {
    this.sandboxes = new Map(Object.entries(options).map(([tenant, each]) => [tenant, createSandbox(each)]));
  }

  get tenants(): string[] {
    return [...this.sandboxes.keys()];
  }

  of(tenant: string): Sandbox {
    const sandbox = this.sandboxes.get(tenant);
    if (sandbox === undefined) throw new Error(`no books of ${tenant}`);
    return sandbox;
  }

  readonly clientOf = (tenant: string) => createClient(this.of(tenant).clientOptions);

  /** Every record of every company, as the books have it. */
  records(): string[] {
    const lines = this.tenants.flatMap((tenant) =>
      COLLECTIONS.flatMap((collection) =>
        this.of(tenant)
          .store[collection].all()
          .map((record) => `${tenant} ${collection} ${JSON.stringify(record)}`),
      ),
    );
    return lines.sort();
  }

  /** Every record of the copy. */
  async copied(redis: Redis): Promise<string[]> {
    const pairs = this.tenants.flatMap((tenant) => COLLECTIONS.map((collection) => ({ tenant, collection })));
    const lines = await Promise.all(
      pairs.map(async ({ tenant, collection }) =>
        (await redis.hvals(rowsKey(tenant, collection))).map((record) => `${tenant} ${collection} ${record}`),
      ),
    );
    return lines.flat().sort();
  }
}
